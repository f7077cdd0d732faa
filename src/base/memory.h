/* SPDX-License-Identifier: MIT
 *
 * Allocation that does not fail: without memory, the program aborts.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* Aborts; other allocators call this. */
_Noreturn void memory_exhausted(size_t size);
void *memory_zeroed(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *memory_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
void *memory_copy(const void *data, size_t size) __attribute__((malloc, returns_nonnull));

/* Makes room for items[count++]. capacity is 0 if it is unknown. */
#define ARRAY_GROW(items, count, capacity)                                                         \
	do {                                                                                       \
		if ((count) >= (capacity)) {                                                       \
			(capacity) = (count) < 4 ? 8 : 2 * (count);                                \
			(items) = memory_resize((items), (capacity), sizeof(*(items)));            \
		}                                                                                  \
	} while (0)

/* Releases a variable at the end of its scope: `CLEANUP(text_release) struct text text = {0};`.
 * Initialise it at its declaration; to hand its value over, set it to zero or NULL. */
#define CLEANUP(release) __attribute__((cleanup(release)))
void memory_free(void *pointer_to_pointer);

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
