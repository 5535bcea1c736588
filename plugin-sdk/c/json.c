// JSON texts and values. Numbers keep their digits, so that an integer of 64 bits is not rounded to a double.
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Depth of lists and objects that is read and written.
enum { MAX_DEPTH = 256 };

typedef struct {
  const char *at, *end;
  const char *error;
} reader;

static const phasm_json *value_of(reader *in, int depth, phasm_json *value);

static bool wrong(reader *in, const char *why) {
  if (in->error == NULL)
    in->error = why;
  return false;
}

static void skip_blanks(reader *in) {
  while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r'))
    in->at++;
}

static bool takes(reader *in, char expected) {
  if (in->at == in->end || *in->at != expected)
    return false;
  in->at++;
  return true;
}

static bool takes_word(reader *in, const char *word) {
  size_t size = strlen(word);
  if ((size_t)(in->end - in->at) < size || memcmp(in->at, word, size) != 0)
    return wrong(in, "expected a value");
  in->at += size;
  return true;
}

static bool digits(reader *in) {
  const char *first = in->at;
  while (in->at < in->end && *in->at >= '0' && *in->at <= '9')
    in->at++;
  return in->at > first || wrong(in, "expected a digit");
}

static bool number(reader *in, phasm_json *value) {
  const char *first = in->at;
  value->type = PHASM_INTEGER;
  takes(in, '-');
  if (!takes(in, '0') && !digits(in))
    return false;
  if (takes(in, '.')) {
    value->type = PHASM_NUMBER;
    if (!digits(in))
      return false;
  }
  if (takes(in, 'e') || takes(in, 'E')) {
    value->type = PHASM_NUMBER;
    if (!takes(in, '+'))
      takes(in, '-');
    if (!digits(in))
      return false;
  }
  value->text = phasm_text_copy(first, (size_t)(in->at - first));
  return true;
}

static bool hex(reader *in, uint32_t *unit) {
  *unit = 0;
  for (int i = 0; i < 4; i++) {
    if (in->at == in->end)
      return wrong(in, "expected four hexadecimal digits after \\u");
    char c = *in->at++;
    uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                            : 16;
    if (digit == 16)
      return wrong(in, "expected four hexadecimal digits after \\u");
    *unit = *unit * 16 + digit;
  }
  return true;
}

static size_t encode(uint32_t code, char *out) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = size - 1; i > 0; i--, code >>= 6)
    out[i] = (char)(0x80 | (code & 0x3f));
  out[0] = (char)((0xf00u >> size & 0xff) | code);
  return size;
}

// Reads what follows a backslash, into up to four bytes.
static bool escape(reader *in, char *out, size_t *size) {
  static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  char c = in->at == in->end ? '\0' : *in->at++;
  const char *found = c == '\0' ? NULL : strchr(names, c);
  if (found != NULL) {
    *out = meanings[found - names];
    *size = 1;
    return true;
  }
  uint32_t code, low;
  if (c != 'u')
    return wrong(in, "expected one of \"\\/bfnrtu after a backslash");
  if (!hex(in, &code))
    return false;
  if (code >= 0xd800 && code < 0xdc00) {
    if (!takes(in, '\\') || !takes(in, 'u') || !hex(in, &low) || low < 0xdc00 || low > 0xdfff)
      return wrong(in, "half of a surrogate pair stands alone");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code <= 0xdfff) {
    return wrong(in, "half of a surrogate pair stands alone");
  }
  *size = encode(code, out);
  return true;
}

// Reads a string after its quote. It is never longer than what is left of the text.
static bool string(reader *in, phasm_text *text) {
  const char *close = in->at;
  while (close < in->end && *close != '"')
    close += *close == '\\' ? 2 : 1;
  if (close >= in->end)
    return wrong(in, "a string has no end");
  char *out = phasm_alloc((size_t)(close - in->at) + 1);
  text->data = out;
  while (!takes(in, '"')) {
    size_t size = phasm_utf8(in->at, (size_t)(in->end - in->at));
    if (size == 0)
      return wrong(in, "a string is not UTF-8");
    if ((unsigned char)*in->at < 0x20)
      return wrong(in, "a control character in a string is not escaped");
    if (takes(in, '\\')) {
      if (!escape(in, out, &size))
        return false;
    } else {
      memcpy(out, in->at, size);
      in->at += size;
    }
    out += size;
  }
  text->size = (size_t)(out - text->data);
  return true;
}

static void append(phasm_json *all, phasm_json *item) {
  if (all->last == NULL)
    all->first = item;
  else
    all->last->next = item;
  all->last = item;
  all->size++;
}

