/* Checks on the stand-in driver, whose clock drifts and whose kernels vary between runs: the
 * check must find kernels that became slower, and no others. */
#include "unit/unit.h"
#include "device_bench.h"

#include "check/row.h"
#include "check/judge.h"

enum {
	ENTRIES = 4,
	CHECKS = 100,
};

/* fast_N equals the baseline; slow_N is 5% slower. The clock varies by 3% over 40 ms. Loads of
 * the shortest kernel differ by up to 0.03 us. (On an H200, 0.018 us were measured for such a
 * kernel where it fills the GPU: results/nvidia-h200/loads.json.) */
static const char script[] = "pace 1 0.03 40000\n"
			     "kernel fast_0 us=5 noise=0.04 place_us=0.03\n"
			     "kernel fast_1 us=100 noise=0.03\n"
			     "kernel fast_2 us=400 noise=0.03\n"
			     "kernel fast_3 us=1500 noise=0.02\n"
			     "kernel slow_0 us=5.25 noise=0.04 place_us=0.03\n"
			     "kernel slow_1 us=105 noise=0.03\n"
			     "kernel slow_2 us=420 noise=0.03\n"
			     "kernel slow_3 us=1575 noise=0.02\n";

static volatile sig_atomic_t never;

/* Returns the loads of all entries with one version of the kernels. */
struct side {
	struct trial *loads[ENTRIES][CHECK_LOADS];
};

struct check_fixture {
	struct bench bench;
	struct context context; /* only the device is set */
	struct tuned baseline;  /* has no entries: each row points to its own */
	struct check check;
	struct check_row rows[ENTRIES];
	struct side fast, again,
		slow; /* again: binaries of the baseline that contain the same kernels */
	struct contender contenders[1 + 2 * ENTRIES]; /* the anchor comes first */
	uint32_t problem;
};

/* Short kernels are loaded several times. */
static size_t loads_of(int entry)
{
	return entry == 0 ? CHECK_LOADS : 1;
}

/* Adds a kernel from another source, with its own buffers. */
static struct trial *add_kernel(struct check_fixture *fixture, const char *entry)
{
	static const struct toy toy = {
		.rows = 8, .columns = 8, .ld_in = 8, .ld_out = 8, .dtype = DTYPE_FP32};
	static struct device_job
		jobs[256]; /* static, so that the jobs live as long as the program */
	static size_t count;
	struct device_job *job = &jobs[count++];
	struct toy_candidate candidate;
	struct trial *trial;
	struct error err;

	toy_candidate_make(&toy, entry, &candidate);
	candidate.plan.tensor_count = 0;
	for (size_t i = 0; i < candidate.plan.buffer_count; i++)
		candidate.buffers[i].role = BUFFER_WORKSPACE;
	job->plan = memory_zeroed(1, sizeof(*job->plan));
	record_copy(&plan_record, &candidate.plan, job->plan);
	job->cubins = memory_copy(&candidate.cubin, sizeof(candidate.cubin));
	job->cubin_count = 1;
	assert_ok(evaluator_add_job(&fixture->check.evaluator, NULL, job, &trial, &err));
	assert_ok(evaluator_run(&fixture->check.evaluator, &err));
	assert_int_equal(trial->stage, TRIAL_LOADED);
	return trial;
}

static void load_side(struct check_fixture *fixture, const char *name, struct side *side)
{
	for (int i = 0; i < ENTRIES; i++)
		for (size_t k = 0; k < loads_of(i); k++) {
			char entry[16];

			snprintf(entry, sizeof(entry), "%s_%d", name, i);
			side->loads[i][k] = add_kernel(fixture, entry);
		}
}

static void fixture_open(struct check_fixture *fixture, const char *text)
{
	memset(fixture, 0, sizeof(*fixture));
	bench_open(&fixture->bench, text);
	fixture->context.device = fixture->bench.device;
	fixture->check = (struct check){.context = &fixture->context,
		.evaluator = {.context = &fixture->context},
		.baseline = &fixture->baseline,
		.rows = fixture->rows,
		.row_count = ENTRIES,
		.measures = true,
		.options = {.threshold_ratio = 0.05, .interrupted = &never}};
	fixture->contenders[0].loads[0] = evaluator_add_anchor(&fixture->check.evaluator);
	fixture->contenders[0].load_count = 1;
	load_side(fixture, "fast", &fixture->fast);
	load_side(fixture, "fast", &fixture->again);
	load_side(fixture, "slow", &fixture->slow);
	for (int i = 0; i < ENTRIES; i++) {
		fixture->rows[i].can_run = true;
		fixture->rows[i].trial = fixture->fast.loads[i][0];
	}
}

static void fixture_close(struct check_fixture *fixture)
{
	evaluator_release(&fixture->check.evaluator);
	for (int i = 0; i < ENTRIES; i++)
		check_row_release(&fixture->rows[i]);
	bench_close(&fixture->bench);
}

