/* SPDX-License-Identifier: MIT
 *
 * Times measured by a GPU worker on the stand-in driver: alternating buffers, noise, stopping
 * early, throttling, several candidates together.
 */
#include "base/clock.h"
#include "unit/unit.h"
#include "unit/device_bench.h"

static const struct toy small = {.rows = 33, .columns = 17, .ld_in = 17, .ld_out = 17};

/* Running twice in a row on the same buffers, or on unfilled ones, makes a kernel too fast. The
 * test covers single runs and graphs. */
TEST(buffers_rotate_between_runs)
{
	const struct {
		const char *script;
		double us;
	} cases[] = {
		{"kernel candidate us=5000 hot_us=1000 ok\n", 5000},
		{"kernel candidate us=20 hot_us=5 ok\n", 20},
		{"kernel candidate us=5000 empty_us=1000 ok\n", 5000},
		{"kernel candidate us=20 empty_us=5 ok\n", 20},
	};

	for (size_t k = 0; k < ARRAY_COUNT(cases); k++) {
		struct bench bench;
		device_handle handle;
		struct device_reply reply;

		bench_open(&bench, cases[k].script);
		handle = toy_load(bench.device, toy_problem(bench.device, &small, "reference"),
			&small, "candidate");
		request_samples(bench.device, &handle, 1, 9);
		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		reply = expect_reply(bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_OK, NULL);
		for (size_t i = 0; i < reply.result.sample_count; i++)
			assert_true(fabs(reply.result.samples_us[i] - cases[k].us) < 3);
		device_reply_release(&reply);
		bench_close(&bench);
	}
}

/* A problem whose buffer sets exceed the cache is timed cold. With a single set, or for a small
 * problem, timing is warm, and the result says so. */
TEST(cold_and_warm_timing_are_told_apart)
{
	static const struct toy large = {.rows = 700, .columns = 700, .ld_in = 700, .ld_out = 700};
	static const struct {
		const struct toy *toy;
		bool l2_warm;
		double us;
		uint32_t flags;
	} cases[] = {
		{&large, false, 5000, 0},
		{&large, true, 1000, FLAG_MASK(WARM_L2)},
		{&small, false, 5000, FLAG_MASK(WARM_L2)},
	};

	for (size_t k = 0; k < ARRAY_COUNT(cases); k++) {
		struct bench bench;
		struct device_options options;
		struct device_reply reply;
		device_handle handle;
		struct error err;

		bench_setup(&bench, "kernel candidate us=5000 hot_us=1000 ok\n");
		options = bench_options(&bench);
		options.l2_warm = cases[k].l2_warm;
		assert_ok(device_open("cuda:0", &options, &bench.device, &err));
		handle =
			toy_load(bench.device, toy_problem(bench.device, cases[k].toy, "reference"),
				cases[k].toy, "candidate");
		request_samples(bench.device, &handle, 1, 5);
		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		reply = expect_reply(bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_OK, NULL);
		assert_true(fabs(reply.result.samples_us[4] - cases[k].us) < 3);
		assert_int_equal(reply.result.flags, cases[k].flags);
		device_reply_release(&reply);
		bench_close(&bench);
	}
}

TEST(too_noisy_kernels_are_marked)
{
	struct bench bench;
	struct device_reply reply;
	device_handle handle;
	uint32_t problem;
	struct device_sample_request request = {
		.handles = &handle,
		.handle_count = 1,
		.sampling.rounds = 30,
		.sampling.seconds_max = 30,
	};
	struct error err;

	bench_open(&bench, "kernel wild us=1000 noise=0.9 ok\nkernel calm us=1000 noise=0.01 ok\n");
	problem = toy_problem(bench.device, &small, "reference");
	handle = toy_load(bench.device, problem, &small, "calm");
	assert_ok(device_sample(bench.device, &request, &err));
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	reply = expect_reply(bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_OK, NULL);
	assert_int_equal(reply.result.sample_count, 30);
	device_reply_release(&reply);
	handle = toy_load(bench.device, problem, &small, "wild");
	request.sampling.rounds = 20;
	assert_ok(device_sample(bench.device, &request, &err));
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	reply = expect_reply(
		bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_TOO_NOISY, "20 rounds");
	assert_int_equal(reply.result.sample_count, 20); /* the samples are stored nevertheless */
	device_reply_release(&reply);
	bench_close(&bench);
}

