// Declarations with errors: all are named at once.
#include "../internal.h"
#include "../phasm_test.h"

struct inputs {
  const char *text;
  int64_t count;
};

static const char *const choices[] = {"a", NULL};

static const phasm_field wrong[] = {
    PHASM_OPTIONAL(struct inputs, text, "1", NULL),
    PHASM_OPTIONAL(struct inputs, text, "x", NULL),
    PHASM_OPTIONAL(struct inputs, count, "9", NULL, .minimum = "many", .maximum = "3"),
    PHASM_REQUIRED(struct inputs, count, NULL, .as = "list", .type = PHASM_LIST, .items = PHASM_STRING),
    PHASM_REQUIRED(struct inputs, count, NULL, .as = "choice", .choices = choices, .items = PHASM_STRING),
    {.type = PHASM_STRING},
};

static const phasm_executor executor = {PHASM_INPUTS(wrong), .manifest = "{\"wnats\": {}}"};

const phasm_executor *phasm_this(void) { return &executor; }

int main(void) {
  const char *error = NULL;
  phasm_manifest(&executor, &error);
  PHASM_EXPECT(error, "`wnats`: not a member of `manifest`; expected wants, retry, deadline, maxRuntime, maxInactivity, limits or suspends; "
                      "default of `text`: expected a string, got integer `1`; `text`: declared twice; "
                      "`text`: the default is no JSON: expected a value at byte 0; "
                      "`count`: minimum: expected a number, of an integer or a number; "
                      "default of `count`: expected an integer from many to 3, got integer `9`; "
                      "`list`: a list does not fit the member of the struct; `choice`: choices are for strings; "
                      "`choice`: items are for lists and objects; input 5 has no name");
  return phasm_test_end();
}
