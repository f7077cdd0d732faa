/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void memory_exhausted(size_t size)
{
	fprintf(stderr, "tiletune: out of memory (%zu bytes were requested)\n", size);
	abort();
}

void *memory_zeroed(size_t count, size_t size)
{
	void *data = calloc(count ? count : 1, size ? size : 1);

	if (!data)
		memory_exhausted(count * size);
	return data;
}

void *memory_resize(void *old, size_t count, size_t size)
{
	size_t bytes;
	void *data;

	if (__builtin_mul_overflow(count, size, &bytes))
		memory_exhausted(SIZE_MAX);
	data = realloc(old, bytes ? bytes : 1);
	if (!data)
		memory_exhausted(bytes);
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
