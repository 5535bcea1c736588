// SDK for executors in C: declared inputs and outputs, and a function between them. README.md has an example.
//
// Everything that these functions return lives to the end of the call; nothing has to be freed.
#ifndef PHASM_H
#define PHASM_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Checks the arguments of functions that format like printf.
#define PHASM_PRINTF(FORMAT, FIRST) __attribute__((format(printf, FORMAT, FIRST)))

// Types of JSON values. PHASM_ANY is for declarations only.
typedef enum {
  PHASM_ANY,
  PHASM_NULL,
  PHASM_BOOLEAN,
  // A number without fraction and exponent.
  PHASM_INTEGER,
  // Any other number. Declared, it stands for integers, too.
  PHASM_NUMBER,
  PHASM_STRING,
  PHASM_LIST,
  PHASM_OBJECT,
} phasm_type;

// Characters in UTF-8. A zero byte follows them, and others may be among them.
typedef struct {
  const char *data;
  size_t size;
} phasm_text;

// A JSON value.
typedef struct phasm_json {
  phasm_type type;
  bool boolean;
  // Characters of a string; digits of a number, as they were written.
  phasm_text text;
  // Number of items of a list, or of members of an object.
  size_t size;
  // The first item or member.
  struct phasm_json *first, *last;
  // The following item of the list, or member of the object, that this is one of.
  struct phasm_json *next;
  // Name of a member.
  phasm_text name;
} phasm_json;

// Reads a JSON text; NULL with a reason if it is none.
const phasm_json *phasm_json_parse(const char *data, size_t size, const char **error);
// Returns a member of an object, or NULL.
const phasm_json *phasm_json_member(const phasm_json *object, const char *name);
// Returns an item of a list, or NULL.
const phasm_json *phasm_json_item(const phasm_json *list, size_t at);
// Returns the characters of a string; NULL for other values, and for strings with a zero byte.
const char *phasm_json_string(const phasm_json *value);
// Reads an integer of 64 bits; false for other values.
bool phasm_json_integer(const phasm_json *value, int64_t *integer);
// Reads a number; false for other values, and for integers that a double would round.
bool phasm_json_number(const phasm_json *value, double *number);

phasm_json *phasm_json_null(void);
phasm_json *phasm_json_of_boolean(bool boolean);
phasm_json *phasm_json_of_integer(int64_t integer);
phasm_json *phasm_json_of_number(double number);
phasm_json *phasm_json_of_string(const char *string);
phasm_json *phasm_json_of_text(phasm_text text);
phasm_json *phasm_json_list(void);
phasm_json *phasm_json_object(void);
// Adds a copy of a value to a list.
void phasm_json_add(phasm_json *list, const phasm_json *value);
// Adds a copy of a value to an object; one of the same name is replaced.
void phasm_json_set(phasm_json *object, const char *name, const phasm_json *value);
// Returns the JSON text; empty, with a reason, for a value that has none.
phasm_text phasm_json_write(const phasm_json *value, const char **error);

// Returns memory, all zero, that lives to the end of the call. Where there is none left, the program aborts.
void *phasm_alloc(size_t size);
// Formats a text.
const char *phasm_format(const char *format, ...) PHASM_PRINTF(1, 2);

// A text that grows; all zero at first.
typedef struct {
  char *data;
  size_t size, capacity;
} phasm_buffer;
void phasm_append(phasm_buffer *buffer, const char *format, ...) PHASM_PRINTF(2, 3);
void phasm_append_bytes(phasm_buffer *buffer, const char *data, size_t size);
// Returns what the buffer has.
const char *phasm_string(const phasm_buffer *buffer);

