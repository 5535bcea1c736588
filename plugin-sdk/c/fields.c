// Declarations: what they expect, what is wrong with a value, and the manifest with its JSON Schemas.
#include "internal.h"

#include <string.h>

// Bytes of a value that a message shows.
enum { MAX_SHOWN = 60 };

const char *phasm_field_name(const phasm_field *field) { return field->as == NULL ? field->name : field->as; }

static phasm_type type_of_member(phasm_member member) {
  static const phasm_type types[] = {
      [PHASM_MEMBER_NONE] = PHASM_ANY,       [PHASM_MEMBER_STRING] = PHASM_STRING, [PHASM_MEMBER_TEXT] = PHASM_STRING,
      [PHASM_MEMBER_INTEGER] = PHASM_INTEGER, [PHASM_MEMBER_NUMBER] = PHASM_NUMBER, [PHASM_MEMBER_BOOLEAN] = PHASM_BOOLEAN,
      [PHASM_MEMBER_JSON] = PHASM_ANY,
  };
  return types[member];
}

phasm_type phasm_field_type(const phasm_field *field) {
  return field->type == PHASM_ANY ? type_of_member(field->member) : field->type;
}

static const char *type_words(phasm_type type) {
  static const char *const words[] = {
      [PHASM_ANY] = "a value",     [PHASM_NULL] = "null",       [PHASM_BOOLEAN] = "a boolean", [PHASM_INTEGER] = "an integer",
      [PHASM_NUMBER] = "a number", [PHASM_STRING] = "a string", [PHASM_LIST] = "a list",       [PHASM_OBJECT] = "an object",
  };
  return words[type];
}

const char *phasm_expected(const phasm_field *field) {
  const char *words = type_words(phasm_field_type(field));
  if (field->choices != NULL) {
    phasm_buffer choices = {0};
    for (size_t at = 0; field->choices[at] != NULL; at++) {
      const char *before = at == 0 ? "" : field->choices[at + 1] == NULL ? " or " : ", ";
      phasm_append(&choices, "%s`%s`", before, field->choices[at]);
    }
    return phasm_string(&choices);
  }
  if (field->minimum != NULL && field->maximum != NULL)
    return phasm_format("%s from %s to %s", words, field->minimum, field->maximum);
  if (field->minimum != NULL)
    return phasm_format("%s from %s on", words, field->minimum);
  return field->maximum == NULL ? words : phasm_format("%s up to %s", words, field->maximum);
}

// A value in a message: its type and, if that is short, itself.
static const char *shown(const phasm_json *value) {
  const char *error;
  if (value->type == PHASM_NULL || value->type == PHASM_LIST || value->type == PHASM_OBJECT)
    return type_words(value->type);
  phasm_text text = phasm_json_write(value, &error);
  size_t size = 0;
  while (size < text.size && size < MAX_SHOWN)
    size += phasm_utf8(text.data + size, text.size - size);
  const char *more = size < text.size ? "…" : "";
  if (value->type == PHASM_STRING)
    return phasm_format("string %.*s%s", (int)size, text.data, more);
  const char *type = value->type == PHASM_BOOLEAN ? "boolean" : value->type == PHASM_INTEGER ? "integer" : "floating point";
  return phasm_format("%s `%.*s%s`", type, (int)size, text.data, more);
}

static void refuse(phasm_buffer *wrong, const char *path, const char *expected, const phasm_json *value) {
  phasm_append(wrong, "%s%s`: expected %s, got %s", wrong->size == 0 ? "" : "; ", path, expected, shown(value));
}

static bool is_of(phasm_type type, const phasm_json *value) {
  return type == PHASM_ANY || type == value->type || (type == PHASM_NUMBER && value->type == PHASM_INTEGER);
}

// Compares two numbers: negative if the first is lower. Integers are compared as such.
static int compare(const phasm_json *first, const phasm_json *second) {
  int64_t a, b;
  if (phasm_json_integer(first, &a) && phasm_json_integer(second, &b))
    return (a > b) - (a < b);
  double x = 0, y = 0;
  phasm_json_number(first, &x);
  phasm_json_number(second, &y);
  return (x > y) - (x < y);
}

// A bound; one that is no JSON is none, and the manifest says so.
static const phasm_json *limit_of(const char *json) {
  return json == NULL ? NULL : phasm_json_parse(json, strlen(json), NULL);
}

static bool is_within(const phasm_field *field, const phasm_json *value) {
  const phasm_json *minimum = limit_of(field->minimum), *maximum = limit_of(field->maximum);
  return (minimum == NULL || compare(value, minimum) >= 0) && (maximum == NULL || compare(value, maximum) <= 0);
}

