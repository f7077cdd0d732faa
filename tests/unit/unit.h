/* SPDX-License-Identifier: MIT
 *
 * Included by every unit test: cmocka's headers in the required order, tests that register
 * themselves, and shorthands. A test is
 *
 * 	TEST(states_a_behaviour)
 * 	{
 * 		assert_true(...);
 * 	}
 *
 * One program holds the tests of all files; unit.c has its main(). `unit score` runs the tests of
 * test_score.c in the order of the file, and TEST=NAME (with *) in the environment selects some of
 * them.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"

/* The tests of one file. */
struct unit_group {
	const char *file;
	struct CMUnitTest tests[128];
	size_t count;
	CMFixtureFunction setup, teardown;    /* for all tests together */
	int (*before)(int argc, char **argv); /* see BEFORE_TESTS */
	struct unit_group *next;
};

void unit_group_register(struct unit_group *group); /* unit.c */

static struct unit_group unit_tests = {.file = __BASE_FILE__};

__attribute__((constructor)) static void unit_register(void)
{
	unit_group_register(&unit_tests);
}

static inline void unit_add(struct CMUnitTest test)
{
	if (unit_tests.count == sizeof(unit_tests.tests) / sizeof(unit_tests.tests[0]))
		abort(); /* the table has no room for more tests */
	unit_tests.tests[unit_tests.count++] = test;
}

/* Defines a test with its own setup and teardown, which are called with `state`. */
#define TEST_WITH(name, setup, teardown)                                                           \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void name##_add(void)                                  \
	{                                                                                          \
		unit_add((struct CMUnitTest)cmocka_unit_test_setup_teardown(                       \
			name, setup, teardown));                                                   \
	}                                                                                          \
	static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Defines setup and teardown that run once for all tests of the file. */
#define TEST_GROUP(setup_all, teardown_all)                                                        \
	__attribute__((constructor)) static void unit_group(void)                                  \
	{                                                                                          \
		unit_tests.setup = (setup_all);                                                    \
		unit_tests.teardown = (teardown_all);                                              \
	}

/* Called before the tests with main()'s arguments, also in processes that the code under test
 * starts from this program. Returns RUN_TESTS, or the exit code of a worker process. */
enum {
	RUN_TESTS = -1
};
#define BEFORE_TESTS(function)                                                                     \
	__attribute__((constructor)) static void unit_before(void)                                 \
	{                                                                                          \
		unit_tests.before = (function);                                                    \
	}

/* The call must succeed; otherwise its message is printed. */
#define assert_ok(call)                                                                            \
	do {                                                                                       \
		if ((call) != STATUS_OK)                                                           \
			fail_msg("%s: %s", #call, err.message);                                    \
	} while (0)

/* The call must fail with this status and a message that contains this text. */
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
