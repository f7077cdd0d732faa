/* SPDX-License-Identifier: MIT
 *
 * The whole score: golden values, rankings that must hold, and its JSON. A change of the model
 * shows as a diff of tests/data/score/golden.csv, which TILETUNE_REGENERATE=1 in the environment
 * rewrites. tests/errors/journal.txt has broken JSON.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"
#include "base/file.h"
#include "unit/score_cases.h"

#define GOLDEN TEST_DATA "/score/golden.csv"

static const struct case_mma golden_cases[] = {
	{1792, 1792, 1792, 256, 128, 32, 64, 64, 3, 1},
	{1793, 1793, 1793, 256, 128, 32, 64, 64, 3, 1},
	{4096, 4096, 4096, 128, 256, 64, 64, 64, 3, 1},
	{4096, 4096, 4096, 128, 256, 32, 64, 64, 4, 1},
	{4096, 4096, 4096, 128, 128, 32, 64, 64, 4, 1},
	{4096, 4096, 4096, 128, 128, 64, 32, 64, 2, 1},
	{4096, 4096, 4096, 64, 64, 64, 32, 32, 3, 1},
	{4096, 4096, 4096, 32, 32, 64, 16, 16, 3, 1},
	{8192, 8192, 8192, 128, 256, 64, 64, 64, 3, 1},
	{128, 4096, 7168, 128, 128, 64, 64, 64, 4, 1},
	{128, 4096, 7168, 128, 128, 64, 64, 64, 4, 4},
	{128, 4096, 7168, 64, 128, 64, 32, 64, 4, 2},
	{16, 4096, 4096, 16, 64, 64, 16, 16, 5, 4},
	{16, 4096, 4096, 128, 128, 64, 64, 64, 3, 1},
	{1, 1, 1, 128, 128, 32, 64, 64, 3, 1},
	{2048, 2048, 2048, 256, 256, 64, 64, 64, 5, 1},
};

static void golden_append(struct text *text, const char *device_name,
	const struct device_spec *device, const struct case_mma *mma)
{
	struct case_work work;
	struct score score;
	const struct launch_score *launch;

	case_mma_work(mma, &work);
	score_compute(device, &work.work, NULL, &score);
	launch = &score.launches[score.longest];
	if (launch->blocks_per_sm) /* every tensor at least once */
		assert_true(launch->dram_bytes >=
			    2.0 * ((double)mma->m * mma->k + (double)mma->n * mma->k));
	text_appendf(text, "%s,", device_name);
	case_mma_name(mma, text);
	text_appendf(text, ",%g,%g,%g,%.4f,%.4f,%d,%.4f,%s,%lld,%.4f,%.4f,%.4f,%.5g,%.5g,%s,%.4g\n",
		launch->tiles, launch->slots_per_wave, launch->waves, launch->wave_efficiency_ratio,
		launch->tile_efficiency_ratio, launch->blocks_per_sm, launch->occupancy_ratio,
		occupancy_limiter_names[launch->occupancy_limiter], (long long)launch->smem_bytes,
		launch->bank_conflict_ratio, launch->lines_per_row_ratio,
		launch->sectors_per_row_ratio, launch->l2_bytes, launch->arithmetic_intensity,
		bound_kind_names[launch->bound], score.predicted_time_us);
	score_release(&score);
}

TEST(scores_are_the_golden_ones)
{
	const struct device_spec ampere = case_device_ampere(), hopper = case_device_hopper();
	struct text now = {0}, golden = {0};
	struct error err;

	text_append(&now,
		"device,case,tiles,slots_per_wave,waves,wave_efficiency_ratio,tile_efficiency_"
		"ratio,"
		"blocks_per_sm,occupancy_ratio,occupancy_limiter,smem_bytes,bank_conflict_ratio,"
		"lines_per_row_ratio,sectors_per_row_ratio,l2_bytes,arithmetic_intensity,bound,"
		"predicted_time_us\n");
	for (size_t i = 0; i < sizeof(golden_cases) / sizeof(golden_cases[0]); i++) {
		golden_append(&now, "ampere", &ampere, &golden_cases[i]);
		golden_append(&now, "hopper", &hopper, &golden_cases[i]);
	}
	if (getenv("TILETUNE_REGENERATE"))
		assert_int_equal(file_write(GOLDEN, now.data, now.length, &err), STATUS_OK);
	assert_int_equal(file_read(GOLDEN, &golden, &err), STATUS_OK);
	assert_string_equal(text_string(&now), text_string(&golden));
	text_release(&now);
	text_release(&golden);
}

