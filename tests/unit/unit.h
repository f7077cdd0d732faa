/* SPDX-License-Identifier: MIT
 *
 * What every unit test includes: cmocka in the order that it wants, and a few shorthands.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/error.h"

/* The call must succeed; its message is printed otherwise. */
#define assert_ok(call)                                                                            \
	do {                                                                                       \
		if ((call) != STATUS_OK)                                                           \
			fail_msg("%s: %s", #call, err.message);                                    \
	} while (0)

/* The call must fail with this status and a message that holds this text. */
#define assert_fails(call, expected_status, text)                                                  \
	do {                                                                                       \
		err = (struct error){0};                                                           \
		assert_int_equal((call), (expected_status));                                       \
		if (!strstr(err.message, (text)))                                                  \
			fail_msg("expected \"%s\" in \"%s\"", (text), err.message);                \
	} while (0)

static inline void write_gzip(const char *path, const char *data, size_t size)
{
	gzFile file = gzopen(path, "wb9");

	assert_non_null(file);
	assert_int_equal(gzwrite(file, data, (unsigned)size), (int)size);
	assert_int_equal(gzclose(file), Z_OK);
}

#endif
