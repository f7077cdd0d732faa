/* SPDX-License-Identifier: MIT
 *
 * A GPU behind its worker process on the stand-in driver: every outcome of a kernel and its effect
 * on other candidates.
 */
#include "unit/unit.h"
#include "unit/device_bench.h"

static const struct toy small = {.rows = 33, .columns = 17, .ld_in = 17, .ld_out = 17};

TEST(opening_identifies_the_gpu)
{
	struct bench bench;
	const struct device_identity *identity;

	bench_open(&bench, "name NVIDIA H200\n");
	identity = &bench.device->identity;
	assert_string_equal(identity->kind, "cuda");
	assert_string_equal(identity->name, "NVIDIA H200");
	assert_string_equal(identity->uuid, "GPU-105d5d5d-5d5d-5d5d-5d5d-5d5d5d5d5d5d");
	assert_string_equal(identity->driver, "999.42.01");
	assert_string_equal(identity->mig, "disabled");
	assert_int_equal(identity->driver_cuda_version, 13000);
	assert_true(identity->clock_sm_max_hz > 1.97e9 && identity->power_limit_w > 699);
	/* 1000 us, plus the cost of a launch */
	assert_true(fabs(identity->anchor_us - 1000) < 5);
	assert_int_equal(bench.device->spec->sm_count, 132);
	assert_int_equal(bench.device->spec->l2_bytes, 2 << 20);
	assert_true(bench.device->kind->measures && bench.device->kind->compiles);
	bench_close(&bench);
}

TEST(a_correct_kernel_is_verified_and_timed)
{
	struct bench bench;
	struct device_reply reply;
	uint32_t problem;
	device_handle handle;
	struct error err;

	bench_open(&bench, "kernel standin_scale us=50 ok\n");
	problem = toy_problem(bench.device, &small, "standin_scale_reference");
	handle = toy_load(bench.device, problem, &small, "standin_scale regs=40");
	assert_ok(device_verify(bench.device, handle, &err));
	request_samples(bench.device, &handle, 1, 12);
	assert_int_equal(device_pending(bench.device), 3);

	reply = expect_reply(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	assert_int_equal(reply.result.launch_count, 1);
	assert_int_equal(
		reply.result.resources[0].regs_per_thread, 40); /* the driver reports this value */
	assert_int_equal(reply.result.resources[0].blocks_per_sm, 12);
	assert_int_equal(reply.result.resources[0].max_clusters, -1);
	device_reply_release(&reply);

	reply = expect_reply(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_OK, NULL);
	assert_true(reply.result.verification.done);
	assert_int_equal(reply.result.verification.points, 33 * 17);
	assert_int_equal(reply.result.verification.violations, 0);
	device_reply_release(&reply);

	reply = expect_reply(bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_OK, NULL);
	assert_int_equal(reply.result.sample_count, 12);
	/* the graph hides almost all of the launch's 2 us */
	for (size_t i = 0; i < reply.result.sample_count; i++)
		assert_true(fabs(reply.result.samples_us[i] - 50.1) < 0.5);
	assert_false(reply.result.predicted);
	assert_int_equal(reply.result.flags,
		FLAG_MASK(WARM_L2)); /* 256 buffer sets this small fit into L2 */
	device_reply_release(&reply);
	assert_int_equal(device_pending(bench.device), 0);
	assert_false(device_poll(bench.device, 0, &reply));
	device_unload(bench.device, handle);
	bench_close(&bench);
}

/* A device symbol holds its tensor before each verified run, even if the previous run changed
 * it. */
TEST(symbols_hold_their_tensors_before_each_run)
{
	static const struct {
		const char *symbol, *kernel, *detail; /* detail is NULL for a correct kernel */
	} cases[] = {
		{"d_in", "standin_scale symbol=d_in:4096", NULL},
		{"_ZL4d_in", "standin_scale symbol=_ZL4d_in:2244", NULL},
		{"d_in", "standin_scale symbol=d_in:64",
			"tensor in has 2244 bytes, but the variable d_in has only 64"},
		{"d_in", "standin_scale symbol=other:4096",
			"no kernel uses a __constant__ or __device__ variable named d_in"},
	};
	struct bench bench;
	uint32_t problem;
	struct error err;

	bench_open(&bench, "kernel standin_scale us=50 ok\n");
	problem = toy_problem(bench.device, &small, "standin_scale_reference");
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct toy toy = small;
		device_handle handle;

		toy.symbol = cases[i].symbol;
		handle = toy_load(bench.device, problem, &toy, cases[i].kernel);
		if (cases[i].detail) {
			expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_LAUNCH_FAILED,
				cases[i].detail);
			continue;
		}
		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		for (int times = 0; times < 2; times++) {
			assert_ok(device_verify(bench.device, handle, &err));
			expect(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_OK, NULL);
		}
		device_unload(bench.device, handle);
	}
	bench_close(&bench);
}

