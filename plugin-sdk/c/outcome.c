// Outcomes, and calls to the host.
#include "internal.h"

#include <string.h>

void phasm_output_json(phasm_outcome *outcome, const char *name, const phasm_json *value) {
  phasm_json_set(outcome->outputs, name, value);
}

void phasm_output_string(phasm_outcome *outcome, const char *name, const char *string) {
  phasm_output_json(outcome, name, phasm_json_of_string(string));
}

void phasm_output_integer(phasm_outcome *outcome, const char *name, int64_t integer) {
  phasm_output_json(outcome, name, phasm_json_of_integer(integer));
}

void phasm_output_number(phasm_outcome *outcome, const char *name, double number) {
  phasm_output_json(outcome, name, phasm_json_of_number(number));
}

void phasm_output_boolean(phasm_outcome *outcome, const char *name, bool boolean) {
  phasm_output_json(outcome, name, phasm_json_of_boolean(boolean));
}

void phasm_detail(phasm_outcome *outcome, const char *name, const phasm_json *value) {
  phasm_json_set(outcome->detail, name, value);
}

void phasm_set_error(phasm_outcome *outcome, const char *name, const phasm_json *value) {
  const phasm_json *before = phasm_json_member(outcome->detail, "error");
  phasm_json *error = phasm_json_object();
  for (const phasm_json *member = before == NULL ? NULL : before->first; member != NULL; member = member->next)
    phasm_json_put(error, member->name, member);
  phasm_json_set(error, name, value);
  phasm_detail(outcome, "error", error);
}

void phasm_error_code(phasm_outcome *outcome, const phasm_json *code) { phasm_set_error(outcome, "code", code); }

void phasm_retryable(phasm_outcome *outcome, bool retryable) {
  phasm_set_error(outcome, "retryable", phasm_json_of_boolean(retryable));
}

static void end(phasm_outcome *outcome, int32_t code, const char *kind, const char *format, va_list arguments) {
  outcome->code = code;
  outcome->message = phasm_vformat(format, arguments);
  if (kind != NULL)
    phasm_set_error(outcome, "kind", phasm_json_of_string(kind));
}

#define END(CODE, KIND) \
  va_list arguments; \
  va_start(arguments, format); \
  end(outcome, CODE, KIND, format, arguments); \
  va_end(arguments)

void phasm_suspended(phasm_outcome *outcome, const char *format, ...) { END(PHASM_SUSPENDED, NULL); }

void phasm_refused(phasm_outcome *outcome, const char *format, ...) {
  END(PHASM_SUSPENDED, NULL);
  phasm_detail(outcome, "refused", phasm_json_of_string(outcome->message));
}

void phasm_failed(phasm_outcome *outcome, const char *kind, const char *format, ...) { END(PHASM_FAILED, kind); }

void phasm_error(phasm_outcome *outcome, const char *kind, const char *format, ...) { END(PHASM_ERROR, kind); }

void phasm_timeout(phasm_outcome *outcome, const char *format, ...) { END(PHASM_TIMEOUT, NULL); }

void phasm_log(phasm_level level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = phasm_vformat(format, arguments);
  va_end(arguments);
  phasm_host_log(level, phasm_lossy(text, strlen(text)));
}

void phasm_progress(double fraction, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = phasm_vformat(format, arguments);
  va_end(arguments);
  phasm_host_progress(fraction, phasm_lossy(text, strlen(text)));
}

void phasm_heartbeat(void) { phasm_host_heartbeat(); }