/* ---- rankings ---- */
static double time_of(const struct device_spec *device, const struct case_mma *mma)
{
	struct case_work work;
	struct score score;
	double time_us;

	case_mma_work(mma, &work);
	score_compute(device, &work.work, NULL, &score);
	time_us = score.predicted_time_us;
	score_release(&score);
	return time_us;
}

enum {
	RANKED = 8192
};
struct ranking {
	const struct device_spec *device;
	struct {
		struct case_mma mma;
		double time_us;
	} items[RANKED];
	size_t count;
};

static void ranking_visit(const struct case_mma *mma, void *context)
{
	struct ranking *ranking = context;

	assert_true(ranking->count < RANKED);
	ranking->items[ranking->count].mma = *mma;
	ranking->items[ranking->count++].time_us = time_of(ranking->device, mma);
}

static int ranking_compare(const void *a, const void *b)
{
	const double *x = (const double *)((const char *)a + sizeof(struct case_mma));
	const double *y = (const double *)((const char *)b + sizeof(struct case_mma));

	return (*x > *y) - (*x < *y);
}

static struct ranking *ranking_of(const struct device_spec *device, int m, int n, int k)
{
	struct ranking *ranking = calloc(1, sizeof(*ranking));

	assert_non_null(ranking);
	ranking->device = device;
	case_mma_space(m, n, k, ranking_visit, ranking);
	qsort(ranking->items, ranking->count, sizeof(ranking->items[0]), ranking_compare);
	if (getenv("TILETUNE_VERBOSE"))
		for (size_t i = 0; i < 24; i++) {
			struct text text = {0};

			case_mma_name(&ranking->items[i].mma, &text);
			print_message(
				"%3zu %8.2f us %s\n", i, ranking->items[i].time_us, text.data);
			text_release(&text);
		}
	return ranking;
}

TEST(large_products_prefer_large_tiles)
{
	const struct device_spec hopper = case_device_hopper();
	struct ranking *ranking = ranking_of(&hopper, 4096, 4096, 4096);
	const double best = ranking->items[0].time_us;
	const double tflops = 2 * 4096.0 * 4096 * 4096 / best * 1e-6;

	assert_int_equal(ranking->count, 7328);
	for (size_t i = 0; i < 8; i++) {
		const struct case_mma *mma = &ranking->items[i].mma;

		assert_true(mma->bm * mma->bn >= 128 * 128);
		assert_true(mma->wm * mma->wn >= 64 * 32);
		assert_true(mma->split_k == 1);
	}
	/* measured mma.sync kernels reach 400 to 450 TFLOP/s */
	assert_true(tflops > 300 && tflops < 500);
	assert_true(time_of(&hopper, &(struct case_mma){4096, 4096, 4096, 128, 256, 32, 64, 64, 4,
					     1}) < 1.1 * best);
	assert_true(time_of(&hopper, &(struct case_mma){4096, 4096, 4096, 64, 64, 32, 32, 32, 4,
					     1}) > 1.3 * best);
	free(ranking);
}

TEST(few_rows_prefer_small_tiles_and_split_k)
{
	const struct device_spec hopper = case_device_hopper();
	struct ranking *ranking = ranking_of(&hopper, 16, 4096, 4096);

	for (size_t i = 0; i < 8; i++)
		assert_true(ranking->items[i].mma.bm <= 32);
	free(ranking);
	ranking = ranking_of(&hopper, 128, 4096, 7168);
	for (size_t i = 0; i < 4; i++)
		assert_true(ranking->items[i].mma.split_k > 1);
	free(ranking);
}