static bool is_choice(const phasm_field *field, const phasm_json *value) {
  for (size_t at = 0; field->choices != NULL && field->choices[at] != NULL; at++)
    if (strlen(field->choices[at]) == value->text.size && memcmp(field->choices[at], value->text.data, value->text.size) == 0)
      return true;
  return field->choices == NULL;
}

static void check_items(const phasm_field *field, const phasm_json *value, const char *path, phasm_buffer *wrong) {
  const phasm_field each = {.type = field->items};
  size_t at = 0;
  if (field->items == PHASM_ANY)
    return;
  for (const phasm_json *item = value->first; at < value->size; item = item->next, at++) {
    const char *inside = value->type == PHASM_LIST ? phasm_format("%s[%zu]", path, at)
                                                   : phasm_format("%s.%s", path, item->name.data);
    phasm_check(&each, item, inside, wrong);
  }
}

void phasm_check(const phasm_field *field, const phasm_json *value, const char *path, phasm_buffer *wrong) {
  phasm_type type = phasm_field_type(field);
  int64_t integer;
  double number;
  if (!is_of(type, value) || (type == PHASM_STRING && !is_choice(field, value)))
    refuse(wrong, path, phasm_expected(field), value);
  else if (type == PHASM_INTEGER && !phasm_json_integer(value, &integer))
    refuse(wrong, path, "an integer of 64 bits", value);
  else if (type == PHASM_NUMBER && !phasm_json_number(value, &number))
    refuse(wrong, path, "a number that a double keeps", value);
  else if ((type == PHASM_INTEGER || type == PHASM_NUMBER) && !is_within(field, value))
    refuse(wrong, path, phasm_expected(field), value);
  else if (field->member == PHASM_MEMBER_STRING && phasm_json_string(value) == NULL)
    refuse(wrong, path, "a string without U+0000", value);
  else if (type == PHASM_LIST || type == PHASM_OBJECT)
    check_items(field, value, path, wrong);
}

const char *phasm_names(const phasm_field *fields, size_t size) {
  phasm_buffer names = {0};
  for (size_t at = 0; at < size; at++)
    phasm_append(&names, "%s`%s`", at == 0 ? "" : ", ", phasm_field_name(&fields[at]));
  return size == 0 ? "none" : phasm_string(&names);
}

static const char *schema_type(phasm_type type) {
  static const char *const names[] = {
      [PHASM_NULL] = "null",     [PHASM_BOOLEAN] = "boolean", [PHASM_INTEGER] = "integer", [PHASM_NUMBER] = "number",
      [PHASM_STRING] = "string", [PHASM_LIST] = "array",      [PHASM_OBJECT] = "object",
  };
  return names[type];
}

static phasm_json *schema_of_type(phasm_type type, bool may_be_null) {
  phasm_json *schema = phasm_json_object(), *types = phasm_json_list();
  if (type == PHASM_ANY)
    return schema;
  phasm_json_add(types, phasm_json_of_string(schema_type(type)));
  phasm_json_add(types, phasm_json_of_string("null"));
  phasm_json_set(schema, "type", may_be_null ? types : types->first);
  return schema;
}

// Errors of the declarations.
typedef struct {
  phasm_buffer all;
} errors;

static void note(errors *found, const char *name, const char *why) {
  phasm_append(&found->all, "%s`%s`: %s", found->all.size == 0 ? "" : "; ", name, why);
}

// Adds a bound to a schema.
static void bound(phasm_json *schema, const phasm_field *field, const char *key, const char *json, errors *found) {
  if (json == NULL)
    return;
  const phasm_json *value = phasm_json_parse(json, strlen(json), NULL);
  phasm_type type = phasm_field_type(field);
  if (value == NULL || !is_of(PHASM_NUMBER, value) || (type != PHASM_INTEGER && type != PHASM_NUMBER))
    note(found, phasm_field_name(field), phasm_format("%s: expected a number, of an integer or a number", key));
  else
    phasm_json_set(schema, key, value);
}

static void set_default(phasm_json *schema, const phasm_field *field, errors *found) {
  const char *error;
  phasm_buffer wrong = {0};
  if (field->fallback == NULL)
    return;
  const phasm_json *value = phasm_json_parse(field->fallback, strlen(field->fallback), &error);
  if (value == NULL) {
    note(found, phasm_field_name(field), phasm_format("the default is no JSON: %s", error));
    return;
  }
  phasm_check(field, value, phasm_format("default of `%s", phasm_field_name(field)), &wrong);
  if (wrong.size > 0)
    phasm_append(&found->all, "%s%s", found->all.size == 0 ? "" : "; ", wrong.data);
  phasm_json_set(schema, "default", value);
}