static bool are_times_known(struct contender *contenders, size_t count, void *context)
{
	struct check_fixture *fixture = context;

	(void)count;
	for (int i = 0; i < ENTRIES; i++)
		if (!check_time_is_known(&fixture->check, &fixture->rows[i], &contenders[0]))
			return false;
	return true;
}

static void contender_take(struct contender *contender, const struct side *side, int entry)
{
	for (size_t k = 0; side && k < loads_of(entry); k++)
		contender->loads[contender->load_count++] = side->loads[entry][k];
}

/* Times these kernels, next to the baseline's binaries in `kept` if there are any. The number of
 * blocks decides, never the real time, so that a busy machine cannot change the result. */
static void fixture_run(
	struct check_fixture *fixture, const struct side *now, const struct side *kept)
{
	const struct timing_limits limits = {.seconds = 600,
		.warm_up_rounds = 2,
		.first_look = 12,
		.last_look = 40,
		.is_enough = are_times_known,
		.context = fixture};
	struct contender *contenders = fixture->contenders;
	struct trial *anchor = contenders[0].loads[0];
	struct error err;

	for (int i = 0; i < ENTRIES; i++) {
		struct check_row *row = &fixture->rows[i];

		row->today = &contenders[1 + 2 * i];
		row->kept = &contenders[2 + 2 * i];
		contender_take(row->today, now, i);
		contender_take(row->kept, kept, i);
		free(row->reason);
		row->reason = NULL;
	}
	assert_ok(contenders_time(&fixture->check.evaluator, contenders,
		ARRAY_COUNT(fixture->contenders), &limits, &err));
	for (int i = 0; i < ENTRIES; i++)
		check_time(&fixture->check, &fixture->rows[i], &contenders[0]);
	for (size_t i = 0; i < ARRAY_COUNT(fixture->contenders); i++)
		contender_release(&contenders[i]);
	contenders[0] = (struct contender){.loads = {anchor}, .load_count = 1};
}

/* Stores this run's measurements as the baseline, as --update does. */
static void fixture_update(struct check_fixture *fixture)
{
	for (int i = 0; i < ENTRIES; i++) {
		struct check_row *row = &fixture->rows[i];
		const struct interval *relative = &row->now.per_anchor;
		const double scale = row->now.time_us / relative->value;

		row->baseline_us = row->now.time_us;
		row->entry.winner.result.time = (struct summary){.median = row->now.time_us,
			.ci95_low = relative->low * scale,
			.ci95_high = relative->high * scale,
			.count = row->now.rounds};
	}
}

static void count_verdicts(const struct check_fixture *fixture, size_t counts[CHECK_VERDICT_COUNT])
{
	for (int i = 0; i < ENTRIES; i++)
		counts[fixture->rows[i].verdict]++;
}

/* Compares with the baseline's binaries, and with stored times, which the clock's drift affects. An
 * undecided row is unclear, never slower. */
TEST(a_hundred_checks_raise_no_false_alarm)
{
	struct check_fixture fixture;
	size_t kept[CHECK_VERDICT_COUNT] = {0}, stored[CHECK_VERDICT_COUNT] = {0};
	const size_t all = ENTRIES * CHECKS / 2;

	fixture_open(&fixture, script);
	fixture_run(&fixture, &fixture.fast, NULL);
	fixture_update(&fixture);
	for (int i = 0; i < CHECKS / 2; i++) {
		fixture_run(&fixture, &fixture.fast, &fixture.again);
		count_verdicts(&fixture, kept);
		fixture_run(&fixture, &fixture.fast, NULL);
		count_verdicts(&fixture, stored);
		assert_int_equal(fixture.rows[0].slowdown.against, CHECK_AGAINST_TUNED);
	}
	printf("same: %zu of %zu beside binaries, %zu against times\n", kept[CHECK_SAME], all,
		stored[CHECK_SAME]);
	assert_true(kept[CHECK_SAME] >= all * 99 / 100);
	assert_int_equal(kept[CHECK_SAME] + kept[CHECK_UNCLEAR], all);
	assert_true(stored[CHECK_SAME] > 0);
	assert_int_equal(stored[CHECK_SAME] + stored[CHECK_UNCLEAR], all);
	fixture_close(&fixture);
}