// Reads a list or an object after its first bracket.
static bool items(reader *in, int depth, phasm_json *all) {
  const char close = all->type == PHASM_LIST ? ']' : '}';
  if (depth == 0)
    return wrong(in, "lists and objects are nested too deeply");
  skip_blanks(in);
  if (takes(in, close))
    return true;
  do {
    phasm_json *item = phasm_alloc(sizeof *item);
    if (all->type == PHASM_OBJECT) {
      skip_blanks(in);
      if (!takes(in, '"'))
        return wrong(in, "expected the name of a member");
      if (!string(in, &item->name))
        return false;
      skip_blanks(in);
      if (!takes(in, ':'))
        return wrong(in, "expected `:` after the name of a member");
    }
    if (value_of(in, depth - 1, item) == NULL)
      return false;
    append(all, item);
    skip_blanks(in);
  } while (takes(in, ','));
  return takes(in, close) || wrong(in, "expected `,` or the end of a list or object");
}

static const phasm_json *value_of(reader *in, int depth, phasm_json *value) {
  skip_blanks(in);
  bool is_right;
  switch (in->at == in->end ? '\0' : *in->at) {
  case 'n':
    value->type = PHASM_NULL;
    is_right = takes_word(in, "null");
    break;
  case 't':
  case 'f':
    value->type = PHASM_BOOLEAN;
    value->boolean = *in->at == 't';
    is_right = takes_word(in, value->boolean ? "true" : "false");
    break;
  case '"':
    in->at++;
    value->type = PHASM_STRING;
    is_right = string(in, &value->text);
    break;
  case '[':
  case '{':
    value->type = *in->at++ == '[' ? PHASM_LIST : PHASM_OBJECT;
    is_right = items(in, depth, value);
    break;
  default:
    if (in->at == in->end || (*in->at != '-' && (*in->at < '0' || *in->at > '9')))
      is_right = wrong(in, "expected a value");
    else
      is_right = number(in, value);
  }
  return is_right ? value : NULL;
}

const phasm_json *phasm_json_parse(const char *data, size_t size, const char **error) {
  reader in = {data, data + size, NULL};
  const phasm_json *value = value_of(&in, MAX_DEPTH, phasm_alloc(sizeof *value));
  if (value != NULL) {
    skip_blanks(&in);
    if (in.at < in.end)
      wrong(&in, "expected the end after the value");
  }
  if (in.error != NULL && error != NULL)
    *error = phasm_format("%s at byte %zu", in.error, (size_t)(in.at - data));
  return in.error == NULL ? value : NULL;
}

const phasm_json *phasm_json_find(const phasm_json *object, phasm_text name) {
  const phasm_json *found = NULL, *member = object->type == PHASM_OBJECT ? object->first : NULL;
  // Of equal names the last wins.
  for (size_t left = object->size; member != NULL && left > 0; member = member->next, left--)
    if (member->name.size == name.size && memcmp(member->name.data, name.data, name.size) == 0)
      found = member;
  return found;
}

const phasm_json *phasm_json_member(const phasm_json *object, const char *name) {
  return phasm_json_find(object, (phasm_text){name, strlen(name)});
}

const phasm_json *phasm_json_item(const phasm_json *list, size_t at) {
  if (list->type != PHASM_LIST || at >= list->size)
    return NULL;
  const phasm_json *item = list->first;
  while (at-- > 0)
    item = item->next;
  return item;
}

const char *phasm_json_string(const phasm_json *value) {
  bool is_whole = value->type == PHASM_STRING && strlen(value->text.data) == value->text.size;
  return is_whole ? value->text.data : NULL;
}

bool phasm_json_integer(const phasm_json *value, int64_t *integer) {
  if (value->type != PHASM_INTEGER)
    return false;
  errno = 0;
  *integer = strtoll(value->text.data, NULL, 10);
  return errno == 0;
}

bool phasm_json_number(const phasm_json *value, double *number) {
  int64_t integer;
  if (value->type != PHASM_NUMBER && value->type != PHASM_INTEGER)
    return false;
  *number = strtod(value->text.data, NULL);
  if (!isfinite(*number) || value->type == PHASM_NUMBER)
    return isfinite(*number);
  // 2^63 as a double is beyond the integers.
  return phasm_json_integer(value, &integer) && *number < 0x1p63 && (int64_t)*number == integer;
}

static phasm_json *made(phasm_type type) {
  phasm_json *value = phasm_alloc(sizeof *value);
  value->type = type;
  return value;
}

phasm_json *phasm_json_null(void) { return made(PHASM_NULL); }
phasm_json *phasm_json_list(void) { return made(PHASM_LIST); }
phasm_json *phasm_json_object(void) { return made(PHASM_OBJECT); }

