// JSON texts: right ones, wrong ones, and those of somebody who means harm.
#include "../internal.h"
#include "../phasm_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The text as it is written again, or the error.
static const char *again(const char *data, size_t size) {
  const char *error = NULL;
  const phasm_json *value = phasm_json_parse(data, size, &error);
  if (value == NULL)
    return error;
  phasm_text text = phasm_json_write(value, &error);
  return error == NULL ? text.data : error;
}

static void expect(const char *json, const char *expected) { PHASM_EXPECT(again(json, strlen(json)), expected); }

static void right_ones(void) {
  expect(" null ", "null");
  expect("[true,\tfalse\r\n]", "[true,false]");
  expect("{ }", "{}");
  expect("{\"a\" : [ ] , \"\" : {\"b\":1}}", "{\"a\":[],\"\":{\"b\":1}}");
  expect("-0", "-0");
  // Digits stay as they are.
  expect("[9223372036854775808, 1.10, 1e400, -12.5E-3]", "[9223372036854775808,1.10,1e400,-12.5E-3]");
  expect("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\"", "\"\\\"\\\\/\\b\\f\\n\\r\\tä\"");
  expect("\"\\u0000\\u001F\"", "\"\\u0000\\u001f\"");
  expect("\"\\ud83d\\uDE00 \\uffff \\u0800\"", "\"😀 \xef\xbf\xbf ࠀ\"");
  expect("\"日本語 \xf4\x8f\xbf\xbf\"", "\"日本語 \xf4\x8f\xbf\xbf\"");
}

static void wrong_ones(void) {
  static const char *const rows[][2] = {
      {"", "expected a value at byte 0"},
      {"[1,]", "expected a value at byte 3"},
      {"[1 2]", "expected `,` or the end of a list or object at byte 3"},
      {"{\"a\" 1}", "expected `:` after the name of a member at byte 5"},
      {"{a:1}", "expected the name of a member at byte 1"},
      {"nul", "expected a value at byte 0"},
      {"nulll", "expected the end after the value at byte 4"},
      {"01", "expected the end after the value at byte 1"},
      {"-", "expected a digit at byte 1"},
      {"+1", "expected a value at byte 0"},
      {"1.", "expected a digit at byte 2"},
      {"1e+", "expected a digit at byte 3"},
      {".5", "expected a value at byte 0"},
      {"NaN", "expected a value at byte 0"},
      {"\"", "a string has no end at byte 1"},
      {"\"\\\"", "a string has no end at byte 1"},
      {"\"\\x\"", "expected one of \"\\/bfnrtu after a backslash at byte 3"},
      {"\"\\u12\"", "expected four hexadecimal digits after \\u at byte 6"},
      {"\"\n\"", "a control character in a string is not escaped at byte 1"},
      {"\"\\ud800\"", "half of a surrogate pair stands alone at byte 7"},
      {"\"\\udc00\"", "half of a surrogate pair stands alone at byte 7"},
      {"\"\\ud800\\u0041\"", "half of a surrogate pair stands alone at byte 13"},
      {"\"\xc0\x80\"", "a string is not UTF-8 at byte 1"},
      {"\"\xed\xa0\x80\"", "a string is not UTF-8 at byte 1"},
      {"\"\xf4\x90\x80\x80\"", "a string is not UTF-8 at byte 1"},
      {"\"\xe2\x82\"", "a string is not UTF-8 at byte 1"},
  };
  for (size_t at = 0; at < sizeof rows / sizeof *rows; at++)
    expect(rows[at][0], rows[at][1]);
}

static void deep_and_huge_ones(void) {
  enum { HUGE = 1 << 20 };
  char *text = phasm_alloc(2 * HUGE + 2);
  memset(text, '[', HUGE);
  PHASM_EXPECT(again(text, HUGE), "lists and objects are nested too deeply at byte 257");
  memset(text + 256, ']', 256);
  PHASM_EXPECT_CODE(phasm_json_parse(text, 512, NULL) != NULL, true);
  text[0] = '"';
  memset(text + 1, 'x', 2 * HUGE);
  text[2 * HUGE] = '"';
  PHASM_EXPECT_CODE((int32_t)phasm_json_parse(text, 2 * HUGE + 1, NULL)->text.size, 2 * HUGE - 1);
  text[0] = '[';
  for (size_t at = 1; at < 2 * HUGE; at += 2)
    memcpy(text + at, "1,", 2);
  text[2 * HUGE] = ']';
  PHASM_EXPECT_CODE((int32_t)phasm_json_parse(text, 2 * HUGE + 1, NULL)->size, HUGE);
  // What cannot be read is not written.
  phasm_json *list = phasm_json_list();
  for (int i = 0; i < 300; i++) {
    phasm_json *outer = phasm_json_list();
    phasm_json_add(outer, list);
    list = outer;
  }
  const char *error = NULL;
  phasm_json_write(list, &error);
  PHASM_EXPECT(error, "lists and objects are nested too deeply");
}