TEST(better_choices_score_better)
{
	const struct device_spec hopper = case_device_hopper();
	struct case_mma mma = {4096, 4096, 4096, 128, 128, 32, 64, 64, 4, 1}, other = mma;

	other.wm = other.wn = 16; /* smaller warp tiles read shared memory more often */
	assert_true(time_of(&hopper, &other) > 1.3 * time_of(&hopper, &mma));
	mma = (struct case_mma){128, 4096, 7168, 128, 128, 64, 64, 64, 4, 1};
	other = mma;
	other.split_k = 4; /* 32 tiles leave 100 SMs idle */
	assert_true(time_of(&hopper, &other) < 0.6 * time_of(&hopper, &mma));
	mma = (struct case_mma){512, 512, 512, 64, 64, 64, 32, 32, 2, 1};
	other = mma;
	other.stages = 4; /* with one block per SM nothing else hides the latency */
	assert_true(time_of(&hopper, &other) < time_of(&hopper, &mma));
	mma = (struct case_mma){4096, 4096, 4096, 128, 128, 64, 64, 64, 3, 1};
	other = mma;
	other.m = other.n = other.k = 4095; /* rows start within sectors */
	assert_true(time_of(&hopper, &other) > time_of(&hopper, &mma));
}

/* A second wave with a few tiles costs less than twice the first, because each of its blocks has
 * an SM to itself. */
TEST(a_last_wave_of_few_tiles_costs_less)
{
	const struct device_spec ampere = case_device_ampere();
	const struct case_mma one = {1792, 1792, 1792, 256, 128, 32, 64, 64, 3, 1};
	struct case_mma two = one;
	double ratio;

	two.m = two.n = 1800; /* 8*15 tiles in two waves */
	ratio = time_of(&ampere, &two) / time_of(&ampere, &one);
	assert_true(ratio > 1.7 && ratio < 2.1);
	/* with two blocks per SM, some SMs work twice as long within one wave */
	two.bn = 64;
	two.m = two.n = 1792;
	ratio = time_of(&ampere, &two) / time_of(&ampere, &one);
	assert_true(ratio > 0.8 && ratio < 1.5);
}

/* ---- resources, schedules, launches that cannot run ---- */
TEST(resources_limit_the_blocks_on_an_sm)
{
	const struct device_spec hopper = case_device_hopper();
	const struct case_mma mma = {4096, 4096, 4096, 128, 128, 32, 64, 64, 4, 1};
	struct kernel_resources resources = {
		.regs_per_thread = 200,
		.smem_static_bytes = 64,
		.blocks_per_sm = -1,
		.max_clusters = -1,
	};
	struct case_work work;
	struct score estimated, clean, spilled, barred, driver;

	case_mma_work(&mma, &work);
	score_compute(&hopper, &work.work, NULL, &estimated);
	score_compute(&hopper, &work.work, &resources, &clean);
	assert_true(estimated.regs_estimated && !clean.regs_estimated);
	assert_int_equal(clean.launches[0].regs_per_thread, 200);
	assert_int_equal(clean.launches[0].smem_bytes, 4 * 256 * 32 * 2 + 64);
	assert_int_equal(clean.launches[0].blocks_per_sm, 2);
	resources.spill_load_bytes = resources.spill_store_bytes = 400;
	score_compute(&hopper, &work.work, &resources, &spilled);
	assert_true(spilled.predicted_time_us > 1.5 * clean.predicted_time_us);
	resources.spill_load_bytes = resources.spill_store_bytes = 0;
	resources.regs_per_thread = 32;
	resources.barriers = 60; /* an SM has 64 barriers; shared memory allows three blocks */
	score_compute(&hopper, &work.work, &resources, &barred);
	assert_int_equal(barred.launches[0].blocks_per_sm, 1);
	assert_int_equal(barred.launches[0].occupancy_limiter, LIMITER_BARRIERS);
	resources.blocks_per_sm = 1; /* the driver's value precedes the calculator's */
	score_compute(&hopper, &work.work, &resources, &driver);
	assert_int_equal(driver.launches[0].blocks_per_sm, 1);
	assert_true(driver.launches[0].slots_per_wave == 132);
	score_release(&estimated);
	score_release(&clean);
	score_release(&spilled);
	score_release(&barred);
	score_release(&driver);
}

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * expected))
		fail_msg("expected %.17g, found %.17g", expected, found);
}

