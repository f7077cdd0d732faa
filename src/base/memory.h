/* SPDX-License-Identifier: MIT
 *
 * Allocation that does not fail: without memory there is nothing a tuner could still do, so the
 * program says so and aborts (the journal is flushed line by line and loses nothing).
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* For what allocates by other means: says that `size` bytes are not available, and aborts. */
_Noreturn void memory_exhausted(size_t size);
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

/* Releases a variable when its scope ends, however that happens: `CLEANUP(text_release) struct text
 * text = {0};`, `CLEANUP(memory_free) char *path = NULL;`. The variable is initialised where it is
 * declared. What the caller shall own is set to zero (a pointer to NULL) once it was handed over.
 */
#define CLEANUP(release) __attribute__((cleanup(release)))
void memory_free(void *pointer_to_pointer);

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
