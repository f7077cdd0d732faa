/* SPDX-License-Identifier: MIT
 *
 * Candidates: applicable families, builds and their hashes, work, and prune rules. Uses the widget,
 * the toy operation and the real templates.
 */
#include <math.h>

#include "unit/unit.h"
#include "unit/kernel_fixture.h"
#include "candidate/candidate_work.h"
#include "space/enumerate.h"
#include "candidate/bound_family.h"

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
		fail_msg("expected %.17g, found %.17g", expected, found);
}

static void open_widget(struct fixture *fixture, const char *problem, const char *configuration)
{
	fixture_open(fixture, KERNEL_TEMPLATES, "widget", "full", problem, configuration, NULL);
}

/* A define contains all digits of its number. */
TEST(defines_contain_all_digits)
{
	struct changed changed;
	struct build build;
	struct error err = {0};
	unsigned seen = 0;

	changed_open(&changed, "\"SCALE\": \"1 / 8\"",
		"\"SCALE\": \"-1/3\", \"LONG\": \"9223372036854775807\"");
	assert_ok(candidate_build(changed.bound, changed.values, &build, &err));
	for (size_t i = 0; i < build.units[0].option_count; i++) {
		const char *option = build.units[0].options[i];

		if (string_starts_with(option, "-DLONG="))
			seen += strcmp(option, "-DLONG=9223372036854775807") == 0;
		if (string_starts_with(option, "-DSCALE="))
			seen += strtod(option + strlen("-DSCALE="), NULL) == -1.0 / 3;
	}
	assert_int_equal(seen, 2);
	build_release(&build);
	changed_close(&changed);
}

/* Negative and infinite amounts of work are errors. */
TEST(negative_and_infinite_amounts_are_refused)
{
	static const char *const wrong[] = {
		"\"dram_read_bytes\": \"-1\"", "\"dram_read_bytes\": \"1e308*1e10\""};

	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
		struct changed changed;
		struct work work;
		struct error err = {0};

		changed_open(&changed, "\"dram_read_bytes\": \"M*N*2\"", wrong[i]);
		assert_fails(candidate_work(changed.bound, changed.values, &work, &err),
			STATUS_BAD_INPUT, "dram_read_bytes");
		changed_close(&changed);
	}
}

static void expect_applies(const struct family *family, const struct problem *problem,
	const char *device, const char *expected)
{
	const char *configs[] = {"configs", NULL};
	struct device_spec *spec;
	struct text why = {0};
	struct error err = {0};
	bool applies;

	assert_ok(device_spec_load(device, configs, &spec, &err));
	assert_ok(family_applies(family, problem, spec, &applies, &why, &err));
	assert_int_equal(applies, *expected == '\0');
	assert_string_equal(text_string(&why), expected);
	assert_ok(family_applies(family, problem, spec, &applies, NULL, &err));
	text_release(&why);
	device_spec_free(spec);
}

TEST(families_say_why_they_do_not_apply)
{
	struct fixture fixture;

	open_widget(&fixture, "M=128,N=64,dtype=fp16,fp32", "");
	expect_applies(fixture.bound->family, fixture.problems.items[0], "h200-sxm", "");
	expect_applies(fixture.bound->family, fixture.problems.items[1], "h200-sxm",
		"dtype in ['fp16', 'bf16']");
	expect_applies(fixture.bound->family, fixture.problems.items[1], "a100-sxm4",
		"compute_capability >= 90");
	fixture_close(&fixture);
}

/* Checks the "options | entries" of a unit. */
static void expect_unit(
	const struct build_unit *unit, const char *name, const char *options, const char *entries)
{
	struct text found = {0};

	assert_string_equal(unit->name, name);
	for (size_t i = 0; i < unit->option_count; i++)
		text_appendf(&found, "%s%s", i ? " " : "", unit->options[i]);
	assert_string_equal(text_string(&found), options);
	text_clear(&found);
	for (size_t i = 0; i < unit->entry_count; i++)
		text_appendf(&found, "%s%s", i ? " " : "", unit->entries[i]);
	assert_string_equal(text_string(&found), entries);
	text_release(&found);
}

#define FIXED_OPTIONS "--std=c++17 -default-device -DNDEBUG --ptxas-options=-v "