/* In the verified run after timing, the symbol holds the tensor of the buffer set in use. */
TEST(symbols_follow_the_inputs_of_a_verified_timing)
{
	const struct sampling sampling = {.rounds = 3};
	struct toy toy = small;
	struct bench bench;
	struct device_reply reply;
	device_handle handle;
	struct error err;

	bench_open(&bench, "l2_bytes 8000\nkernel standin_scale us=50 ok\n");
	toy.symbol = "d_in";
	handle = toy_load(bench.device, toy_problem(bench.device, &toy, "standin_scale_reference"),
		&toy, "standin_scale constant=d_in:4096");
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	assert_ok(handles_submit(bench.device, &handle, 1, REPLY_OF_VERIFIED, &sampling, &err));
	reply = expect_reply(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_OK, NULL);
	assert_null(reply.result.detail);
	device_reply_release(&reply);
	bench_close(&bench);
}

/* Long kernels are timed one by one, and workspaces and several launches are included. */
TEST(long_kernels_are_timed_one_by_one)
{
	struct toy toy = small;
	struct bench bench;
	struct device_reply reply;
	device_handle handle;
	uint32_t problem;

	toy.workspace_bytes = 1000;
	toy.workspace_init = BUFFER_INIT_EACH;
	bench_open(&bench, "kernel standin_scale us=5000 ok\n");
	problem = toy_problem(bench.device, &toy, "standin_scale_reference");
	handle = toy_load(bench.device, problem, &toy, "standin_scale");
	request_samples(bench.device, &handle, 1, 5);
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	reply = expect_reply(bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_OK, NULL);
	assert_int_equal(reply.result.sample_count, 5);
	/* 1 us for the memset and 2 us for its gap; the cost of a single launch is subtracted,
	 * except 0.1 us */
	for (size_t i = 0; i < reply.result.sample_count; i++)
		assert_true(fabs(reply.result.samples_us[i] - 5003.1) < 0.2);
	device_reply_release(&reply);
	bench_close(&bench);
}

/* Single runs and runs in graphs give times on the same scale. */
TEST(graphs_and_single_runs_agree)
{
	static const double kernel_us[] = {290, 310};

	for (size_t k = 0; k < ARRAY_COUNT(kernel_us); k++) {
		struct bench bench;
		struct device_reply reply;
		device_handle handle;
		uint32_t problem;
		char script[64];

		snprintf(script, sizeof(script), "kernel standin_scale us=%g ok\n", kernel_us[k]);
		bench_open(&bench, script);
		problem = toy_problem(bench.device, &small, "standin_scale_reference");
		handle = toy_load(bench.device, problem, &small, "standin_scale");
		request_samples(bench.device, &handle, 1, 5);
		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		reply = expect_reply(bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_OK, NULL);
		for (size_t i = 0; i < reply.result.sample_count; i++)
			assert_true(fabs(reply.result.samples_us[i] - kernel_us[k] - 0.1) < 0.01);
		device_reply_release(&reply);
		bench_close(&bench);
	}
}

/* ---- verdicts ---- */
static void expect_verdict(struct bench *bench, const struct toy *toy, const char *behaviour,
	enum outcome outcome, const char *detail)
{
	char *script = string_format("kernel standin_scale skip=0 us=40 %s\n", behaviour);
	device_handle bad, good;
	uint32_t problem;
	struct error err;

	bench_open(bench, script);
	problem = toy_problem(bench->device, toy, "standin_scale_reference");
	bad = toy_load(bench->device, problem, toy, "standin_scale");
	/* another kernel of the same problem is not affected by the first one's leftovers */
	good = toy_load(bench->device, problem, toy, "standin_scale");
	assert_ok(device_verify(bench->device, bad, &err));
	expect(bench->device, REPLY_OF_LOADED, bad, OUTCOME_OK, NULL);
	expect(bench->device, REPLY_OF_LOADED, good, OUTCOME_OK, NULL);
	expect(bench->device, REPLY_OF_VERIFIED, bad, outcome, detail);
	assert_int_equal(device_pending(bench->device), 0);
	bench_close(bench);
	free(script);
}