/* At most one in a hundred may be unclear, and none may pass. */
TEST(five_percent_are_found)
{
	struct check_fixture fixture;
	size_t stored[CHECK_VERDICT_COUNT] = {0}, kept[CHECK_VERDICT_COUNT] = {0};
	const size_t all = ENTRIES * CHECKS / 4;

	fixture_open(&fixture, script);
	fixture_run(&fixture, &fixture.fast, NULL);
	fixture_update(&fixture);
	for (int i = 0; i < CHECKS / 4; i++) {
		fixture_run(&fixture, &fixture.slow, NULL);
		count_verdicts(&fixture, stored);
		fixture_run(&fixture, &fixture.slow, &fixture.fast);
		count_verdicts(&fixture, kept);
		assert_int_equal(fixture.rows[0].slowdown.against, CHECK_AGAINST_KEPT);
	}
	assert_int_equal(kept[CHECK_SLOWER] + kept[CHECK_UNCLEAR], all);
	assert_true(kept[CHECK_SLOWER] >= all * 99 / 100);
	assert_int_equal(stored[CHECK_SLOWER] + stored[CHECK_UNCLEAR], all);
	assert_true(stored[CHECK_SLOWER] > 0);
	fixture_close(&fixture);
}

/* A kernel that became faster is reported as faster. */
TEST(faster_kernels_are_told)
{
	struct check_fixture fixture;
	size_t counts[CHECK_VERDICT_COUNT] = {0};

	fixture_open(&fixture, script);
	fixture_run(&fixture, &fixture.slow, NULL);
	fixture_update(&fixture);
	for (int i = 0; i < 10; i++) {
		fixture_run(&fixture, &fixture.fast, &fixture.slow);
		count_verdicts(&fixture, counts);
	}
	assert_int_equal(counts[CHECK_SLOWER] + counts[CHECK_UNCLEAR] + counts[CHECK_FAILED], 0);
	assert_non_null(strstr(fixture.rows[1].reason, "against the stored binary"));
	fixture_close(&fixture);
}

/* A kernel that crashes in the middle fails only its own row. */
TEST(a_crash_fails_its_row_only)
{
	struct check_fixture fixture;
	char *dying = string_format("kernel fast_2 skip=12 crash\n%s", script);

	fixture_open(&fixture, dying);
	for (int i = 0; i < ENTRIES; i++) { /* the stored baseline times are much lower */
		fixture.rows[i].baseline_us = 1;
		fixture.rows[i].entry.winner.result.time =
			(struct summary){.median = 1, .ci95_low = 1, .ci95_high = 1, .count = 9};
	}
	fixture_run(&fixture, &fixture.fast, NULL);
	for (int i = 0; i < ENTRIES; i++)
		assert_int_equal(fixture.rows[i].verdict, i == 2 ? CHECK_FAILED : CHECK_SLOWER);
	assert_non_null(strstr(fixture.rows[2].reason, "crashed during timing"));
	assert_int_equal(check_status(&fixture.check), STATUS_FAILED);
	free(dying);
	fixture_close(&fixture);
}

static void assert_worse(struct check_fixture *fixture, const char *expected)
{
	CLEANUP(text_release) struct text text = {0};

	check_resources(&fixture->check, &fixture->rows[0]);
	check_differences_list(&fixture->rows[0], true, &text);
	assert_string_equal(text_string(&text), expected);
}

/* Compiler warnings that the baseline already had are no regression, and neither is a hot GPU.
 * Spills are reported by size. */
TEST(only_new_complaints_are_told)
{
	struct check_fixture fixture;
	struct result *now;

	fixture_open(&fixture, script);
	now = &fixture.rows[0].trial->result;
	if (!now->resources)
		now->resources = memory_zeroed(1, sizeof(*now->resources));
	fixture.rows[0].entry.winner.result.flags = FLAG_MASK(WGMMA_SERIALIZED);
	now->flags = FLAG_MASK(WGMMA_SERIALIZED) | FLAG_MASK(THROTTLED) | FLAG_MASK(SPILLS) |
		     FLAG_MASK(WARM_L2);
	assert_worse(&fixture, "");
	now->flags |= FLAG_MASK(SETMAXNREG_IGNORED);
	assert_worse(&fixture, "the compiler now reports setmaxnreg_ignored");
	fixture.rows[0].entry.winner.result.flags = 0;
	assert_worse(&fixture, "the compiler now reports wgmma_serialized; the compiler now "
			       "reports setmaxnreg_ignored");
	fixture_close(&fixture);
}

/* ---- tolerated differences ---- */
TEST(allowed_parts_are_read)
{
	uint32_t allowed = 0;
	struct error err;

	assert_ok(check_allowed_parse("driver,kernel", &allowed, &err));
	assert_int_equal(allowed, CHECK_DIFFERS(DRIVER) | CHECK_DIFFERS(KERNEL));
	assert_ok(check_allowed_parse("none", &allowed, &err));
	assert_int_equal(allowed, 0);
	assert_ok(check_allowed_parse("all", &allowed, &err));
	assert_int_equal(allowed, (1u << ENVIRONMENT_COUNT) - 1);
	assert_fails(check_allowed_parse("drivr", &allowed, &err), STATUS_BAD_INPUT, "drivr");
	assert_string_equal(err.hint, "did you mean driver?");
}

static int before(int argc, char **argv)
{
	if (bench_is_worker(argc, argv))
		return measure_worker_main();
	return RUN_TESTS;
}
BEFORE_TESTS(before)
