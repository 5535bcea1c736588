// Inputs and outcomes of an executor in C++.
#include "../phasm.hpp"
#include "../phasm_test.h"

struct Inputs {
  std::string name;
  int64_t count = 2;
  double ratio = 0.5;
  bool flag = true;
  std::optional<std::string> nick;
  std::vector<std::string> tags = {"a"};
  std::map<std::string, int64_t> limits;
  phasm::Json anything = nullptr;
};

static const auto inputs = phasm::Inputs<Inputs>()
                               .required("name", &Inputs::name, "A name.", {.choices = {"Ada", "Bob"}})
                               .optional("how-many", &Inputs::count, "How many.", {.minimum = "0", .maximum = "9"})
                               .optional("ratio", &Inputs::ratio, "A ratio.")
                               .optional("flag", &Inputs::flag, "A flag.")
                               .optional("nick", &Inputs::nick, "Another name.")
                               .optional("tags", &Inputs::tags, "Tags.")
                               .optional("limits", &Inputs::limits, "Limits.")
                               .optional("anything", &Inputs::anything, "Anything.");

static const auto outputs = phasm::Outputs()
                                .output<std::string>("said", "What was said.")
                                .output<std::vector<int64_t>>("numbers", "Numbers.", true)
                                .output<phasm::Json>("anything", "Anything.", true);

static void execute(const phasm::Call &call, const Inputs &in, phasm::Outcome &out) {
  std::string said = in.name + " " + std::to_string(in.count) + " " + in.nick.value_or("-") + (in.flag ? " yes" : " no");
  for (const std::string &tag : in.tags)
    said += "+" + tag;
  for (const auto &[name, limit] : in.limits)
    said += " " + name + "=" + std::to_string(limit);
  out.output("said", said).output("numbers", std::vector<int64_t>{1, in.count});
  if (in.anything != nullptr)
    out.output("anything", in.anything);
  if (in.name == "Bob")
    out.failed("bob", "it is " + in.name).error_code(int64_t{7}).retryable(false).detail("attempt", int64_t{call.attempt});
  phasm::info("said 100%s");
}

PHASM_EXECUTOR(execute, inputs, outputs, .description = "Says things", .manifest = R"({"limits": {"memory": "8MiB"}})")

int main() {
  phasm_result run = phasm_test_run({.inputs = R"({"name": "Ada"})"});
  PHASM_EXPECT(run.outputs, R"({"said":"Ada 2 - yes+a","numbers":[1,2]})");
  PHASM_EXPECT(run.log, "info said 100%s\n");
  run = phasm_test_run({.inputs = R"({"name": "Ada", "how-many": 3, "flag": false, "nick": "A\u0000d", "tags": [], "limits": {"z": 1, "a": 2},
                                      "anything": {"x": [1.50]}})"});
  PHASM_EXPECT(run.outputs, R"({"said":"Ada 3 A\u0000d no a=2 z=1","numbers":[1,3],"anything":{"x":[1.50]}})");
  run = phasm_test_run({.inputs = R"({"name": "Bob"})", .attempt = 4});
  PHASM_EXPECT_CODE(run.code, PHASM_FAILED);
  PHASM_EXPECT(run.message, "it is Bob");
  PHASM_EXPECT(run.detail, R"({"error":{"kind":"bob","code":7,"retryable":false},"attempt":4})");
  run = phasm_test_run({.inputs = R"({"name": "Eve", "how-many": "x", "tags": [1], "limits": {"a": true}})"});
  PHASM_EXPECT(run.message, "input `name`: expected `Ada` or `Bob`, got string \"Eve\"; "
                            "input `how-many`: expected an integer from 0 to 9, got string \"x\"; "
                            "input `tags[0]`: expected a string, got integer `1`; "
                            "input `limits.a`: expected an integer, got boolean `true`");
  PHASM_EXPECT(phasm_test_manifest(),
               R"({"limits":{"memory":"8MiB"},"description":"Says things","inputs":{"type":"object","properties":{)"
               R"("name":{"type":"string","enum":["Ada","Bob"],"description":"A name."},)"
               R"("how-many":{"type":["integer","null"],"minimum":0,"maximum":9,"description":"How many.","default":2},)"
               R"("ratio":{"type":["number","null"],"description":"A ratio.","default":0.5},)"
               R"("flag":{"type":["boolean","null"],"description":"A flag.","default":true},)"
               R"("nick":{"type":["string","null"],"description":"Another name."},)"
               R"("tags":{"type":["array","null"],"items":{"type":"string"},"description":"Tags.","default":["a"]},)"
               R"("limits":{"type":["object","null"],"additionalProperties":{"type":"integer"},"description":"Limits.","default":{}},)"
               R"("anything":{"description":"Anything."}},"required":["name"],"additionalProperties":false},)"
               R"("outputs":{"type":"object","properties":{"said":{"type":"string","description":"What was said."},)"
               R"("numbers":{"type":"array","items":{"type":"integer"},"description":"Numbers."},"anything":{"description":"Anything."}},)"
               R"("required":["said"],"additionalProperties":false}})");
  return phasm_test_end();
}