TEST(wrong_results_get_their_verdicts)
{
	struct toy padded = {.rows = 9, .columns = 5, .ld_in = 7, .ld_out = 8};
	struct toy two = {.rows = 2, .columns = 5, .ld_in = 7, .ld_out = 8}, spacious = small;
	struct bench bench;

	spacious.workspace_bytes = 1001;
	expect_verdict(&bench, &padded, "ok", OUTCOME_OK, NULL);
	expect_verdict(&bench, &small, "wrong", OUTCOME_WRONG_RESULT,
		"out: 1 of 561 points differ from the reference; the first is at row 32, column "
		"16");
	expect_verdict(&bench, &small, "nan", OUTCOME_WRONG_RESULT, "(1 are NaN or not written)");
	expect_verdict(&bench, &small, "unwritten", OUTCOME_WRONG_RESULT,
		"561 of 561 points differ from the reference (561 are NaN");
	expect_verdict(&bench, &small, "out_of_bounds", OUTCOME_OUT_OF_BOUNDS,
		"16 bytes were written between out and in");
	expect_verdict(&bench, &spacious, "workspace_out_of_bounds", OUTCOME_OUT_OF_BOUNDS,
		"16 bytes were written after partial");
	expect_verdict(
		&bench, &small, "input", OUTCOME_OUT_OF_BOUNDS, "the input in was overwritten");
	expect_verdict(&bench, &padded, "pitch", OUTCOME_OUT_OF_BOUNDS,
		"bytes between the rows of out were written");
	expect_verdict(&bench, &two, "pitch", OUTCOME_OUT_OF_BOUNDS,
		"bytes between the rows of out were written");
	expect_verdict(&bench, &small, "nondeterministic", OUTCOME_NONDETERMINISTIC,
		"two runs on the same inputs");
	expect_verdict(
		&bench, &small, "crash", OUTCOME_CRASHED, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
	expect_verdict(&bench, &small, "abort", OUTCOME_CRASHED, "killed by signal 6");
	expect_verdict(
		&bench, &small, "hang", OUTCOME_TIMED_OUT, "there was no answer within 300 s");
	expect_verdict(&bench, &small, "refuse", OUTCOME_LAUNCH_FAILED,
		"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)");
}

/* Stray writes are found far behind the output, in other buffer sets, and if they begin only
 * after verification. The first output has 2244 bytes, a set 12800, and the input is 6400 bytes
 * behind the output. */
TEST(stray_writes_far_away_are_found)
{
	static const struct {
		const char *script, *detail;
	} cases[] = {
		{"far=12800 out_of_bounds", "16 bytes were written between out and in"},
		{"far=16956 out_of_bounds", "the input in was overwritten"},
		{"skip=3 far=4156 out_of_bounds", "the input in was overwritten"},
		{"skip=3 far=12800 out_of_bounds", "bytes were written between out and in"},
	};
	const struct sampling sampling = {.rounds = 3};
	struct bench bench;
	struct error err;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CLEANUP(memory_free)
		char *script = string_format("kernel standin_scale us=40 %s\n", cases[i].script);
		device_handle handle;

		bench_open(&bench, script);
		handle = toy_load(bench.device,
			toy_problem(bench.device, &small, "standin_scale_reference"), &small,
			"standin_scale");
		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		assert_ok(handles_submit(
			bench.device, &handle, 1, REPLY_OF_VERIFIED, &sampling, &err));
		expect(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_OUT_OF_BOUNDS,
			cases[i].detail);
		bench_close(&bench);
	}
}

/* Kernels that win by skipping work: each time is from a run that does the work, and work that a
 * timed run skips is detected. */
