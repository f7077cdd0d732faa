/* SPDX-License-Identifier: MIT
 *
 * Allocation that does not fail: without memory there is nothing a tuner could still do, so the
 * program says so and aborts (the journal is flushed line by line and loses nothing).
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

void *memory_zeroed(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *memory_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
void *memory_copy(const void *data, size_t size) __attribute__((malloc, returns_nonnull));

/* Makes room for one more in an array: `ARRAY_GROW(items, count, capacity)`, then items[count++].
 * capacity may be 0 where it is not known. */
#define ARRAY_GROW(items, count, capacity)                                                         \
	do {                                                                                       \
		if ((count) >= (capacity)) {                                                       \
			(capacity) = (count) < 4 ? 8 : 2 * (count);                                \
			(items) = memory_resize((items), (capacity), sizeof(*(items)));            \
		}                                                                                  \
	} while (0)

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