TEST(sampling_gives_up_on_slow_candidates)
{
	struct bench bench;
	struct device_reply reply;
	device_handle handle;
	struct device_sample_request request = {
		.handles = &handle,
		.handle_count = 1,
		.sampling.rounds = 50,
		.sampling.seconds_max = 30,
		.sampling.give_up_us = 500,
	};
	struct error err;

	bench_open(&bench, "kernel slow us=900 ok\n");
	handle = toy_load(
		bench.device, toy_problem(bench.device, &small, "reference"), &small, "slow");
	assert_ok(device_sample(bench.device, &request, &err));
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	reply = expect_reply(bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_OK, NULL);
	assert_true(reply.gave_up);
	assert_int_equal(reply.result.sample_count, 1);
	device_reply_release(&reply);
	bench_close(&bench);
}

static struct device_reply sample_one(struct bench *bench, const char *script, unsigned rounds)
{
	device_handle handle;

	bench_open(bench, script);
	handle = toy_load(bench->device, toy_problem(bench->device, &small, "reference"), &small,
		"candidate");
	request_samples(bench->device, &handle, 1, rounds);
	expect(bench->device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	return expect_reply(bench->device, REPLY_OF_SAMPLED, handle, OUTCOME_OK, NULL);
}

/* Throttled samples are repeated. If they stay throttled they are stored and marked. */
TEST(throttled_samples_are_repeated)
{
	struct bench bench;
	struct device_reply reply;
	double start;

	reply = sample_one(&bench, "throttle 3\nkernel candidate us=400 ok\n", 6);
	assert_int_equal(reply.result.flags & FLAG_MASK(THROTTLED), 0);
	assert_int_equal(reply.result.sample_count, 6);
	device_reply_release(&reply);
	bench_close(&bench);
	/* the first two timings of a long kernel are checked as well */
	reply = sample_one(&bench, "throttle -1\nkernel candidate us=2000 ok\n", 2);
	assert_true(reply.result.flags & FLAG_MASK(THROTTLED));
	assert_int_equal(reply.result.sample_count, 2);
	device_reply_release(&reply);
	bench_close(&bench);
	start = clock_seconds();
	reply = sample_one(&bench, "throttle -1\nkernel candidate us=400 ok\n", 6);
	assert_true(reply.result.flags & FLAG_MASK(THROTTLED));
	assert_int_equal(reply.result.sample_count, 6);
	assert_true(clock_seconds() - start > 0.05 + 0.1 + 0.2); /* sum of the three pauses */
	device_reply_release(&reply);
	bench_close(&bench);
	/* a clock locked to a low frequency is not throttling */
	reply = sample_one(&bench, "slow_clock -1\nkernel candidate us=400 ok\n", 6);
	assert_int_equal(reply.result.flags & FLAG_MASK(THROTTLED), 0);
	assert_int_equal(reply.result.sample_count, 6);
	device_reply_release(&reply);
	bench_close(&bench);
}

/* Several candidates and the anchor are sampled in turn. */
TEST(candidates_are_sampled_in_turn)
{
	struct bench bench;
	device_handle handles[4];
	const double expected_us[] = {30, 60, 700, 1000};
	const char *const names[] = {"a", "b", "c"};
	bool seen[4] = {false};
	uint32_t problem;
	struct error err;

	bench_open(&bench, "kernel a us=30 ok\nkernel b us=60 ok\nkernel c us=700 ok\n");
	problem = toy_problem(bench.device, &small, "reference");
	for (int i = 0; i < 3; i++) {
		handles[i] = toy_load(bench.device, problem, &small, names[i]);
		expect(bench.device, REPLY_OF_LOADED, handles[i], OUTCOME_OK, NULL);
	}
	assert_ok(device_anchor_handle(bench.device, &handles[3], &err));
	request_samples(bench.device, handles, 4, 9);
	assert_int_equal(device_pending(bench.device), 4);
	for (int i = 0; i < 4; i++) {
		struct device_reply reply =
			expect_reply(bench.device, REPLY_OF_SAMPLED, 0, OUTCOME_OK, NULL);

		for (int j = 0; j < 4; j++)
			if (handles[j] == reply_handle(&reply)) {
				seen[j] = true;
				assert_int_equal(reply.result.sample_count, 9);
				assert_true(fabs(reply.result.samples_us[8] - expected_us[j]) < 3);
			}
		device_reply_release(&reply);
	}
	for (int i = 0; i < 4; i++)
		assert_true(seen[i]);
	bench_close(&bench);
}

static int before(int argc, char **argv)
{
	if (bench_is_worker(argc, argv))
		return measure_worker_main();
	return RUN_TESTS;
}
BEFORE_TESTS(before)