TEST(kernels_that_skip_work_are_found)
{
	static const struct {
		const char *script;
		enum outcome outcome;
		double us;
		const char *detail; /* NULL if the run passes */
	} cases[] = {
		{"us=50 ok", OUTCOME_OK, 50, NULL},
		{"us=5000 ok", OUTCOME_OK, 5000, NULL},
		{"us=50 written_us=5 ok", OUTCOME_OK, 50, "on inputs that it has seen"},
		{"us=900 written_us=30 ok", OUTCOME_OK, 900, "on inputs that it has seen"},
		{"skip=9 us=30 unwritten\nkernel standin_scale us=50 ok", OUTCOME_WRONG_RESULT, 0,
			"out: 561 of 561 points differ"},
		{"skip=9 us=30 wrong\nkernel standin_scale us=50 ok", OUTCOME_WRONG_RESULT, 0,
			"correct only on inputs that it has seen; in a timed run on new inputs "
			"with cleared "
			"outputs: out: 1 of 561 points differ"},
	};
	const struct sampling sampling = {.rounds = 3};
	struct bench bench;
	struct error err;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CLEANUP(memory_free)
		char *script =
			string_format("l2_bytes 8000\nkernel standin_scale %s\n", cases[i].script);
		struct device_reply reply;
		device_handle handle;

		bench_open(&bench, script);
		handle = toy_load(bench.device,
			toy_problem(bench.device, &small, "standin_scale_reference"), &small,
			"standin_scale");
		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		assert_ok(handles_submit(
			bench.device, &handle, 1, REPLY_OF_VERIFIED, &sampling, &err));
		reply = expect_reply(
			bench.device, REPLY_OF_VERIFIED, handle, cases[i].outcome, cases[i].detail);
		if (!cases[i].detail)
			assert_null(reply.result.detail);
		for (size_t k = 0; cases[i].us > 0 && k < reply.result.sample_count; k++)
			assert_true(fabs(reply.result.samples_us[k] - cases[i].us) < 1);
		device_reply_release(&reply);
		bench_close(&bench);
	}
}

/* The output is the last tensor of every real operation, and a guard zone follows it. */
TEST(writes_behind_the_last_tensor_are_found)
{
	struct toy last = small;
	struct bench bench;

	last.output_last = true;
	expect_verdict(&bench, &last, "ok", OUTCOME_OK, NULL);
	expect_verdict(&bench, &last, "out_of_bounds", OUTCOME_OUT_OF_BOUNDS,
		"16 bytes were written after out");
}

/* The output is poisoned before the second run, too, so that elements which that run does not
 * write show. */
TEST(elements_that_the_second_run_omits_are_found)
{
	struct bench bench;

	expect_verdict(&bench, &small, "skip=1 unwritten", OUTCOME_NONDETERMINISTIC,
		"two runs on the same inputs");
}

/* Checks the outcome of the kernel `candidate`, which follows the script. */
static enum outcome verdict_of(const struct toy *toy, const char *script)
{
	struct bench bench;
	struct device_reply reply;
	device_handle handle;
	enum outcome outcome;
	struct error err;

	bench_open(&bench, script);
	handle = toy_load(
		bench.device, toy_problem(bench.device, toy, "reference"), toy, "candidate");
	assert_ok(device_verify(bench.device, handle, &err));
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	reply = next_reply(bench.device);
	outcome = reply.result.outcome;
	device_reply_release(&reply);
	bench_close(&bench);
	return outcome;
}

static enum outcome verdict_off_by(double abs, double rel, double off_by)
{
	CLEANUP(memory_free)
	char *script = string_format("kernel candidate off_by=%.9g\n", off_by);
	struct toy toy = small;

	toy.abs = abs;
	toy.rel = rel;
	return verdict_of(&toy, script);
}

/* Two runs are compared up to the last byte, even if a row has only one byte. */
TEST(runs_are_compared_up_to_the_last_byte)
{
	const struct toy toy = {.rows = 40,
		.columns = 1,
		.ld_in = 1,
		.ld_out = 1,
		.dtype = DTYPE_FP8_E4M3,
		.rel = 0.2};

	assert_int_equal(verdict_of(&toy, "kernel candidate ok\n"), OUTCOME_OK);
	assert_int_equal(
		verdict_of(&toy, "kernel candidate nondeterministic\n"), OUTCOME_NONDETERMINISTIC);
}

