// The executor as a component: between the bindings of the world and the SDK. For WebAssembly only.
#include "executor.h"
#include "internal.h"

#include <string.h>

static phasm_text text_of(executor_string_t text) { return phasm_text_copy((const char *)text.ptr, text.len); }

static executor_string_t string_of(phasm_text text) { return (executor_string_t){(uint8_t *)(uintptr_t)text.data, text.size}; }

static executor_string_t written(const phasm_json *value) { return string_of(phasm_json_write(value, NULL)); }

void phasm_host_log(phasm_level level, phasm_text text) {
  executor_string_t line = string_of(text);
  phasm_executor_host_log((phasm_executor_host_level_t)level, &line);
}

void phasm_host_progress(double fraction, phasm_text text) {
  executor_string_t words = string_of(text);
  phasm_executor_host_progress(isnan(fraction) ? NULL : &fraction, &words);
}

void phasm_host_heartbeat(void) { phasm_executor_host_heartbeat(); }

// Reads the inputs; what is no JSON is noted in `wrong`.
static phasm_json *inputs_of(const executor_invocation_t *invocation, phasm_buffer *wrong) {
  phasm_json *inputs = phasm_json_object();
  for (size_t at = 0; at < invocation->inputs.len; at++) {
    const phasm_executor_types_named_value_t *given = &invocation->inputs.ptr[at];
    const char *error = NULL;
    phasm_text name = text_of(given->name);
    const phasm_json *value = phasm_json_parse((const char *)given->value.ptr, given->value.len, &error);
    if (value == NULL)
      phasm_append(wrong, "%sinput `%s`: %s", wrong->size == 0 ? "" : "; ", name.data, error);
    else
      phasm_json_put(inputs, name, value);
  }
  return inputs;
}

static phasm_call call_of(const executor_invocation_t *in, phasm_buffer *wrong) {
  const phasm_json *config = phasm_json_parse((const char *)in->config.ptr, in->config.len, NULL);
  return (phasm_call){
      .config = config == NULL ? phasm_json_object() : config,
      .inputs = inputs_of(in, wrong),
      .run_id = text_of(in->run_id).data,
      .workflow = text_of(in->workflow).data,
      .workflow_namespace = text_of(in->namespace_).data,
      .task_run_id = text_of(in->task_run_id).data,
      .task = text_of(in->task).data,
      .attempt = in->attempt,
      .dispatch = in->dispatch,
      .resumed = in->resumed,
      .remaining = in->remaining_ms.is_some ? (double)in->remaining_ms.val / 1000 : (double)INFINITY,
      .idempotency_key = text_of(in->idempotency_key).data,
  };
}

void exports_executor_execute(executor_invocation_t *invocation, executor_outcome_t *ret) {
  phasm_buffer wrong = {0};
  phasm_call call = call_of(invocation, &wrong);
  phasm_outcome outcome = {PHASM_ERROR, phasm_string(&wrong), phasm_json_object(), phasm_json_object()};
  if (wrong.size == 0) {
    phasm_execute(phasm_this(), call, &outcome);
  } else {
    phasm_set_error(&outcome, "kind", phasm_json_of_string("input"));
    phasm_retryable(&outcome, false);
  }
  memset(ret, 0, sizeof *ret);
  ret->code = outcome.code;
  ret->message = string_of((phasm_text){outcome.message, strlen(outcome.message)});
  ret->outputs.len = outcome.outputs->size;
  ret->outputs.ptr = phasm_alloc(outcome.outputs->size * sizeof *ret->outputs.ptr);
  size_t at = 0;
  for (const phasm_json *output = outcome.outputs->first; output != NULL; output = output->next, at++)
    ret->outputs.ptr[at] = (phasm_executor_types_named_value_t){string_of(output->name), written(output)};
  ret->detail.is_some = outcome.detail->size > 0;
  ret->detail.val = written(outcome.detail);
}

// The manifest as JSON, or `!` with what is wrong with the declarations. `phasm plugin build` calls it.
__attribute__((export_name("phasm_manifest"))) const char *phasm_manifest_of_this(void) {
  const char *error = NULL, *manifest = phasm_manifest(phasm_this(), &error);
  return error == NULL ? manifest : phasm_format("!%s", error);
}