/* No predicted time is below what FLOP and bytes take at the device's peak, even if the model
 * omits work. */
TEST(no_prediction_is_below_the_peak_rates)
{
	const struct device_spec hopper = case_device_hopper();
	const struct case_mma mma = {4096, 4096, 4096, 128, 128, 32, 64, 64, 4, 1};
	const double peak = hopper.rate[PIPE_TENSOR_WGMMA][DTYPE_BF16] * 132 * hopper.clock_hz;
	struct kernel_resources resources = {
		.regs_per_thread = 64, .stack_bytes = 48, .blocks_per_sm = -1, .max_clusters = -1};
	struct case_work work;
	struct score score;

	case_mma_work(&mma, &work);
	memset(work.launches[0].per_step, 0, sizeof(work.launches[0].per_step));
	memset(work.launches[0].epilogue, 0, sizeof(work.launches[0].epilogue));
	work.launches[0].dram_read_bytes = work.launches[0].dram_write_bytes = 0;
	work.launches[0].dtype = DTYPE_BF16;
	work.work.flop = 1e15;
	work.work.min_bytes = 1e9;
	score_compute(&hopper, &work.work, &resources, &score);
	assert_near(score.predicted_time_us, 1e15 / peak * 1e6);
	assert_near(score.predicted_tflops, peak * 1e-12);
	assert_near(score.launches[0].predicted_time_us, score.predicted_time_us);
	assert_int_equal(score.launches[0].bound, BOUND_TENSOR);
	assert_int_equal(score.launches[0].stack_bytes, 48);
	score_release(&score);
	work.launches[0].dtype = DTYPE_FP32; /* tensor cores do not support it */
	score_compute(&hopper, &work.work, NULL, &score);
	assert_near(score.predicted_time_us,
		1e21 / (hopper.rate[PIPE_FP32][DTYPE_FP32] * 132 * hopper.clock_hz));
	assert_int_equal(score.launches[0].bound, BOUND_FP32);
	score_release(&score);
	work.work.flop = 0;
	score_compute(&hopper, &work.work, NULL, &score);
	assert_near(score.predicted_time_us, 1e15 / hopper.dram_bytes_per_s);
	assert_int_equal(score.launches[0].bound, BOUND_DRAM);
	assert_true(isnan(score.predicted_tflops));
	score_release(&score);
}

static double time_of_work(const struct device_spec *device, const struct case_work *work)
{
	struct score score;
	double time_us;

	score_compute(device, &work->work, NULL, &score);
	time_us = score.predicted_time_us;
	score_release(&score);
	return time_us;
}