// Beginnings of a text, and texts with other bytes: each is an error, or is read the same again.
static void mutated_ones(void) {
  static const char seed[] = "{\"a\\u00e4\":[1,-2.5e3,\"\\ud83d\\ude00日\",true,null,{\"b\":{}}],\"c\":\"\\\\\"}";
  uint32_t random = 1;
  int readable = 0;
  for (size_t size = 0; size + 1 < sizeof seed - 1; size++)
    PHASM_EXPECT_CODE(phasm_json_parse(phasm_text_copy(seed, size).data, size, NULL) == NULL, true);
  for (int round = 0; round < 200000; round++) {
    char text[sizeof seed];
    memcpy(text, seed, sizeof seed);
    for (int change = 0; change < 1 + round % 3; change++) {
      random = random * 1664525 + 1013904223;
      text[(random >> 8) % (sizeof seed - 1)] = (char)(random >> 24);
    }
    // In memory of exactly its size, so that a sanitizer sees a byte too far.
    char *exact = malloc(sizeof seed - 1);
    memcpy(exact, text, sizeof seed - 1);
    const phasm_json *value = phasm_json_parse(exact, sizeof seed - 1, NULL);
    free(exact);
    if (value != NULL) {
      phasm_text written = phasm_json_write(value, NULL);
      if (written.size == 0 || strcmp(again(written.data, written.size), written.data) != 0)
        PHASM_EXPECT(again(written.data, written.size), written.data);
      readable++;
    }
    if (round % 1000 == 0)
      phasm_free_all();
  }
  PHASM_EXPECT_CODE(readable > 1000, true);
}

static void values(void) {
  int64_t integer;
  double number;
  static const struct {
    const char *json;
    bool is_integer, is_number;
  } rows[] = {
      {"9223372036854775807", true, false}, {"-9223372036854775808", true, true}, {"9223372036854775808", false, false},
      {"9007199254740993", true, false},    {"9007199254740992", true, true},     {"1.0", false, true},
      {"1e400", false, false},              {"\"1\"", false, false},              {"true", false, false},
  };
  for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
    const phasm_json *value = phasm_json_parse(rows[at].json, strlen(rows[at].json), NULL);
    PHASM_EXPECT_CODE(phasm_json_integer(value, &integer), rows[at].is_integer);
    PHASM_EXPECT_CODE(phasm_json_number(value, &number), rows[at].is_number);
  }
  static const struct {
    double number;
    const char *json;
  } numbers[] = {{0.1, "0.1"}, {1, "1.0"}, {1e300, "1e+300"}, {1.0 / 3, "0.3333333333333333"}, {-2.5, "-2.5"}, {5e-324, "4.94065645841247e-324"}};
  for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++)
    PHASM_EXPECT(phasm_json_write(phasm_json_of_number(numbers[at].number), NULL).data, numbers[at].json);
  const char *error = NULL;
  phasm_json_write(phasm_json_of_number(NAN), &error);
  PHASM_EXPECT(error, "a number is not finite");
  phasm_json_write(phasm_json_of_string("\xff"), &error);
  PHASM_EXPECT(error, "a string is not UTF-8");

  phasm_json *object = phasm_json_object(), *list = phasm_json_list();
  phasm_json_add(list, phasm_json_of_integer(INT64_MIN));
  phasm_json_add(list, list);
  phasm_json_set(object, "a", list);
  phasm_json_set(object, "b", phasm_json_of_boolean(true));
  phasm_json_set(object, "a", phasm_json_null());
  phasm_json_set(object, "c", list);
  PHASM_EXPECT(phasm_json_write(object, NULL).data,
               "{\"a\":null,\"b\":true,\"c\":[-9223372036854775808,[-9223372036854775808]]}");
  PHASM_EXPECT_CODE(phasm_json_item(list, 2) == NULL && phasm_json_item(list, 1)->type == PHASM_LIST, true);
  static const char twice[] = "{\"a\":1,\"a\":\"x\\u0000\"}";
  const phasm_json *last = phasm_json_member(phasm_json_parse(twice, sizeof twice - 1, NULL), "a");
  PHASM_EXPECT_CODE(last->type == PHASM_STRING && phasm_json_string(last) == NULL && last->text.size == 2, true);
  PHASM_EXPECT(phasm_lossy("a\xff\xc3", 3).data, "a\xef\xbf\xbd\xef\xbf\xbd");
}

// Nothing is called here.
const phasm_executor *phasm_this(void) { return NULL; }

int main(void) {
  right_ones();
  wrong_ones();
  deep_and_huge_ones();
  mutated_ones();
  values();
  return phasm_test_end();
}