/* Tests errors just within and just beyond the tolerance abs + rel * 0.75. */
TEST(errors_beyond_the_tolerance_are_found)
{
	assert_int_equal(verdict_off_by(1e-3, 1e-2, 0.0084), OUTCOME_OK);
	assert_int_equal(verdict_off_by(1e-3, 1e-2, -0.0086), OUTCOME_WRONG_RESULT);
	assert_int_equal(verdict_off_by(1e-2, 1e-3, -0.0107), OUTCOME_OK);
	assert_int_equal(verdict_off_by(1e-2, 1e-3, 0.0108), OUTCOME_WRONG_RESULT);
}

/* A kernel that wrote outside its output does not affect the next one. */
TEST(stray_writes_do_not_affect_the_next_kernel)
{
	struct bench bench;
	device_handle first, second;
	uint32_t problem;
	struct error err;

	bench_open(&bench, "kernel bad_* us=40 out_of_bounds\nkernel worse us=40 input\n");
	problem = toy_problem(bench.device, &small, "reference");
	first = toy_load(bench.device, problem, &small, "bad_one");
	second = toy_load(bench.device, problem, &small, "worse");
	assert_ok(device_verify(bench.device, first, &err));
	assert_ok(device_verify(bench.device, second, &err));
	expect(bench.device, REPLY_OF_LOADED, first, OUTCOME_OK, NULL);
	expect(bench.device, REPLY_OF_LOADED, second, OUTCOME_OK, NULL);
	expect(bench.device, REPLY_OF_VERIFIED, first, OUTCOME_OUT_OF_BOUNDS, NULL);
	expect(bench.device, REPLY_OF_VERIFIED, second, OUTCOME_OUT_OF_BOUNDS, NULL);
	first = toy_load(bench.device, problem, &small, "good");
	assert_ok(device_verify(bench.device, first, &err));
	expect(bench.device, REPLY_OF_LOADED, first, OUTCOME_OK, NULL);
	expect(bench.device, REPLY_OF_VERIFIED, first, OUTCOME_OK, NULL);
	bench_close(&bench);
}

/* Tests every output dtype, with kernels that the stand-in does not know. */
TEST(every_output_dtype_is_compared)
{
	const enum dtype dtypes[] = {
		DTYPE_FP32, DTYPE_TF32, DTYPE_FP16, DTYPE_BF16, DTYPE_FP8_E4M3};
	struct bench bench;
	struct error err;

	bench_open(&bench, "");
	for (size_t i = 0; i < ARRAY_COUNT(dtypes); i++) {
		struct toy toy = small;
		device_handle handle;

		toy.ld_out += i; /* these kernels must not write into the row padding either */
		toy.dtype = dtypes[i];
		handle = toy_load(bench.device, toy_problem(bench.device, &toy, "reference"), &toy,
			"candidate");
		assert_ok(device_verify(bench.device, handle, &err));
		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		expect(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_OK, NULL);
		device_unload(bench.device, handle);
	}
	bench_close(&bench);
}

/* A large output is compared at sample points, or in whole rows if the unit is a row. */
TEST(large_outputs_are_compared_at_points)
{
	struct toy large = {.rows = 2100, .columns = 2053, .ld_in = 2053, .ld_out = 2060};
	struct toy rows = {
		.rows = 300, .columns = 40, .ld_in = 44, .ld_out = 40, .unit_is_row = true};
	struct bench bench;
	struct device_reply reply;
	device_handle handle;
	struct error err;

	bench_open(&bench, "");
	handle =
		toy_load(bench.device, toy_problem(bench.device, &large, "standin_scale_reference"),
			&large, "standin_scale");
	assert_ok(device_verify(bench.device, handle, &err));
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	reply = expect_reply(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_OK, NULL);
	assert_int_equal(reply.result.verification.points, 4 * (2100 + 2053) + 4 * 132 * 129);
	device_reply_release(&reply);
	device_unload(bench.device, handle);

	handle = toy_load(bench.device, toy_problem(bench.device, &rows, "standin_scale_reference"),
		&rows, "standin_scale");
	assert_ok(device_verify(bench.device, handle, &err));
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
	reply = expect_reply(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_OK, NULL);
	assert_int_equal(reply.result.verification.points, 300 * 40);
	device_reply_release(&reply);
	bench_close(&bench);
}