TEST(schedules_differ_in_their_last_wave)
{
	const struct device_spec hopper = case_device_hopper();
	const struct case_mma mma = {4096, 4096, 4096, 128, 256, 64, 64, 64, 4, 1};
	const struct case_mma uneven = {1408, 3072, 4096, 128, 256, 64, 64, 64, 4, 1};
	struct case_work work;
	double grid, persistent, stream_k;

	case_mma_work(&mma, &work);
	grid = time_of_work(&hopper, &work);
	work.launches[0].schedule = SCHEDULE_PERSISTENT;
	work.launches[0].shape.grid[0] = 128;
	work.launches[0].epilogue_overlap_ratio = 0.8;
	persistent = time_of_work(&hopper, &work);
	assert_true(persistent < grid && persistent > 0.85 * grid);

	case_mma_work(&uneven, &work); /* exactly one wave of 132 */
	grid = time_of_work(&hopper, &work);
	work.launches[0].units = 140; /* 8 more tiles: a second wave, or 6% more for every block */
	work.launches[0].shape.grid[0] = 140;
	assert_true(time_of_work(&hopper, &work) > 1.6 * grid);
	work.launches[0].schedule = SCHEDULE_STREAM_K;
	work.launches[0].shape.grid[0] = 132;
	stream_k = time_of_work(&hopper, &work);
	assert_true(stream_k > 1.05 * grid && stream_k < 1.2 * grid);

	case_mma_work(&mma, &work); /* a causal mask halves the steps on average */
	grid = time_of_work(&hopper, &work);
	work.launches[0].steps_mean = 32;
	work.launches[0].steps_max = 64;
	assert_true(time_of_work(&hopper, &work) < 0.85 * grid);
	assert_true(time_of_work(&hopper, &work) > 0.5 * grid);
}

TEST(launches_that_cannot_run_have_no_time)
{
	const struct device_spec ampere = case_device_ampere();
	const struct case_mma mma = {1024, 1024, 1024, 128, 128, 32, 64, 64, 4, 1};
	struct case_work work;
	struct score score;

	case_mma_work(&mma, &work);
	work.launches[0].per_step[PIPE_TENSOR_WGMMA] = 1; /* a pipe that the device does not have */
	score_compute(&ampere, &work.work, NULL, &score);
	assert_true(isinf(score.predicted_time_us));
	score_release(&score);
	case_mma_work(&mma, &work);
	work.launches[0].shape.smem_dynamic_bytes = 200000;
	score_compute(&ampere, &work.work, NULL, &score);
	assert_true(isinf(score.predicted_time_us));
	assert_int_equal(score.launches[0].blocks_per_sm, 0);
	assert_int_equal(score.launches[0].occupancy_limiter, LIMITER_NONE_FITS);
	score_release(&score);
}

/* ---- JSON ---- */
static void check_json(const struct case_mma *mma, const char *expected_start)
{
	const struct device_spec hopper = case_device_hopper();
	struct case_work work;
	struct score score, back;
	struct json *json, *again;
	struct json_at at;
	struct error err;
	char *text, *text_again;

	case_mma_work(mma, &work);
	score_compute(&hopper, &work.work, NULL, &score);
	json = score_custom.write(&score);
	text = json_print(json, false);
	if (getenv("TILETUNE_VERBOSE"))
		print_message("%s\n", text);
	assert_int_equal(strncmp(text, expected_start, strlen(expected_start)), 0);
	at = json_root(json, "score");
	assert_int_equal(score_custom.read(&at, &back, NULL, &err), STATUS_OK);
	assert_int_equal(back.launch_count, score.launch_count);
	assert_int_equal(back.longest, score.longest);
	again = score_custom.write(&back);
	text_again = json_print(again, false);
	assert_string_equal(text, text_again);
	free(text);
	free(text_again);
	json_free(json);
	json_free(again);
	score_release(&score);
	score_release(&back);
}

TEST(a_score_as_json_is_complete)
{
	static const char start[] =
		"{\"tiles\":512,\"slots_per_wave\":132,\"waves\":4,\"waves_exact\":3."
		"878787878787879,"
		"\"wave_efficiency_ratio\":0.9696969696969697,\"tile_efficiency_ratio\":1,"
		"\"blocks_per_sm\":1,\"occupancy_ratio\":0.125,\"occupancy_limiter\":";

	check_json(&(struct case_mma){4096, 4096, 4096, 128, 256, 64, 64, 64, 4, 1}, start);
	check_json(
		&(struct case_mma){128, 4096, 7168, 128, 128, 64, 64, 64, 4, 4}, "{\"tiles\":128,");
	/* cannot run: the time is null */
	check_json(&(struct case_mma){2048, 2048, 2048, 256, 256, 64, 64, 64, 5, 1},
		"{\"tiles\":64,\"slots_per_wave\":0,");
}