static phasm_json *schema_of(const phasm_field *field, bool is_input, errors *found) {
  phasm_type type = phasm_field_type(field), held = type_of_member(field->member);
  bool may_be_null = is_input && field->optional;
  phasm_json *schema = schema_of_type(type, may_be_null);
  if (held != PHASM_ANY && held != type)
    note(found, phasm_field_name(field), phasm_format("%s does not fit the member of the struct", type_words(type)));
  if (field->choices != NULL) {
    phasm_json *choices = phasm_json_list();
    for (size_t at = 0; field->choices[at] != NULL; at++)
      phasm_json_add(choices, phasm_json_of_string(field->choices[at]));
    if (may_be_null)
      phasm_json_add(choices, phasm_json_null());
    phasm_json_set(schema, "enum", choices);
    if (type != PHASM_STRING)
      note(found, phasm_field_name(field), "choices are for strings");
  }
  bound(schema, field, "minimum", field->minimum, found);
  bound(schema, field, "maximum", field->maximum, found);
  if (field->items != PHASM_ANY)
    phasm_json_set(schema, type == PHASM_LIST ? "items" : "additionalProperties", schema_of_type(field->items, false));
  if (field->items != PHASM_ANY && type != PHASM_LIST && type != PHASM_OBJECT)
    note(found, phasm_field_name(field), "items are for lists and objects");
  if (field->doc != NULL)
    phasm_json_set(schema, "description", phasm_json_of_string(field->doc));
  set_default(schema, field, found);
  return schema;
}

static phasm_json *schema_of_all(const phasm_field *fields, size_t size, bool is_input, errors *found) {
  phasm_json *schema = schema_of_type(PHASM_OBJECT, false);
  phasm_json *properties = phasm_json_object(), *required = phasm_json_list();
  for (size_t at = 0; at < size; at++) {
    const char *name = phasm_field_name(&fields[at]);
    if (name == NULL) {
      phasm_append(&found->all, "%s%s %zu has no name", found->all.size == 0 ? "" : "; ", is_input ? "input" : "output", at);
      continue;
    }
    if (phasm_json_member(properties, name) != NULL)
      note(found, name, "declared twice");
    phasm_json_set(properties, name, schema_of(&fields[at], is_input, found));
    if (!fields[at].optional)
      phasm_json_add(required, phasm_json_of_string(name));
  }
  phasm_json_set(schema, "properties", properties);
  phasm_json_set(schema, "required", required);
  phasm_json_set(schema, "additionalProperties", phasm_json_of_boolean(false));
  return schema;
}

const char *phasm_manifest(const phasm_executor *executor, const char **error) {
  static const char *const known[] = {"wants", "retry", "deadline", "maxRuntime", "maxInactivity", "limits", "suspends"};
  errors found = {{0}};
  const char *why = NULL;
  phasm_json *manifest = phasm_json_object();
  const char *more = executor->manifest == NULL ? "{}" : executor->manifest;
  const phasm_json *others = phasm_json_parse(more, strlen(more), &why);
  if (others == NULL || others->type != PHASM_OBJECT)
    note(&found, "manifest", others == NULL ? why : "expected an object");
  for (const phasm_json *member = others == NULL ? NULL : others->first; member != NULL; member = member->next) {
    size_t at = 0, size = sizeof known / sizeof *known;
    while (at < size && strcmp(known[at], member->name.data) != 0)
      at++;
    if (at == size)
      note(&found, member->name.data, "not a member of `manifest`; expected wants, retry, deadline, maxRuntime, maxInactivity, limits or suspends");
    phasm_json_put(manifest, member->name, member);
  }
  if (executor->description != NULL)
    phasm_json_set(manifest, "description", phasm_json_of_string(executor->description));
  phasm_json_set(manifest, "inputs", schema_of_all(executor->inputs, executor->inputs_size, true, &found));
  if (executor->outputs != NULL)
    phasm_json_set(manifest, "outputs", schema_of_all(executor->outputs, executor->outputs_size, false, &found));
  phasm_text text = phasm_json_write(manifest, &why);
  if (found.all.size == 0 && why != NULL)
    note(&found, "description", why);
  *error = found.all.size == 0 ? NULL : phasm_string(&found.all);
  return text.data;
}
