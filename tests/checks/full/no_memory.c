/* SPDX-License-Identifier: MIT
 *
 * Preloaded: allocation number $FAIL_AT (from 1) and all that follow fail; with FAIL_AT=0 the
 * number of allocations is printed at the end. Those before main() count, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static long fail_at(void)
{
	static long at = -1;

	if (at < 0)
		at = getenv("FAIL_AT") ? atol(getenv("FAIL_AT")) : 0;
	return at;
}

static long count;

static int fails(void)
{
	long number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);

	if (fail_at() == 0 || number < fail_at())
		return 0;
	errno = ENOMEM;
	return 1;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t items, size_t size)
{
	return fails() ? NULL : __libc_calloc(items, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

__attribute__((destructor)) static void tell(void)
{
	char text[32];

	if (fail_at() != 0)
		return;
	snprintf(text, sizeof(text), "allocations %ld\n", count);
	fputs(text, stderr);
}