phasm_json *phasm_json_of_boolean(bool boolean) {
  phasm_json *value = made(PHASM_BOOLEAN);
  value->boolean = boolean;
  return value;
}

phasm_json *phasm_json_of_integer(int64_t integer) {
  phasm_json *value = made(PHASM_INTEGER);
  value->text.data = phasm_format("%lld", (long long)integer);
  value->text.size = strlen(value->text.data);
  return value;
}

phasm_json *phasm_json_of_number(double number) {
  char digits[32];
  phasm_json *value = made(PHASM_NUMBER);
  // The fewest digits that read as the same number.
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, number);
    if (strtod(digits, NULL) == number)
      break;
  }
  bool is_whole = strpbrk(digits, ".en") == NULL;
  value->text.data = phasm_format("%s%s", digits, is_whole ? ".0" : "");
  value->text.size = isfinite(number) ? strlen(value->text.data) : 0;
  return value;
}

phasm_json *phasm_json_of_text(phasm_text text) {
  phasm_json *value = made(PHASM_STRING);
  value->text = phasm_text_copy(text.data, text.size);
  return value;
}

phasm_json *phasm_json_of_string(const char *string) {
  return string == NULL ? phasm_json_null() : phasm_json_of_text((phasm_text){string, strlen(string)});
}

void phasm_json_add(phasm_json *list, const phasm_json *value) {
  phasm_json *item = made(value->type);
  *item = *value;
  item->next = NULL;
  append(list, item);
}

void phasm_json_put(phasm_json *object, phasm_text name, const phasm_json *value) {
  phasm_json *old = (phasm_json *)phasm_json_find(object, name);
  if (old != NULL) {
    phasm_json *next = old->next;
    *old = *value;
    old->next = next;
    old->name = phasm_text_copy(name.data, name.size);
  } else {
    phasm_json_add(object, value);
    object->last->name = phasm_text_copy(name.data, name.size);
  }
}

void phasm_json_set(phasm_json *object, const char *name, const phasm_json *value) {
  phasm_json_put(object, (phasm_text){name, strlen(name)}, value);
}

static const char *write_string(phasm_buffer *out, phasm_text text) {
  static const char names[] = "\"\\bfnrt", meanings[] = "\"\\\b\f\n\r\t";
  phasm_append_bytes(out, "\"", 1);
  for (size_t at = 0, size; at < text.size; at += size) {
    size = phasm_utf8(text.data + at, text.size - at);
    char c = text.data[at];
    const char *found = c == '\0' ? NULL : strchr(meanings, c);
    if (size == 0)
      return "a string is not UTF-8";
    if (found != NULL)
      phasm_append(out, "\\%c", names[found - meanings]);
    else if ((unsigned char)c < 0x20)
      phasm_append(out, "\\u%04x", (unsigned)c);
    else
      phasm_append_bytes(out, text.data + at, size);
  }
  phasm_append_bytes(out, "\"", 1);
  return NULL;
}

static const char *write(phasm_buffer *out, const phasm_json *value, int depth) {
  const char *error = NULL;
  switch (value->type) {
  case PHASM_BOOLEAN:
    phasm_append(out, value->boolean ? "true" : "false");
    return NULL;
  case PHASM_INTEGER:
  case PHASM_NUMBER:
    phasm_append_bytes(out, value->text.data, value->text.size);
    return value->text.size == 0 ? "a number is not finite" : NULL;
  case PHASM_STRING:
    return write_string(out, value->text);
  case PHASM_LIST:
  case PHASM_OBJECT:
    if (depth == 0)
      return "lists and objects are nested too deeply";
    phasm_append_bytes(out, value->type == PHASM_LIST ? "[" : "{", 1);
    const phasm_json *item = value->first;
    for (size_t left = value->size; error == NULL && left > 0; item = item->next, left--) {
      if (value->type == PHASM_OBJECT) {
        error = write_string(out, item->name);
        phasm_append_bytes(out, ":", 1);
      }
      error = error == NULL ? write(out, item, depth - 1) : error;
      phasm_append_bytes(out, ",", left > 1 ? 1 : 0);
    }
    phasm_append_bytes(out, value->type == PHASM_LIST ? "]" : "}", 1);
    return error;
  case PHASM_ANY:
  case PHASM_NULL:
    phasm_append(out, "null");
  }
  return NULL;
}

phasm_text phasm_json_write(const phasm_json *value, const char **error) {
  phasm_buffer out = {0};
  const char *why = write(&out, value, MAX_DEPTH);
  if (error != NULL)
    *error = why;
  return why == NULL ? (phasm_text){phasm_string(&out), out.size} : (phasm_text){"", 0};
}