/* ---- loading ---- */
TEST(code_that_cannot_be_loaded_fails_its_candidate)
{
	struct toy hungry = small;
	struct bench bench;
	device_handle handle;
	uint32_t problem;
	struct error err;

	hungry.workspace_bytes = (uint64_t)3 << 30;
	bench_open(&bench, "kernel refused refuse_load\n");
	problem = toy_problem(bench.device, &small, "reference");
	handle = toy_load(bench.device, problem, &small, "refused");
	assert_ok(device_verify(bench.device, handle, &err));
	request_samples(bench.device, &handle, 1, 3);
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_LAUNCH_FAILED, "(200)");
	/* a repeated request gets the same answer */
	expect(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_LAUNCH_FAILED, "(200)");
	expect(bench.device, REPLY_OF_SAMPLED, handle, OUTCOME_LAUNCH_FAILED, "(200)");
	device_unload(bench.device, handle);
	handle = toy_load(bench.device, problem, &hungry, "candidate");
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OUT_OF_MEMORY, "MiB were requested");
	device_unload(bench.device, handle);
	handle = toy_load(bench.device, problem, &small, "candidate max_threads=96");
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_LAUNCH_FAILED,
		"at most 96 threads per block (32 registers per thread), but the launch has 128");
	handle = toy_load(bench.device, problem, &small, "candidate regs=600");
	expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_LAUNCH_FAILED,
		"no block of 128 threads fits on an SM");
	bench_close(&bench);
}

/* Loaded problems and code are evicted in order of last use. */
TEST(kept_problems_and_code_are_evicted_in_order_of_use)
{
	struct bench bench;
	uint32_t problem;

	bench_open(&bench,
		"libraries_max 4\n"); /* room for helper kernels, reference and two candidates */
	problem = toy_problem(bench.device, &small, "reference");
	for (int i = 0; i < 6; i++) {
		device_handle handle = toy_load(bench.device, problem, &small, "candidate");

		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		device_unload(bench.device, handle);
	}
	bench_close(&bench);
}

/* Unused problems are evicted to make room. */
TEST(unused_problems_are_evicted)
{
	struct toy toy = {.rows = 512, .columns = 512, .ld_in = 512, .ld_out = 512};
	struct bench bench;
	uint32_t problems[8];
	struct error err;

	bench_open(&bench, "memory_bytes 20000000\n");
	for (size_t i = 0; i < ARRAY_COUNT(problems); i++) {
		toy.rows = 512 - i;
		problems[i] = toy_problem(bench.device, &toy, "standin_scale_reference");
	}
	for (size_t i = 0; i < 2 * ARRAY_COUNT(problems); i++) {
		device_handle handle;

		toy.rows = 512 - i % ARRAY_COUNT(problems);
		handle = toy_load(
			bench.device, problems[i % ARRAY_COUNT(problems)], &toy, "standin_scale");

		assert_ok(device_verify(bench.device, handle, &err));
		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		expect(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_OK, NULL);
		device_unload(bench.device, handle);
	}
	bench_close(&bench);
}

/* Two candidates of one request are each killed once from outside, with an answer in between.
 * Neither fails. */
TEST(two_kills_with_an_answer_between_fail_no_candidate)
{
	CLEANUP(memory_free)
	char *mark = string_format(TEST_SCRATCH "/tiletune-killed-again-%d", getpid());
	CLEANUP(memory_free)
	char *script =
		string_format("kernel a once=%s.a killed\nkernel b once=%s.b killed\n", mark, mark);
	const struct sampling none = {0};
	struct bench bench;
	device_handle handles[2];
	uint32_t problem;
	struct error err;

	bench_open(&bench, script);
	problem = toy_problem(bench.device, &small, "reference");
	for (int i = 0; i < 2; i++) {
		handles[i] = toy_load(bench.device, problem, &small, i ? "b" : "a");
		expect(bench.device, REPLY_OF_LOADED, handles[i], OUTCOME_OK, NULL);
	}
	assert_ok(handles_submit(bench.device, handles, 2, REPLY_OF_VERIFIED, &none, &err));
	for (int i = 0; i < 2; i++) {
		CLEANUP(memory_free) char *killed = string_format("%s.%c", mark, "ab"[i]);

		expect(bench.device, REPLY_OF_VERIFIED, handles[i], OUTCOME_OK, NULL);
		assert_int_equal(unlink(killed), 0);
	}
	bench_close(&bench);
}

static int before(int argc, char **argv)
{
	if (bench_is_worker(argc, argv))
		return measure_worker_main();
	return RUN_TESTS;
}
BEFORE_TESTS(before)
