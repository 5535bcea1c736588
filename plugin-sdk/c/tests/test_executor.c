// Inputs, outcomes and the manifest of an executor in C.
#include "../phasm_test.h"

#include <string.h>

struct inputs {
  const char *name;
  phasm_text raw;
  int64_t count;
  double ratio;
  bool flag;
  const phasm_json *tags, *limits, *anything;
  const char *colour, *kind;
};

static const char *const colours[] = {"red", "blue", NULL};

static const phasm_field inputs[] = {
    PHASM_REQUIRED(struct inputs, name, "A name."),
    PHASM_OPTIONAL(struct inputs, raw, NULL, "Any characters."),
    PHASM_OPTIONAL(struct inputs, count, "2", "How many.", .minimum = "0", .maximum = "9"),
    PHASM_OPTIONAL(struct inputs, ratio, "0.5", "A ratio."),
    PHASM_OPTIONAL(struct inputs, flag, NULL, NULL),
    PHASM_OPTIONAL(struct inputs, tags, "[]", NULL, .type = PHASM_LIST, .items = PHASM_STRING),
    PHASM_OPTIONAL(struct inputs, limits, NULL, NULL, .type = PHASM_OBJECT, .items = PHASM_INTEGER),
    PHASM_OPTIONAL(struct inputs, anything, NULL, NULL),
    PHASM_OPTIONAL(struct inputs, colour, "\"red\"", "Its colour.", .as = "its-colour", .choices = colours),
    PHASM_OPTIONAL(struct inputs, kind, NULL, NULL),
};

static const phasm_field outputs[] = {
    {.name = "said", .type = PHASM_STRING},
    {.name = "number", .type = PHASM_INTEGER, .optional = true},
};

static bool is(const struct inputs *in, const char *kind) { return in->kind != NULL && strcmp(in->kind, kind) == 0; }

static void execute(const phasm_call *call, const struct inputs *in, phasm_outcome *out) {
  phasm_buffer tags = {0};
  for (const phasm_json *tag = in->tags->first; tag != NULL; tag = tag->next)
    phasm_append(&tags, "+%s", phasm_json_string(tag));
  phasm_output_string(out, "said", phasm_format("%s %zu %lld %g %d %s %s", in->name, in->raw.size, (long long)in->count,
                                                in->ratio, in->flag, phasm_string(&tags), in->colour));
  if (is(in, "failed")) {
    phasm_failed(out, "gone", "there is no %s", in->name);
    phasm_error_code(out, phasm_json_of_integer(410));
    phasm_retryable(out, false);
    phasm_detail(out, "tries", phasm_json_of_integer(2));
  }
  if (is(in, "suspended"))
    phasm_suspended(out, "a yes");
  if (call->resumed)
    phasm_refused(out, "%s says no", call->resumed_by == NULL ? "nobody" : call->resumed_by);
  if (is(in, "timeout"))
    phasm_timeout(out, "%.1f s were left of attempt %u", call->remaining, call->attempt);
  if (is(in, "number"))
    phasm_output_number(out, "number", NAN);
  if (is(in, "other"))
    phasm_output_boolean(out, "other", true);
  if (is(in, "text"))
    phasm_output_string(out, "number", "x");
  if (is(in, "message"))
    phasm_error(out, NULL, "caf\xe9");
  if (is(in, "given"))
    phasm_output_string(out, "said", phasm_format("%d %d", phasm_given(call, "count"), phasm_given(call, "ratio")));
  if (is(in, "host")) {
    phasm_log(PHASM_LOG_ERROR, "100%% \xff");
    phasm_progress(0.5, "half");
    phasm_progress(NAN, "more");
    phasm_heartbeat();
  }
}

PHASM_EXECUTOR(execute, struct inputs, .description = "Says things", PHASM_INPUTS(inputs), PHASM_OUTPUTS(outputs),
               .manifest = "{\"maxRuntime\": \"1m\", \"suspends\": true}")