// One dispatch of one attempt of a task.
typedef struct {
  // `executor.config`. Inputs that are not given are looked up here.
  const phasm_json *config;
  // The inputs that the task or `config` gives, and the same with defaults.
  const phasm_json *given, *inputs;
  const char *run_id, *workflow, *workflow_namespace, *task_run_id, *task;
  // Counts attempts, from 1; a resumed attempt keeps its number.
  uint32_t attempt;
  // Counts dispatches of the task run, from 1; a resume is a new dispatch.
  uint32_t dispatch;
  // Set when this attempt was suspended and is called again, the payload among its inputs.
  bool resumed;
  // The caller that has resumed it, such as `local:ada`, or NULL.
  const char *resumed_by;
  // Seconds until the earliest deadline at the moment of the call; INFINITY without one.
  double remaining;
  // The same for every execution of this dispatch, after a crash too; different for any other.
  const char *idempotency_key;
} phasm_call;

// Whether an input was given, by the task or by `config`.
bool phasm_given(const phasm_call *call, const char *name);

// Outcome of an execution; at first code 0 without outputs.
typedef struct {
  int32_t code;
  const char *message;
  phasm_json *outputs, *detail;
} phasm_outcome;

enum { PHASM_SUCCEEDED, PHASM_SUSPENDED, PHASM_FAILED, PHASM_ERROR, PHASM_TIMEOUT };

void phasm_output_string(phasm_outcome *outcome, const char *name, const char *string);
void phasm_output_integer(phasm_outcome *outcome, const char *name, int64_t integer);
void phasm_output_number(phasm_outcome *outcome, const char *name, double number);
void phasm_output_boolean(phasm_outcome *outcome, const char *name, bool boolean);
void phasm_output_json(phasm_outcome *outcome, const char *name, const phasm_json *value);
// Code 1: waits for a resume, saying what for. The executor is then called again with `resumed` set.
void phasm_suspended(phasm_outcome *outcome, const char *format, ...) PHASM_PRINTF(2, 3);
// Code 1 after a resume: refuses the response and waits for another.
void phasm_refused(phasm_outcome *outcome, const char *format, ...) PHASM_PRINTF(2, 3);
// Code 2: another attempt would fail, too. `kind` is a word that policy rules compare, or NULL.
void phasm_failed(phasm_outcome *outcome, const char *kind, const char *format, ...) PHASM_PRINTF(3, 4);
// Code 3: misuse or a fault.
void phasm_error(phasm_outcome *outcome, const char *kind, const char *format, ...) PHASM_PRINTF(3, 4);
// Code 4: took too long.
void phasm_timeout(phasm_outcome *outcome, const char *format, ...) PHASM_PRINTF(2, 3);
// Sets `error.code`, such as a status of a service.
void phasm_error_code(phasm_outcome *outcome, const phasm_json *code);
// Sets `error.retryable`. After false, `retry` without a condition makes no other attempt.
void phasm_retryable(phasm_outcome *outcome, bool retryable);
// Adds to the detail that policy rules read as `outcome.NAME`.
void phasm_detail(phasm_outcome *outcome, const char *name, const phasm_json *value);

typedef enum { PHASM_LOG_TRACE, PHASM_LOG_DEBUG, PHASM_LOG_INFO, PHASM_LOG_WARN, PHASM_LOG_ERROR } phasm_level;
// Writes one log line. An attempt that writes more than its limit ends with code 3.
void phasm_log(phasm_level level, const char *format, ...) PHASM_PRINTF(2, 3);
#define phasm_debug(...) phasm_log(PHASM_LOG_DEBUG, __VA_ARGS__)
#define phasm_info(...) phasm_log(PHASM_LOG_INFO, __VA_ARGS__)
#define phasm_warn(...) phasm_log(PHASM_LOG_WARN, __VA_ARGS__)
// Reports progress: a fraction from 0 to 1, NAN where it is not known, and a few words.
void phasm_progress(double fraction, const char *format, ...) PHASM_PRINTF(2, 3);
// Reports that the work continues, so that `maxInactivity` starts again.
void phasm_heartbeat(void);

