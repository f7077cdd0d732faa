/* SPDX-License-Identifier: MIT
 *
 * A compile_result as bytes: what a worker answers with and what a cache entry holds.
 * Ticket and from_cache are the caller's and not part of it.
 */
#ifndef COMPILE_RESULT_H
#define COMPILE_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "compile/compiler.h"

/* Names everything that the bytes depend on (layout, order of the flags): part of a cache key,
 * so that old bytes are never misread. */
extern const char compile_result_layout[];

void compile_result_pack(const struct compile_result *result, struct text *bytes);
/* False, and an empty result, if the bytes are not a packed result. */
bool compile_result_unpack(const char *bytes, size_t size, struct compile_result *result);

/* An outcome without a kernel; log is copied. */
void compile_result_set(struct compile_result *result, enum outcome outcome, const char *log);

#endif
