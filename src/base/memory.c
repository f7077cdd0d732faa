/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void out_of_memory(size_t size)
{
	fprintf(stderr, "tiletune: out of memory (asked for %zu bytes)\n", size);
	abort();
}

void *memory_zeroed(size_t count, size_t size)
{
	void *data = calloc(count ? count : 1, size ? size : 1);

	if (!data)
		out_of_memory(count * size);
	return data;
}

void *memory_resize(void *old, size_t count, size_t size)
{
	size_t bytes;
	void *data;

	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory(SIZE_MAX);
	data = realloc(old, bytes ? bytes : 1);
	if (!data)
		out_of_memory(bytes);
	return data;
}

void *memory_copy(const void *data, size_t size)
{
	void *copy = memory_zeroed(1, size);

	if (size)
		memcpy(copy, data, size);
	return copy;
}

void memory_free(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}
