// Functions between the files of the SDK.
#ifndef PHASM_INTERNAL_H
#define PHASM_INTERNAL_H

#include "phasm.h"

#include <stdarg.h>

// Frees everything that phasm_alloc returned.
void phasm_free_all(void);
phasm_text phasm_text_copy(const char *data, size_t size);
const char *phasm_vformat(const char *format, va_list arguments);
// Returns the text with U+FFFD for everything that is not UTF-8.
phasm_text phasm_lossy(const char *data, size_t size);
// Number of bytes of the character in UTF-8 at the beginning; 0 if there is none.
size_t phasm_utf8(const char *data, size_t size);
void phasm_json_put(phasm_json *object, phasm_text name, const phasm_json *value);
const phasm_json *phasm_json_find(const phasm_json *object, phasm_text name);

// Returns the manifest as JSON, or the errors of the declarations.
const char *phasm_manifest(const phasm_executor *executor, const char **error);
// Calls the executor; the call's inputs are those that were given.
void phasm_execute(const phasm_executor *executor, phasm_call call, phasm_outcome *outcome);
// The name in workflows.
const char *phasm_field_name(const phasm_field *field);
// The declared type, or that of the member.
phasm_type phasm_field_type(const phasm_field *field);
// Appends what is wrong with a value, if anything is; `path` ends with a backtick.
void phasm_check(const phasm_field *field, const phasm_json *value, const char *path, phasm_buffer *wrong);
// The words for what is expected.
const char *phasm_expected(const phasm_field *field);
// The names of fields, for messages.
const char *phasm_names(const phasm_field *fields, size_t size);
void phasm_set_error(phasm_outcome *outcome, const char *name, const phasm_json *value);

// The functions of the host, or of a test.
void phasm_host_log(phasm_level level, phasm_text text);
void phasm_host_progress(double fraction, phasm_text text);
void phasm_host_heartbeat(void);

#endif