// Type of the member of a struct that an input goes to.
typedef enum {
  PHASM_MEMBER_NONE,
  PHASM_MEMBER_STRING,
  PHASM_MEMBER_TEXT,
  PHASM_MEMBER_INTEGER,
  PHASM_MEMBER_NUMBER,
  PHASM_MEMBER_BOOLEAN,
  PHASM_MEMBER_JSON,
} phasm_member;

// Declaration of an input or output.
typedef struct {
  const char *name;
  // Name in workflows, where it differs.
  const char *as;
  // Type; of an input that goes to a struct, by default that of the member.
  phasm_type type;
  // Type of the items of a list, or of the values of an object.
  phasm_type items;
  // Description.
  const char *doc;
  // Bounds of a number, as JSON.
  const char *minimum, *maximum;
  // The strings that are allowed, with NULL at the end.
  const char *const *choices;
  // Value of an input that is not given, as JSON.
  const char *fallback;
  // Whether it may be absent.
  bool optional;
  phasm_member member;
  size_t offset;
} phasm_field;

// An executor, as PHASM_EXECUTOR declares it.
typedef struct {
  const char *description;
  const phasm_field *inputs;
  size_t inputs_size;
  // Without a declaration there may be any outputs.
  const phasm_field *outputs;
  size_t outputs_size;
  // Further members of the manifest, as a JSON object: `wants`, `retry`, `maxRuntime`, `maxInactivity`, `limits`, `suspends`.
  const char *manifest;
  // Size of the struct of the inputs.
  size_t size;
  void (*run)(const phasm_call *call, const void *inputs, phasm_outcome *outcome);
} phasm_executor;

// The executor of this program.
extern const phasm_executor *phasm_this(void);

#ifdef __cplusplus
}
#else

// An input that has to be given: the struct, its member, the description, and more members of phasm_field.
#define PHASM_REQUIRED(STRUCT, MEMBER, ...) \
  { .name = #MEMBER, .member = PHASM_MEMBER_OF(STRUCT, MEMBER), .offset = offsetof(STRUCT, MEMBER), .doc = __VA_ARGS__ }
// An input with a default, as JSON; with NULL the member stays zero.
#define PHASM_OPTIONAL(STRUCT, MEMBER, DEFAULT, ...) \
  { .name = #MEMBER, .member = PHASM_MEMBER_OF(STRUCT, MEMBER), .offset = offsetof(STRUCT, MEMBER), .optional = true, \
    .fallback = DEFAULT, .doc = __VA_ARGS__ }
#define PHASM_MEMBER_OF(STRUCT, MEMBER) \
  _Generic(((STRUCT *)0)->MEMBER, const char *: PHASM_MEMBER_STRING, phasm_text: PHASM_MEMBER_TEXT, \
    int64_t: PHASM_MEMBER_INTEGER, double: PHASM_MEMBER_NUMBER, bool: PHASM_MEMBER_BOOLEAN, \
    const phasm_json *: PHASM_MEMBER_JSON)
// The arrays of an executor.
#define PHASM_INPUTS(ARRAY) .inputs = ARRAY, .inputs_size = sizeof(ARRAY) / sizeof *(ARRAY)
#define PHASM_OUTPUTS(ARRAY) .outputs = ARRAY, .outputs_size = sizeof(ARRAY) / sizeof *(ARRAY)

// Makes a function the executor of this program: its name, the struct of its inputs, and members of phasm_executor.
#define PHASM_EXECUTOR(FUNCTION, STRUCT, ...) \
  static void FUNCTION##_of_phasm(const phasm_call *call, const void *inputs, phasm_outcome *outcome) { \
    FUNCTION(call, (const STRUCT *)inputs, outcome); \
  } \
  const phasm_executor *phasm_this(void) { \
    static const phasm_executor made = {.size = sizeof(STRUCT), .run = FUNCTION##_of_phasm, __VA_ARGS__}; \
    return &made; \
  }

#endif
#endif