TEST(a_configuration_gives_its_options_and_launches)
{
	static const char plain[] =
		FIXED_OPTIONS "-DALIGNED=1 -DBM=64 -DDTYPE_fp16=1 -DH=8 -DKIND_wide=1 "
			      "-DLAYOUT_nk=1 -DMODE_plain=1 -DOUT_DTYPE_fp16=1 -DSCALE=0.125 "
			      "-DSMEM=16384 -DSTAGES=2 -DTHREADS=128";
	static const char fancy[] =
		FIXED_OPTIONS "-DALIGNED=0 -DBM=32 -DDTYPE_bf16=1 -DH=0 -DKIND_narrow=1 "
			      "-DLAYOUT_kn=1 -DMODE_fancy=1 -DOUT_DTYPE_fp32=1 -DSCALE=0.125 "
			      "-DSMEM=4096 -DSTAGES=1 -DTHREADS=64";
	struct fixture fixture;
	struct build build;
	struct error err = {0};
	struct named_values values;
	struct json *defines;
	char *text;

	open_widget(&fixture, small, "");
	assert_ok(candidate_build(fixture.bound, fixture.values, &build, &err));
	assert_int_equal(build.unit_count, 2);
	expect_unit(&build.units[0], "widget/full.cu", plain, "widget_main");
	/* REPEATS=1 does not launch it, but another value of this launch argument would */
	expect_unit(&build.units[1], "widget/reduce.cu", plain, "widget_reduce");
	assert_non_null(strstr(build.units[0].source, "#define CYCLE 1"));
	assert_null(strstr(build.units[0].source, "tests/data"));
	build_release(&build);
	values = candidate_defines(fixture.bound, fixture.values);
	defines = named_values_to_json(&values);
	named_values_release(&values);
	text = json_print(defines, false);
	assert_string_equal(text,
		"{\"ALIGNED\":1,\"BM\":64,\"DTYPE_fp16\":1,\"H\":8,\"KIND_wide\":1,\"LAYOUT_nk\":1,"
		"\"MODE_plain\":1,\"OUT_DTYPE_fp16\":1,\"SCALE\":0.125,\"SMEM\":16384,\"STAGES\":2,"
		"\"THREADS\":128}");
	free(text);
	json_free(defines);
	fixture_close(&fixture);
	open_widget(&fixture, "M=128,N=64,dtype=bf16,out_dtype=fp32,layout=kn,H=0",
		"BM=32,MODE=fancy,STAGES=1,ALIGNED=false");
	assert_ok(candidate_build(fixture.bound, fixture.values, &build, &err));
	expect_unit(&build.units[0], "widget/full.cu", fancy, "widget_main widget_fancy");
	build_release(&build);
	fixture_close(&fixture);
}

static void hash_of(const char *problem, const char *configuration, char digits[HASH_SIZE])
{
	struct fixture fixture;
	struct build build;
	struct error err = {0};

	open_widget(&fixture, problem, configuration);
	assert_ok(candidate_build(fixture.bound, fixture.values, &build, &err));
	memcpy(digits, build.kernel_hash, HASH_SIZE);
	build_release(&build);
	fixture_close(&fixture);
}

/* Configurations that differ only in launch arguments share one cubin. Any other difference
 * changes the hash. */