static phasm_result run(const char *given) { return phasm_test_run((phasm_test){.inputs = given}); }

static void inputs_are_read(void) {
  PHASM_EXPECT(run("{\"name\": \"Ada\"}").outputs, "{\"said\":\"Ada 0 2 0.5 0  red\"}");
  PHASM_EXPECT(run("{\"name\": \"é\", \"raw\": \"\\u0000x\", \"count\": 9, \"ratio\": 3, \"flag\": true, \"tags\": [\"a\", \"b\"],"
                   "\"limits\": {\"cpu\": 1}, \"anything\": [1], \"its-colour\": \"blue\"}")
                   .outputs,
               "{\"said\":\"é 2 9 3 1 +a+b blue\"}");
  phasm_result of_config = phasm_test_run((phasm_test){.inputs = "{\"count\": null}", .config = "{\"name\": \"Bob\", \"count\": 3, \"x\": 1}"});
  PHASM_EXPECT(of_config.outputs, "{\"said\":\"Bob 0 3 0.5 0  red\"}");
  PHASM_EXPECT(run("{\"name\": \"x\", \"count\": 2, \"kind\": \"given\"}").outputs, "{\"said\":\"1 0\"}");
  PHASM_EXPECT(run("{\"name\": \"x\", \"nmae\": 1}").log,
               "warn input `nmae` is not used; this executor knows `name`, `raw`, `count`, `ratio`, `flag`, `tags`, `limits`, "
               "`anything`, `its-colour`, `kind`\n");
}

static void everything_wrong_is_said_at_once(void) {
  phasm_result wrong = run("{\"raw\": 1, \"count\": 10, \"ratio\": 9007199254740993, \"flag\": \"yes\", \"tags\": [\"a\", 1, null],"
                           "\"limits\": {\"cpu\": 1.5}, \"its-colour\": \"green\", \"kind\": \"a\\u0000b\"}");
  PHASM_EXPECT_CODE(wrong.code, PHASM_ERROR);
  PHASM_EXPECT(wrong.message,
               "input `name` is missing; expected a string; input `raw`: expected a string, got integer `1`; "
               "input `count`: expected an integer from 0 to 9, got integer `10`; "
               "input `ratio`: expected a number that a double keeps, got integer `9007199254740993`; "
               "input `flag`: expected a boolean, got string \"yes\"; input `tags[1]`: expected a string, got integer `1`; "
               "input `tags[2]`: expected a string, got null; input `limits.cpu`: expected an integer, got floating point `1.5`; "
               "input `its-colour`: expected `red` or `blue`, got string \"green\"; "
               "input `kind`: expected a string without U+0000, got string \"a\\u0000b\"");
  PHASM_EXPECT(wrong.detail, "{\"error\":{\"kind\":\"input\",\"retryable\":false}}");
  PHASM_EXPECT(wrong.outputs, "{}");
  PHASM_EXPECT(run("{\"name\": [\"x\"], \"count\": 99999999999999999999}").message,
               "input `name`: expected a string, got a list; "
               "input `count`: expected an integer of 64 bits, got integer `99999999999999999999`");
  // A long value is cut between characters.
  phasm_result cut = run("{\"name\": \"x\", \"count\": \"ääääääääääääääääääääääääääääääääääääääääääää\"}");
  PHASM_EXPECT(cut.message, "input `count`: expected an integer from 0 to 9, got string \"ääääääääääääääääääääääääääääää…");
}

