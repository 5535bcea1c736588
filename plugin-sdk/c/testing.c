// Stands in for the host in tests. For native programs only.
#include "phasm_test.h"

#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static phasm_buffer calls;
static int met, failures;

void phasm_host_log(phasm_level level, phasm_text text) {
  static const char *const levels[] = {"trace", "debug", "info", "warn", "error"};
  phasm_append(&calls, "%s %s\n", levels[level], text.data);
}

void phasm_host_progress(double fraction, phasm_text text) {
  if (isnan(fraction))
    phasm_append(&calls, "progress ? %s\n", text.data);
  else
    phasm_append(&calls, "progress %g %s\n", fraction, text.data);
}

void phasm_host_heartbeat(void) { phasm_append(&calls, "heartbeat\n"); }

static phasm_json *object_of(const char *what, const char *json) {
  const char *error = "expected an object";
  const phasm_json *value = json == NULL ? phasm_json_object() : phasm_json_parse(json, strlen(json), &error);
  if (value == NULL || value->type != PHASM_OBJECT) {
    fprintf(stderr, "%s of a test: %s: %s\n", what, error, json);
    abort();
  }
  return (phasm_json *)value;
}

phasm_result phasm_test_run(phasm_test test) {
  phasm_free_all();
  calls = (phasm_buffer){0};
  uint32_t attempt = test.attempt == 0 ? 1 : test.attempt;
  bool resumed = test.resumed || test.resumed_by != NULL;
  phasm_json *config = object_of("config", test.config);
  if (test.resumed_by != NULL)
    phasm_json_set(config, "phasm.resumedBy", phasm_json_of_string(test.resumed_by));
  phasm_call call = {
      .config = config,
      .inputs = object_of("inputs", test.inputs),
      .run_id = "run",
      .workflow = "test",
      .workflow_namespace = "default",
      .task_run_id = "run/test",
      .task = "test",
      .attempt = attempt,
      .dispatch = attempt + resumed,
      .resumed = resumed,
      .remaining = test.remaining > 0 ? test.remaining : (double)INFINITY,
      .idempotency_key = phasm_format("run/test/%u/%u", attempt, attempt + resumed),
  };
  phasm_outcome outcome;
  phasm_execute(phasm_this(), call, &outcome);
  const char *outputs = phasm_json_write(outcome.outputs, NULL).data, *detail = phasm_json_write(outcome.detail, NULL).data;
  return (phasm_result){outcome.code, outcome.message, outputs, detail, phasm_string(&calls)};
}

const char *phasm_test_manifest(void) {
  const char *error = NULL, *manifest = phasm_manifest(phasm_this(), &error);
  if (error != NULL) {
    fprintf(stderr, "the declarations: %s\n", error);
    abort();
  }
  return manifest;
}

static void expect(bool is_met, const char *file, int line, const char *what, const char *actual, const char *expected) {
  met += is_met;
  failures += !is_met;
  if (!is_met)
    fprintf(stderr, "%s:%d: %s\n  is       %s\n  expected %s\n", file, line, what, actual, expected);
}

void phasm_test_expect(const char *file, int line, const char *what, const char *actual, const char *expected) {
  expect(strcmp(actual, expected) == 0, file, line, what, actual, expected);
}

void phasm_test_expect_code(const char *file, int line, const char *what, int32_t actual, int32_t expected) {
  char numbers[2][16];
  snprintf(numbers[0], sizeof numbers[0], "%d", actual);
  snprintf(numbers[1], sizeof numbers[1], "%d", expected);
  expect(actual == expected, file, line, what, numbers[0], numbers[1]);
}

int phasm_test_end(void) {
  printf("%s: %d expectations met, %d not\n", failures == 0 ? "OK" : "FAILED", met, failures);
  phasm_free_all();
  calls = (phasm_buffer){0};
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
