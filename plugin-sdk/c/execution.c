// Executes one invocation: inputs that do not fit never reach the function, and outputs that do not fit never leave it.
#include "internal.h"

#include <string.h>

bool phasm_given(const phasm_call *call, const char *name) { return phasm_json_member(call->given, name) != NULL; }

static void fault(phasm_outcome *outcome, const char *kind, const char *message) {
  *outcome = (phasm_outcome){PHASM_ERROR, message, phasm_json_object(), phasm_json_object()};
  phasm_set_error(outcome, "kind", phasm_json_of_string(kind));
  phasm_retryable(outcome, false);
}

// The value that the task gives, else that of `config`; NULL if there is none.
static const phasm_json *given(const phasm_json *inputs, const phasm_json *config, const char *name) {
  const phasm_json *value = phasm_json_member(inputs, name);
  if (value == NULL || value->type == PHASM_NULL)
    value = phasm_json_member(config, name);
  return value == NULL || value->type == PHASM_NULL ? NULL : value;
}

static void fill(const phasm_field *field, const phasm_json *value, char *inputs) {
  char *member = inputs + field->offset;
  switch (field->member) {
  case PHASM_MEMBER_STRING:
    *(const char **)(void *)member = value->text.data;
    break;
  case PHASM_MEMBER_TEXT:
    *(phasm_text *)(void *)member = value->text;
    break;
  case PHASM_MEMBER_INTEGER:
    phasm_json_integer(value, (int64_t *)(void *)member);
    break;
  case PHASM_MEMBER_NUMBER:
    phasm_json_number(value, (double *)(void *)member);
    break;
  case PHASM_MEMBER_BOOLEAN:
    *(bool *)(void *)member = value->boolean;
    break;
  case PHASM_MEMBER_JSON:
    *(const phasm_json **)(void *)member = value;
    break;
  case PHASM_MEMBER_NONE:
    break;
  }
}

// Checks the inputs, and returns the struct of them; NULL after a fault.
static const void *read_inputs(const phasm_executor *executor, phasm_call *call, phasm_outcome *outcome) {
  phasm_json *all = phasm_json_object(), *found = phasm_json_object();
  phasm_buffer wrong = {0};
  char *inputs = phasm_alloc(executor->size);
  for (size_t at = 0; at < executor->inputs_size; at++) {
    const phasm_field *field = &executor->inputs[at];
    const char *name = phasm_field_name(field);
    const phasm_json *value = given(call->inputs, call->config, name);
    size_t before = wrong.size;
    if (value == NULL && !field->optional)
      phasm_append(&wrong, "%sinput `%s` is missing; expected %s", before == 0 ? "" : "; ", name, phasm_expected(field));
    if (value != NULL) {
      phasm_json_set(found, name, value);
      phasm_check(field, value, phasm_format("input `%s", name), &wrong);
    } else if (field->fallback != NULL) {
      value = phasm_json_parse(field->fallback, strlen(field->fallback), NULL);
    }
    if (value != NULL && wrong.size == before) {
      phasm_json_set(all, name, value);
      fill(field, value, inputs);
    }
  }
  if (wrong.size > 0) {
    fault(outcome, "input", wrong.data);
    return NULL;
  }
  for (const phasm_json *other = call->inputs->first; other != NULL; other = other->next) {
    size_t at = 0;
    while (at < executor->inputs_size && strcmp(phasm_field_name(&executor->inputs[at]), other->name.data) != 0)
      at++;
    if (at == executor->inputs_size)
      phasm_warn("input `%s` is not used; this executor knows %s", other->name.data,
                 phasm_names(executor->inputs, executor->inputs_size));
  }
  call->given = found;
  call->inputs = all;
  return inputs;
}

// Returns what is wrong with the outputs, or NULL.
static const char *wrong_outputs(const phasm_executor *executor, const phasm_outcome *outcome) {
  phasm_buffer wrong = {0};
  const char *error;
  for (const phasm_json *output = outcome->outputs->first; output != NULL; output = output->next) {
    phasm_json_write(output, &error);
    if (error != NULL)
      return phasm_format("output `%s` cannot be written as JSON: %s", output->name.data, error);
  }
  if (executor->outputs == NULL || outcome->code != PHASM_SUCCEEDED)
    return NULL;
  for (size_t at = 0; at < executor->outputs_size; at++) {
    const char *name = phasm_field_name(&executor->outputs[at]);
    const phasm_json *value = phasm_json_member(outcome->outputs, name);
    const char *before = wrong.size == 0 ? "" : "; ";
    if (value != NULL)
      phasm_check(&executor->outputs[at], value, phasm_format("output `%s", name), &wrong);
    else if (!executor->outputs[at].optional)
      phasm_append(&wrong, "%soutput `%s` is missing; expected %s", before, name, phasm_expected(&executor->outputs[at]));
  }
  for (const phasm_json *output = outcome->outputs->first; output != NULL; output = output->next) {
    size_t at = 0;
    while (at < executor->outputs_size && strcmp(phasm_field_name(&executor->outputs[at]), output->name.data) != 0)
      at++;
    if (at == executor->outputs_size)
      phasm_append(&wrong, "%soutput `%s` is not declared; expected %s", wrong.size == 0 ? "" : "; ", output->name.data,
                   phasm_names(executor->outputs, executor->outputs_size));
  }
  return wrong.size == 0 ? NULL : wrong.data;
}

void phasm_execute(const phasm_executor *executor, phasm_call call, phasm_outcome *outcome) {
  *outcome = (phasm_outcome){PHASM_SUCCEEDED, "", phasm_json_object(), phasm_json_object()};
  const phasm_json *by = phasm_json_member(call.config, "phasm.resumedBy");
  call.resumed_by = by != NULL && call.resumed ? phasm_json_string(by) : NULL;
  const void *inputs = read_inputs(executor, &call, outcome);
  if (inputs != NULL) {
    executor->run(&call, inputs, outcome);
    const char *wrong = wrong_outputs(executor, outcome), *error = NULL;
    if (wrong == NULL) {
      phasm_json_write(outcome->detail, &error);
      wrong = error == NULL ? NULL : phasm_format("the detail cannot be written as JSON: %s", error);
    }
    if (wrong != NULL)
      fault(outcome, "output", wrong);
  }
  const char *message = outcome->message == NULL ? "" : outcome->message;
  outcome->message = phasm_lossy(message, strlen(message)).data;
}