static void outcomes(void) {
  phasm_result failed = run("{\"name\": \"x\", \"kind\": \"failed\"}");
  PHASM_EXPECT_CODE(failed.code, PHASM_FAILED);
  PHASM_EXPECT(failed.message, "there is no x");
  PHASM_EXPECT(failed.detail, "{\"error\":{\"kind\":\"gone\",\"code\":410,\"retryable\":false},\"tries\":2}");
  PHASM_EXPECT(failed.outputs, "{\"said\":\"x 0 2 0.5 0  red\"}");
  phasm_result suspended = run("{\"name\": \"x\", \"kind\": \"suspended\"}");
  PHASM_EXPECT_CODE(suspended.code, PHASM_SUSPENDED);
  PHASM_EXPECT(suspended.message, "a yes");
  phasm_result refused = phasm_test_run((phasm_test){.inputs = "{\"name\": \"x\"}", .resumed_by = "local:ada"});
  PHASM_EXPECT(refused.detail, "{\"refused\":\"local:ada says no\"}");
  PHASM_EXPECT_CODE(refused.code, PHASM_SUSPENDED);
  phasm_result late = phasm_test_run((phasm_test){.inputs = "{\"name\": \"x\", \"kind\": \"timeout\"}", .attempt = 3, .remaining = 2.5});
  PHASM_EXPECT_CODE(late.code, PHASM_TIMEOUT);
  PHASM_EXPECT(late.message, "2.5 s were left of attempt 3");
  PHASM_EXPECT(run("{\"name\": \"x\", \"kind\": \"message\"}").message, "caf\xef\xbf\xbd");
  PHASM_EXPECT(run("{\"name\": \"x\", \"kind\": \"host\"}").log,
               "error 100% \xef\xbf\xbd\nprogress 0.5 half\nprogress ? more\nheartbeat\n");
}

static void outputs_are_checked(void) {
  static const char *const rows[][2] = {
      {"{\"name\": \"x\", \"kind\": \"number\"}", "output `number` cannot be written as JSON: a number is not finite"},
      {"{\"name\": \"x\", \"kind\": \"other\"}", "output `other` is not declared; expected `said`, `number`"},
      {"{\"name\": \"x\", \"kind\": \"text\"}", "output `number`: expected an integer, got string \"x\""},
  };
  for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
    phasm_result result = run(rows[at][0]);
    PHASM_EXPECT_CODE(result.code, PHASM_ERROR);
    PHASM_EXPECT(result.message, rows[at][1]);
    PHASM_EXPECT(result.detail, "{\"error\":{\"kind\":\"output\",\"retryable\":false}}");
    PHASM_EXPECT(result.outputs, "{}");
  }
}

static void the_manifest_follows_from_the_declarations(void) {
  PHASM_EXPECT(phasm_test_manifest(),
               "{\"maxRuntime\":\"1m\",\"suspends\":true,\"description\":\"Says things\",\"inputs\":{\"type\":\"object\",\"properties\":{"
               "\"name\":{\"type\":\"string\",\"description\":\"A name.\"},"
               "\"raw\":{\"type\":[\"string\",\"null\"],\"description\":\"Any characters.\"},"
               "\"count\":{\"type\":[\"integer\",\"null\"],\"minimum\":0,\"maximum\":9,\"description\":\"How many.\",\"default\":2},"
               "\"ratio\":{\"type\":[\"number\",\"null\"],\"description\":\"A ratio.\",\"default\":0.5},"
               "\"flag\":{\"type\":[\"boolean\",\"null\"]},"
               "\"tags\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\"},\"default\":[]},"
               "\"limits\":{\"type\":[\"object\",\"null\"],\"additionalProperties\":{\"type\":\"integer\"}},"
               "\"anything\":{},"
               "\"its-colour\":{\"type\":[\"string\",\"null\"],\"enum\":[\"red\",\"blue\",null],\"description\":\"Its colour.\","
               "\"default\":\"red\"},\"kind\":{\"type\":[\"string\",\"null\"]}},"
               "\"required\":[\"name\"],\"additionalProperties\":false},"
               "\"outputs\":{\"type\":\"object\",\"properties\":{\"said\":{\"type\":\"string\"},\"number\":{\"type\":\"integer\"}},"
               "\"required\":[\"said\"],\"additionalProperties\":false}}");
}

int main(void) {
  inputs_are_read();
  everything_wrong_is_said_at_once();
  outcomes();
  outputs_are_checked();
  the_manifest_follows_from_the_declarations();
  return phasm_test_end();
}
