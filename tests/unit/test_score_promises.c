/* SPDX-License-Identifier: MIT
 *
 * Promises of the headers of src/score about amounts, waves and schedules, computed by hand.
 */
#include <math.h>

#include "unit/unit.h"
#include "score/block_model.h"
#include "unit/score_cases.h"

/* A launch of ten units with different amounts in each phase and pipe. */
static struct launch_work uneven_launch(void)
{
	struct launch_work launch = {.shape = {.grid = {10, 1, 1},
					     .block = {128, 1, 1},
					     .cluster = {1, 1, 1},
					     .repeat = 1},
		.regs_estimate = 64,
		.units = 10,
		.useful_ratio = 0.5,
		.steps_mean = 3,
		.steps_max = 3,
		.stages = 2,
		.dtype = DTYPE_BF16,
		.has_model = true,
		.dram_read_bytes = 7000,
		.dram_write_bytes = 500};

	for (int pipe = 0; pipe < PIPE_COUNT; pipe++) {
		launch.prologue[pipe] = 1000 + pipe;
		launch.per_step[pipe] = 20000 + 7 * pipe;
		launch.epilogue[pipe] = 300000 + 11 * pipe;
	}
	return launch;
}

static double of_ten_units(const struct launch_work *launch, enum pipe pipe)
{
	return 10 * (launch->prologue[pipe] + 3 * launch->per_step[pipe] + launch->epilogue[pipe]);
}

TEST(amounts_are_summed_over_phases_and_pipes)
{
	const struct launch_work launch = uneven_launch();
	struct traffic traffic;

	traffic_compute(&launch, &traffic);
	assert_true(traffic.dram_bytes == 7500);
	assert_true(fabs(traffic.l2_bytes - of_ten_units(&launch, PIPE_L2_READ) -
			    of_ten_units(&launch, PIPE_L2_WRITE)) < 1e-3);
	assert_true(fabs(traffic.flop - of_ten_units(&launch, PIPE_TENSOR_MMA) -
			    of_ten_units(&launch, PIPE_TENSOR_WGMMA) -
			    of_ten_units(&launch, PIPE_FP32)) < 1e-3);
}

/* Spilled bytes of all threads use shared memory's pipe, for loads and stores alike. */
TEST(spills_are_read_and_written)
{
	const struct device_spec device = case_device_hopper();
	const struct launch_work launch = uneven_launch();
	const struct traffic traffic = {.lines_read_ratio = 1, .lines_written_ratio = 1};
	struct time_model_input input = {
		.device = &device, .launch = &launch, .traffic = &traffic, .threads = 128};
	const double without = block_model_of(&input).step.clocks[BOUND_SMEM];

	input.spill_store_bytes = 24;
	assert_true(fabs(block_model_of(&input).step.clocks[BOUND_SMEM] - without -
			    24 * 128 / 128.0) < 1e-9);
	input.spill_load_bytes = 40;
	assert_true(fabs(block_model_of(&input).step.clocks[BOUND_SMEM] - without -
			    64 * 128 / 128.0) < 1e-9);
}

/* One block runs on each of 132 SMs, with only latency and one clock of work per step. */
static double clocks_with_latency(
	double latency, double steps, double waves, enum schedule schedule)
{
	const struct quantization_slots slots = {.per_wave = 132, .sm_count = 132, .per_sm = 1};
	struct block_model model = {.steps_mean = steps,
		.steps_max = steps,
		.stages = 4,
		.warps = 4,
		.scheduler_ratio = 1,
		.latency_clocks = latency,
		.l2_chip_rate = 5500};

	model.step.clocks[BOUND_FP32] = 1000;
	return wave_model_clocks(&model, &slots, waves * 132, schedule).clocks;
}

static double latency_of_stream_k(double steps, double waves)
{
	return clocks_with_latency(100, steps, waves, SCHEDULE_STREAM_K) -
	       clocks_with_latency(0, steps, waves, SCHEDULE_STREAM_K);
}

/* Latency adds the first load of each wave (only of the first wave for a persistent block), and
 * the part of each step that four stages do not hide. Stream-K with an incomplete last wave adds
 * three latencies (another block's sums, its flag, and the first sums), and one for the sums of
 * each further block that shares the tile. */
TEST(latency_is_paid_where_a_schedule_waits)
{
	for (double steps = 1; steps <= 64; steps *= 4)
		for (double waves = 1; waves <= 4; waves++) {
			const double hidden = waves * steps * 100 / 4;
			const double part =
				waves /
				5; /* share of an incomplete wave, which follows a whole one */
			double added[3];

			for (int schedule = 0; schedule < 3; schedule++)
				added[schedule] = clocks_with_latency(100, steps, waves,
							  (enum schedule)schedule) -
						  clocks_with_latency(
							  0, steps, waves, (enum schedule)schedule);
			assert_true(fabs(added[SCHEDULE_GRID] - waves * 100 - hidden) < 1e-6);
			assert_true(fabs(added[SCHEDULE_PERSISTENT] - 100 - hidden) < 1e-6);
			assert_true(fabs(added[SCHEDULE_STREAM_K] - 100 - hidden) < 1e-6);
			for (int whole = 0; whole <= 3; whole++) {
				const double cut = whole ? 1 + part : part;
				const double run = fmax(1, (whole + part) * steps);

				assert_true(fabs(latency_of_stream_k(steps, whole + part) - 100 -
						    run * 100 / 4 - 300 -
						    100 * fmin(steps - 1, 1 / cut)) < 1e-6);
			}
		}
}

/* An incomplete last wave counts as a full one. Unless it is the only wave, a persistent block has
 * already loaded the tile while it finished the previous one; blocks of an ordinary grid load it
 * only then. */
TEST(the_last_wave_of_a_persistent_kernel_waits_for_no_first_load)
{
	for (double steps = 1; steps <= 64; steps *= 4)
		for (int full = 0; full <= 3; full++)
			for (int part = 1; part <= 3; part++) {
				const double waves = full + part / 4.0, begun = full + 1;
				const double hidden = begun * steps * 100 / 4;
				double added[2], work[2];

				for (int schedule = 0; schedule < 2; schedule++) {
					work[schedule] = clocks_with_latency(
						0, steps, waves, (enum schedule)schedule);
					added[schedule] = clocks_with_latency(100, steps, waves,
								  (enum schedule)schedule) -
							  work[schedule];
				}
				assert_true(
					fabs(work[SCHEDULE_GRID] - begun * steps * 1000) < 1e-6);
				assert_true(fabs(work[SCHEDULE_PERSISTENT] - work[SCHEDULE_GRID]) <
					    1e-6);
				assert_true(
					fabs(added[SCHEDULE_GRID] - begun * 100 - hidden) < 1e-6);
				assert_true(fabs(added[SCHEDULE_PERSISTENT] - 100 - hidden) < 1e-6);
			}
}

TEST(a_launch_that_is_repeated_takes_that_many_times_as_long)
{
	const struct device_spec device = case_device_hopper();
	struct launch_work launch = uneven_launch();
	struct work work = {.launches = &launch, .launch_count = 1};
	struct score score;
	double once;

	score_compute(&device, &work, NULL, &score);
	once = score.predicted_time_us;
	score_release(&score);
	assert_true(isfinite(once) && once > 0);
	launch.shape.repeat = 3;
	score_compute(&device, &work, NULL, &score);
	assert_true(fabs(score.predicted_time_us / once - 3) < 1e-9);
	score_release(&score);
}
