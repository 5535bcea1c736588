// Memory that lives to the end of the call, and texts in it.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One piece of memory; the bytes follow.
typedef struct piece {
  struct piece *before;
  max_align_t bytes[];
} piece;

static piece *pieces;

void *phasm_alloc(size_t size) {
  piece *made = size > SIZE_MAX - sizeof(piece) ? NULL : calloc(1, sizeof(piece) + size);
  if (made == NULL) {
    fprintf(stderr, "there is no memory for %zu bytes\n", size);
    abort();
  }
  made->before = pieces;
  pieces = made;
  return made->bytes;
}

void phasm_free_all(void) {
  while (pieces != NULL) {
    piece *before = pieces->before;
    free(pieces);
    pieces = before;
  }
}

phasm_text phasm_text_copy(const char *data, size_t size) {
  char *copy = phasm_alloc(size + 1);
  if (size > 0)
    memcpy(copy, data, size);
  return (phasm_text){copy, size};
}

const char *phasm_vformat(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int size = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (size < 0)
    return format;
  char *text = phasm_alloc((size_t)size + 1);
  vsnprintf(text, (size_t)size + 1, format, arguments);
  return text;
}

const char *phasm_format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = phasm_vformat(format, arguments);
  va_end(arguments);
  return text;
}

// Makes room for so many more bytes and a zero.
static void grow(phasm_buffer *buffer, size_t size) {
  if (size < buffer->capacity - buffer->size)
    return;
  // The old piece stays until the end of the call; doubling keeps the sum within twice the size.
  size_t capacity = (buffer->size + size + 1) * 2;
  char *grown = phasm_alloc(capacity);
  if (buffer->size > 0)
    memcpy(grown, buffer->data, buffer->size);
  buffer->data = grown;
  buffer->capacity = capacity;
}

void phasm_append_bytes(phasm_buffer *buffer, const char *data, size_t size) {
  grow(buffer, size);
  if (size > 0)
    memcpy(buffer->data + buffer->size, data, size);
  buffer->size += size;
  buffer->data[buffer->size] = '\0';
}

void phasm_append(phasm_buffer *buffer, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int size = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (size > 0) {
    grow(buffer, (size_t)size);
    vsnprintf(buffer->data + buffer->size, (size_t)size + 1, format, arguments);
    buffer->size += (size_t)size;
  }
  va_end(arguments);
}

const char *phasm_string(const phasm_buffer *buffer) { return buffer->data == NULL ? "" : buffer->data; }

size_t phasm_utf8(const char *data, size_t size) {
  const unsigned char *at = (const unsigned char *)data;
  if (size == 0)
    return 0;
  if (at[0] < 0x80)
    return 1;
  size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  if (at[0] < 0xc2 || at[0] > 0xf4 || size < length)
    return 0;
  // Neither longer than needed, nor half of a surrogate pair, nor beyond the last character.
  unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
  unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
  if (at[1] < low || at[1] > high)
    return 0;
  for (size_t i = 2; i < length; i++)
    if (at[i] < 0x80 || at[i] > 0xbf)
      return 0;
  return length;
}

phasm_text phasm_lossy(const char *data, size_t size) {
  phasm_buffer buffer = {0};
  size_t valid = 0;
  for (size_t at = 0; at < size;) {
    size_t length = phasm_utf8(data + at, size - at);
    if (length == 0) {
      phasm_append_bytes(&buffer, data + valid, at - valid);
      phasm_append_bytes(&buffer, "\xef\xbf\xbd", 3);
      valid = at + 1;
    }
    at += length == 0 ? 1 : length;
  }
  phasm_append_bytes(&buffer, data + valid, size - valid);
  return (phasm_text){phasm_string(&buffer), buffer.size};
}