TEST(the_hash_covers_all_but_launch_arguments)
{
	static const char *const same[][2] = {
		{"M=128,N=64,dtype=fp16", ""},
		{"M=200,N=640,ld=1000,dtype=fp16", ""},
		{"M=256,N=64,dtype=fp16", "REPEATS=4"},
	};
	static const char *const different[][2] = {
		{"M=128,N=64,dtype=fp16", ""},
		{"M=128,N=64,dtype=bf16", ""},
		{"M=128,N=64,dtype=fp16,layout=kn", ""},
		{"M=128,N=64,dtype=fp16,H=9", ""},
		{"M=128,N=64,dtype=fp16", "STAGES=1"},
		{"M=128,N=64,dtype=fp16", "MODE=fancy"},
		{"M=128,N=64,dtype=fp16", "ALIGNED=false"},
	};
	char first[HASH_SIZE], hashes[ARRAY_COUNT(different)][HASH_SIZE];

	hash_of(same[0][0], same[0][1], first);
	assert_int_equal(strlen(first), 32);
	for (size_t i = 1; i < ARRAY_COUNT(same); i++) {
		hash_of(same[i][0], same[i][1], hashes[0]);
		assert_string_equal(hashes[0], first);
	}
	for (size_t i = 0; i < ARRAY_COUNT(different); i++) {
		hash_of(different[i][0], different[i][1], hashes[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(hashes[i], hashes[k]);
	}
}

/* Features of work that no real family has; tests/data/family/amounts.txt covers the families. */
TEST(amounts_follow_from_problem_and_configuration)
{
	struct fixture fixture;
	struct work work;
	const struct launch_work *launch;
	struct error err = {0};

	open_widget(&fixture, "M=100,N=96,ld=104,dtype=fp16",
		"BM=32,MODE=fancy,STAGES=3,REPEATS=2,ALIGNED=true");
	assert_ok(candidate_work(fixture.bound, fixture.values, &work, &err));
	assert_near(work.flop, 3 * 100 * 96.0);
	assert_near(work.min_bytes, 100 * 96 * 4.0);
	assert_int_equal(work.launch_count, 3);
	launch = &work.launches[0];
	assert_near(launch->useful_ratio, 100.0 / 128);
	assert_near(launch->stages, 3);
	assert_near(launch->epilogue_overlap_ratio, 0.5);
	assert_int_equal(launch->dtype, DTYPE_FP16);
	assert_int_equal(launch->smem_access_count, 2);
	assert_true(launch->smem_accesses[1].when); /* the access has a condition */
	assert_int_equal(launch->tile_count, 2);
	assert_int_equal(launch->tiles[0].row_offset_bytes, 6);
	assert_int_equal(launch->tiles[1].pitch_bytes, (96 + 8) * 4);
	launch = &work.launches[1];
	assert_int_equal(launch->schedule, SCHEDULE_STREAM_K);
	assert_int_equal(launch->dtype, DTYPE_FP32);
	assert_int_equal(launch->shape.repeat, 2);
	assert_near(launch->steps_mean, 1);
	assert_near(launch->stages, 1);
	assert_near(launch->useful_ratio, 1);
	assert_int_equal(launch->regs_estimate, 16);           /* 8 is raised to the minimum */
	assert_int_equal(work.launches[2].regs_estimate, 255); /* 300 is lowered to the maximum */
	work_release(&work);
	fixture_close(&fixture);
}

/* Cached addresses must belong to the current configuration, even if more of them alternate than
 * the cache holds. */
TEST(cached_addresses_belong_to_the_current_configuration)
{
	struct fixture fixture;
	struct error err = {0};

	open_widget(&fixture, small, "");
	for (int i = 0; i < 2 * 8 * 3 * 2; i++) {
		int rows = 16 * (1 + i % 8), stages = 1 + i / 8 % 3, aligned = i / 24 % 2;
		char *text = string_format(
			"BM=%d,STAGES=%d,ALIGNED=%s", rows, stages, aligned ? "true" : "false");
		bool given[SPACE_PARAMETERS_MAX];
		struct work work;

		assert_ok(configuration_parse(fixture.bound, text,
			fixture.values + fixture.bound->space->fixed_count, given, &err));
		assert_ok(builder_derive(fixture.bound->space, fixture.values, &err));
		assert_ok(candidate_work(fixture.bound, fixture.values, &work, &err));
		for (int lane = 0; lane < WORK_LANES; lane++)
			assert_int_equal(work.launches[0].smem_accesses[0].address[lane],
				lane * (64 * stages + rows + (aligned ? 0 : 8)));
		work_release(&work);
		free(text);
	}
	fixture_close(&fixture);
}

static void expect_prune(const struct fixture *fixture, struct kernel_resources resources,
	int expected_rule, const char *expected_why)
{
	const char *why = "";
	struct error err = {0};
	int rule;

	assert_ok(candidate_prune(fixture->bound, fixture->values, &resources, 1, 0,
		49152 + resources.smem_static_bytes, &rule, &why, &err));
	assert_int_equal(rule, expected_rule);
	assert_string_equal(why, expected_why);
}

TEST(candidates_that_cannot_run_are_pruned)
{
	struct kernel_resources good = {.regs_per_thread = 64, .blocks_per_sm = 2};
	struct kernel_resources one = good;
	struct kernel_resources several[2] = {good, good};
	struct fixture fixture;
	struct error err = {0};
	const char *why;
	int rule;

	open_widget(&fixture, small, "STAGES=3,BM=128");
	expect_prune(&fixture, good, -1, "");
	one.flags = FLAG_MASK(SETMAXNREG_IGNORED);
	expect_prune(&fixture, one, 0, "the compiler gave up");
	one.flags = FLAG_MASK(WGMMA_SERIALIZED);
	expect_prune(&fixture, one, 0, "the compiler gave up");
	one.flags = FLAG_MASK(SPILLS);
	expect_prune(&fixture, one, -1, "");
	one.stack_bytes = 512;
	expect_prune(&fixture, one, -1, "");
	one.stack_bytes = 513;
	expect_prune(&fixture, one, 1, "spills");
	one.stack_bytes = -1; /* unknown */
	one.spill_store_bytes = 8;
	one.spill_load_bytes = 12;
	expect_prune(&fixture, one, 1, "spills");
	one = good;
	one.blocks_per_sm = 0;
	expect_prune(&fixture, one, 2, "too big");
	one = good;
	one.regs_per_thread = 201;
	expect_prune(&fixture, one, -1, ""); /* passes with 49152 bytes of dynamic shared memory */
	one.smem_static_bytes = 60000;
	expect_prune(&fixture, one, 2, "too big"); /* plus 60000 static bytes */
	several[1].spill_store_bytes = 100;        /* counts for the second launch */
	assert_ok(candidate_prune(
		fixture.bound, fixture.values, several, 2, 0, 0, &rule, &why, &err));
	assert_int_equal(rule, 1);
	/* registers and blocks per SM come from the longest launch */
	several[1] = (struct kernel_resources){.regs_per_thread = 201, .blocks_per_sm = 2};
	assert_ok(candidate_prune(
		fixture.bound, fixture.values, several, 2, 0, 100001, &rule, &why, &err));
	assert_int_equal(rule, -1);
	assert_ok(candidate_prune(
		fixture.bound, fixture.values, several, 2, 1, 100001, &rule, &why, &err));
	assert_int_equal(rule, 2);
	fixture_close(&fixture);
}

/* The toy operation needs no C code. */
TEST(an_operation_needs_no_c_code)
{
	struct fixture fixture;
	struct space_removed removed = {0};
	struct build build;
	struct plan plan;
	struct work work;
	struct error err = {0};
	double by_constraint[8] = {0};

	fixture_open(&fixture, "tests/toy/templates", "row_softmax", "online",
		"rows=4096,cols=1000,dtype=bf16", "ROWS=4", "toy");
	assert_ok(family_examples_check(fixture.bound->family, fixture.device, &err));
	removed.by_constraint = by_constraint;
	assert_ok(space_enumerate(fixture.bound->space, NULL, NULL, &removed, &err));
	assert_near(fixture.bound->space->tail[0], 144);
	assert_near(removed.legal, 126);
	assert_ok(candidate_build(fixture.bound, fixture.values, &build, &err));
	expect_unit(&build.units[0], "row_softmax/online.cu",
		FIXED_OPTIONS "-DDTYPE_bf16=1 -DROWS=4 -DROW_THREADS=128 -DUNROLL=2",
		"row_softmax_online");
	assert_ok(candidate_plan(fixture.bound, fixture.values, &plan, &err));
	assert_int_equal(plan.launches[0].shape.grid[0], 1024);
	assert_ok(candidate_work(fixture.bound, fixture.values, &work, &err));
	assert_near(work.launches[0].steps_mean, 4);
	work_release(&work);
	plan_release(&plan);
	build_release(&build);
	fixture_close(&fixture);
}

/* Tests the examples of every family, on a device of each compute capability. */
TEST(examples_of_every_family_are_bound_on_every_capability)
{
	const char *folders[] = {"templates", NULL}, *configs[] = {"configs", NULL};
	static const char *const devices[] = {
		"a100-sxm4", "a10", "l4", "h200-sxm", "b200", "rtx-5090"};
	struct catalogue catalogue;
	struct error err = {0};

	assert_ok(catalogue_load(folders, NULL, &catalogue, &err));
	assert_true(catalogue.family_count > 0);
	for (size_t d = 0; d < ARRAY_COUNT(devices); d++) {
		struct device_spec *device;

		assert_ok(device_spec_load(devices[d], configs, &device, &err));
		for (size_t i = 0; i < catalogue.family_count; i++)
			assert_ok(family_examples_check(catalogue.families[i], device, &err));
		device_spec_free(device);
	}
	catalogue_release(&catalogue);
}
