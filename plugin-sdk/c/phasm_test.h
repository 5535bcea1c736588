// Calls the executor of this program natively, in an ordinary test program.
#ifndef PHASM_TEST_H
#define PHASM_TEST_H

#include "phasm.h"

#ifdef __cplusplus
extern "C" {
#endif

// An invocation; all zero it is the first attempt of a task, without inputs, config or deadline.
typedef struct {
  // JSON objects.
  const char *inputs, *config;
  uint32_t attempt;
  bool resumed;
  const char *resumed_by;
  // Seconds that are left.
  double remaining;
} phasm_test;

// Result of a tested call. It lives until the next one.
typedef struct {
  int32_t code;
  const char *message;
  // JSON objects.
  const char *outputs, *detail;
  // Calls to the host, a line each: `info text`, `progress 0.5 text`, `heartbeat`.
  const char *log;
} phasm_result;

// Calls the executor as the host would.
phasm_result phasm_test_run(phasm_test test);
// Returns the manifest, or aborts with what is wrong with the declarations.
const char *phasm_test_manifest(void);
// Notes a failure, with both texts, unless they are equal.
#define PHASM_EXPECT(ACTUAL, EXPECTED) phasm_test_expect(__FILE__, __LINE__, #ACTUAL, ACTUAL, EXPECTED)
// Notes a failure, with both numbers, unless they are equal.
#define PHASM_EXPECT_CODE(ACTUAL, EXPECTED) phasm_test_expect_code(__FILE__, __LINE__, #ACTUAL, ACTUAL, EXPECTED)
void phasm_test_expect(const char *file, int line, const char *what, const char *actual, const char *expected);
void phasm_test_expect_code(const char *file, int line, const char *what, int32_t actual, int32_t expected);
// Prints how the expectations were met, and returns the status of the program.
int phasm_test_end(void);

#ifdef __cplusplus
}
#endif
#endif
