/* SPDX-License-Identifier: MIT
 *
 * The bytes that cross between compiler and worker, and that lie in the cache: numbers and
 * counted strings, host byte order (both sides are one machine). Writing appends to a text;
 * reading is checked and never leaves its input: after the first bad read everything reads as
 * empty and `bad` is set, so that a caller checks once, at the end.
 */
#ifndef COMPILE_WIRE_H
#define COMPILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Kinds of messages. */
enum wire_kind {
	WIRE_LOAD = 1, /* to the worker: string path, u64 whether to try a compilation */
	WIRE_LOADED,   /* from it: string path, string identity, u64 major */
	WIRE_REFUSED,  /* from it: string reason */
	WIRE_COMPILE,  /* to the worker: name, source, arch, options, entries */
	WIRE_COMPILED, /* from it: a packed compile_result */
};

struct wire_reader {
	const char *at;
	size_t left;
	bool bad;
};

void wire_put_u64(struct text *text, uint64_t value);
void wire_put_bytes(struct text *text, const void *data, size_t size);
void wire_put_string(struct text *text, const char *string);
void wire_put_strings(struct text *text, char *const *strings, size_t count);

uint64_t wire_get_u64(struct wire_reader *reader);
/* Borrowed from the input; "" and 0 when bad. */
const char *wire_get_bytes(struct wire_reader *reader, size_t *size);
char *wire_get_string(struct wire_reader *reader); /* never NULL; caller frees */
/* A count that the rest of the input can hold, each element taking at least `smallest` bytes. */
size_t wire_get_count(struct wire_reader *reader, size_t smallest);
/* Caller frees with wire_strings_free(). */
char **wire_get_strings(struct wire_reader *reader, size_t *count);
void wire_strings_free(char **strings, size_t count);

#endif
