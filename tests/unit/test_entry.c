/* SPDX-License-Identifier: MIT
 *
 * Kernels as their authors wrote them: options, macros, entry points.
 */
#include "unit/unit.h"
#include "candidate/candidate.h"
#include "unit/kernel_fixture.h"

static bool has_option(const struct build_unit *unit, const char *option)
{
	bool found = false;

	for (size_t i = 0; i < unit->option_count; i++)
		found |= strcmp(unit->options[i], option) == 0;
	return found;
}

/* Options, macros and entry points are those of the author's kernel. */
TEST(options_and_entry_points_are_the_authors)
{
	struct changed changed;
	struct build build;
	struct plan plan;
	struct error err = {0};

	changed_open(&changed, "\"SCALE\": \"1 / 8\"",
		"\"SCALE\": \"1 / 8\", \"T\": {\"value\": \"'const float *' if H > 0 else "
		"'half'\", "
		"\"as\": \"macro TYPE\"}, \"TWO\": {\"value\": \"2*BM\", \"as\": \"macro "
		"BLOCK_N\"}");
	assert_ok(candidate_build(changed.bound, changed.values, &build, &err));
	assert_true(has_option(&build.units[0], "-DTYPE=const float *"));
	assert_true(has_option(&build.units[0], "-DBLOCK_N=128"));
	assert_false(has_option(&build.units[0], "-DTWO=128"));
	build_release(&build);
	changed_close(&changed);
	changed_open(&changed, "\"source\": \"full.cu\"",
		"\"source\": \"full.cu\", \"options\": [\"--use_fast_math\", \"-std=c++20\", "
		"\"-DX='a b'\"]");
	assert_ok(candidate_build(changed.bound, changed.values, &build, &err));
	assert_true(has_option(&build.units[0], "--use_fast_math"));
	assert_true(has_option(&build.units[0], "-std=c++20"));
	assert_true(has_option(&build.units[0], "-DX='a b'"));
	assert_false(has_option(&build.units[0], "--std=c++17"));
	assert_true(has_option(&build.units[0], "-DNDEBUG"));
	build_release(&build);
	changed_close(&changed);
	/* parameters in the entry become template arguments, not macros */
	changed_open(&changed, "\"entry\": \"widget_main\"",
		"\"entry\": \"ns::{MODE}<{BM}, {ALIGNED}, {2*STAGES}>\"");
	assert_ok(candidate_build(changed.bound, changed.values, &build, &err));
	assert_string_equal(build.units[0].entries[0], "ns::plain<64, true, 4>");
	assert_false(has_option(&build.units[0], "-DBM=64"));
	assert_false(has_option(&build.units[0], "-DMODE_plain=1"));
	assert_true(has_option(&build.units[0], "-DTHREADS=128"));
	build_release(&build);
	assert_ok(candidate_plan(changed.bound, changed.values, &plan, &err));
	assert_string_equal(plan.launches[0].entry, "ns::plain<64, true, 4>");
	plan_release(&plan);
	changed_close(&changed);
}

/* A configuration above a limit of the GPU is removed and counted, unless the family has its own
 * constraint for it. */
TEST(configurations_above_a_limit_are_removed_and_counted)
{
	struct changed changed;
	struct error err = {0};
	choice choices[SPACE_PARAMETERS_MAX];
	bool legal, found;

	/* 64 rows need 128 threads */
	changed_open(
		&changed, "\"block\": [\"THREADS\", 1, 1]", "\"block\": [\"16*THREADS\", 1, 1]");
	assert_ok(configuration_default(changed.bound, choices, &found, &err));
	assert_true(found);
	assert_true(configuration_read(
		changed.bound, "BM=80,MODE=plain,STAGES=2,REPEATS=1,ALIGNED=true", choices));
	assert_ok(configuration_is_legal(changed.bound, choices, &legal, &err));
	assert_false(legal);
	assert_fails(configuration_expect_legal(changed.bound, choices, &err), STATUS_BAD_INPUT,
		"(limit of the GPU: threads of a block)");
	assert_true(configuration_read(
		changed.bound, "BM=32,MODE=plain,STAGES=2,REPEATS=1,ALIGNED=true", choices));
	assert_ok(configuration_is_legal(changed.bound, choices, &legal, &err));
	assert_true(legal);
	changed_close(&changed);
}
