/* SPDX-License-Identifier: MIT
 *
 * The energy of a run from the card's counter, from a coarse counter, and from power only.
 */
#include "unit/unit.h"
#include "unit/device_bench.h"

static const struct toy small = {.rows = 33, .columns = 17, .ld_in = 17, .ld_out = 17};

/* Measures the energy of a kernel that is requested by itself. */
static struct measured energy_of(const char *script)
{
	struct bench bench;
	struct device_reply reply;
	struct measured measured;
	device_handle handle;
	struct device_sample_request request = {
		.handles = &handle, .handle_count = 1, .sampling.energy_s = 0.5};
	struct error err;

	bench_open(&bench, script);
	handle = toy_load(
		bench.device, toy_problem(bench.device, &small, "reference"), &small, "kernel");
	assert_ok(device_sample(bench.device, &request, &err));
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	reply = expect_reply(bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_OK, NULL);
	assert_int_equal(reply.result.sample_count, 0);
	measured = reply.result.measured;
	device_reply_release(&reply);
	bench_close(&bench);
	return measured;
}

TEST(energy_is_within_its_reported_resolution)
{
	struct measured counted = energy_of("kernel kernel us=500 watts=450 ok\n");
	struct measured coarse =
		energy_of("kernel kernel us=500 watts=450 ok\nenergy_step_mj 5000\n");
	struct measured sampled =
		energy_of("kernel kernel us=500 watts=450 ok\nenergy_step_mj 0\n");
	/* more input sets than one piece of the measurement has runs, and several graphs */
	struct measured many_graphs = energy_of("kernel kernel us=100 watts=450 ok\n");

	/* 450 W for 501 us, which include the gap before the kernel */
	assert_true(fabs(counted.power_w - 450) < 450 * 0.01);
	assert_true(fabs(counted.energy_j - 450 * 501e-6) < 0.2 * 0.02);
	assert_true(
		counted.energy_resolution_ratio > 0.01 && counted.energy_resolution_ratio < 0.06);
	assert_true(fabs(many_graphs.power_w - 450) < 450 * 0.02);
	/* a counter that updates every 11 ms is late, but within the reported resolution */
	assert_true(fabs(coarse.power_w - 450) < 450 * coarse.energy_resolution_ratio);
	assert_true(coarse.energy_resolution_ratio < 0.06);
	/* without a counter the card's reported power counts: 312 W for any kernel */
	assert_true(fabs(sampled.power_w - 312) < 0.01);
	assert_true(fabs(sampled.energy_j - 312 * 501e-6) < 0.001);
}

static int before(int argc, char **argv)
{
	if (bench_is_worker(argc, argv))
		return measure_worker_main();
	return RUN_TESTS;
}
BEFORE_TESTS(before)
