/* SPDX-License-Identifier: MIT
 *
 * The whole score: golden values, resources, schedules, and its JSON. A change of the model
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
	if (launch->blocks_per_sm) /* the launch moves every tensor at least once */
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
	resources.blocks_per_sm = 1; /* the driver's value takes precedence over the calculator's */
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

/* No predicted time is below the time that FLOP and bytes take at the device's peak, even if the
 * model omits work. */
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

	case_mma_work(&uneven, &work); /* the tiles fill exactly one wave of 132 blocks */
	grid = time_of_work(&hopper, &work);
	work.launches[0].units =
		140; /* 8 more tiles need a second wave, or 6% more work in every block */
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
