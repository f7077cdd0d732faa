/* SPDX-License-Identifier: MIT
 *
 * Suites: where they are found, and their valid content. tests/checks/schemas.py checks those of
 * configs.
 */
#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "advise/suite.h"

#define HEAD "{\"format\":\"tiletune.suite/1\",\"operation\":\"gemm\""

static const char *const here[] = {".", NULL};
static const char *const nowhere[] = {NULL};

TEST(a_suite_has_its_problems_and_options)
{
	static const char text[] = HEAD
		",\"name\":\"n\",\"summary\":\"s\",\"effort\":\"quick\",\"where\":\"BM == 64\","
		"\"families\":[\"mma\"],\"problems\":[\"M=1\",\"M=2\"]}";
	char path[] = TEST_SCRATCH "/tiletune-suite-XXXXXX";
	struct error err = {0};
	struct suite suite;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_ok(file_write(path, text, strlen(text), &err));
	assert_ok(suite_load(path, nowhere, &suite, &err));
	assert_string_equal(suite.file, path);
	assert_string_equal(suite.operation, "gemm");
	assert_string_equal(suite.effort, "quick");
	assert_string_equal(suite.where, "BM == 64");
	assert_string_equal(suite.problems[0], "M=1");
	assert_string_equal(suite.problems[1], "M=2");
	assert_null(suite.problems[2]);
	assert_string_equal(suite.families[0], "mma");
	assert_null(suite.families[1]);
	suite_release(&suite);
	assert_null(suite.root);
	/* these members may be omitted */
	assert_ok(file_write(path, HEAD ",\"problems\":[\"M=1\"]}",
		strlen(HEAD ",\"problems\":[\"M=1\"]}"), &err));
	assert_ok(suite_load(path, nowhere, &suite, &err));
	assert_null(suite.where);
	assert_null(suite.effort);
	assert_null(suite.families);
	suite_release(&suite);
	unlink(path);
}

TEST(a_suite_is_found_by_name_and_path)
{
	static const char *const names[] = {
		"smoke", "smoke.json", "configs/suites/smoke.json", "./configs/suites/smoke.json"};
	struct error err = {0};
	struct suite suite;

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		assert_ok(suite_load(names[i], here, &suite, &err));
		assert_string_equal(path_name(suite.file), "smoke.json");
		suite_release(&suite);
	}
	assert_fails(suite_load("smoke", nowhere, &suite, &err), STATUS_BAD_INPUT,
		"suite \"smoke\": there is no such file and no suite of this name");
	assert_fails(suite_load("smokey", here, &suite, &err), STATUS_BAD_INPUT, "smokey");
	assert_fails(suite_load("", here, &suite, &err), STATUS_BAD_INPUT, "no suite of this name");
}
