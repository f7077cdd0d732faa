/* SPDX-License-Identifier: MIT
 *
 * The device code on a real GPU. Kernels that are wrong, write outside, crash or hang are detected
 * (bad_kernels.cu), other candidates are not affected, the computed occupancy equals the driver's,
 * and times are plausible.
 *
 *	test_device_gpu [ROOT [DEVICE]]
 *
 * ROOT (default .) has templates/ and tests/gpu/; DEVICE is cuda:0 by default. Needs a driver and
 * NVRTC. Prints a line per check and a total.
 */
#include "gpu_test.h"

/* ---- verdicts ---- */
static void expect_verdict(struct gpu_test *test, uint32_t problem, const struct shape *shape,
	const char *entry, enum outcome outcome, const char *detail)
{
	device_handle handle = load_entry(test, problem, shape, entry, 256, 0);
	double start = clock_seconds();
	struct device_reply reply;
	struct error err;

	if (device_verify(test->device, handle, &err) != STATUS_OK)
		die(&err);
	reply = next(test);
	device_reply_release(&reply);
	reply = next(test);
	check(test,
		reply.result.outcome == outcome &&
			(!detail || (reply.result.detail && strstr(reply.result.detail, detail))),
		"%s over %dx%d: %s (%s), %.2f s", entry, shape->rows, shape->columns,
		outcome_name(reply.result.outcome), reply.result.detail ? reply.result.detail : "",
		clock_seconds() - start);
	device_reply_release(&reply);
	device_unload(test->device, handle);
}

static void test_verdicts(struct gpu_test *test, const struct shape *shape)
{
	const struct {
		const char *entry;
		enum outcome outcome;
		const char *detail;
	} cases[] = {
		{"good", OUTCOME_OK, NULL},
		{"wrong_last", OUTCOME_WRONG_RESULT, NULL},
		{"wrong_patch", OUTCOME_WRONG_RESULT, NULL},
		{"nan_somewhere", OUTCOME_WRONG_RESULT, "NaN"},
		{"unwritten_row", OUTCOME_WRONG_RESULT, "not written"},
		{"nothing", OUTCOME_WRONG_RESULT, "not written"},
		{"all_nan", OUTCOME_WRONG_RESULT, "NaN"},
		{"narrow_type", OUTCOME_WRONG_RESULT, NULL},
		{"some_points", OUTCOME_WRONG_RESULT, NULL},
		{"skips_multiprocessors", OUTCOME_WRONG_RESULT, "not written"},
		{"steals_expected", OUTCOME_WRONG_RESULT, NULL},
		{"zeroes_input", OUTCOME_OUT_OF_BOUNDS, "input in overwritten"},
		{"write_behind", OUTCOME_OUT_OF_BOUNDS, "4 bytes written behind out"},
		{"write_before", OUTCOME_OUT_OF_BOUNDS, "4 bytes written between in and out"},
		{"write_pitch", OUTCOME_OUT_OF_BOUNDS, "between the rows of out"},
		{"write_input", OUTCOME_OUT_OF_BOUNDS, "the input in was overwritten"},
		{"write_workspace", OUTCOME_OUT_OF_BOUNDS, "4 bytes written behind workspace"},
		{"nondeterministic", OUTCOME_NONDETERMINISTIC, NULL},
		{"illegal_address", OUTCOME_CRASHED, "700"},
		{"good", OUTCOME_OK, NULL},
		{"misaligned_address", OUTCOME_CRASHED, "716"},
		{"trap", OUTCOME_CRASHED, NULL},
		{"hang", OUTCOME_TIMED_OUT, "there was no answer within 3 s"},
		{"good", OUTCOME_OK, NULL},
	};
	uint32_t problem = announce(test, shape);

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		expect_verdict(
			test, problem, shape, cases[i].entry, cases[i].outcome, cases[i].detail);
}

static void test_refused(struct gpu_test *test, const struct shape *shape)
{
	uint32_t problem = announce(test, shape);
	device_handle handles[3] = {load_entry(test, problem, shape, "good", 2048, 0),
		load_entry(test, problem, shape, "good", 256, 300000),
		load_entry(test, problem, shape, "missing", 256, 0)};
	const char *const what[3] = {"2048 threads", "300000 B of shared memory", "no such kernel"};

	for (int i = 0; i < 3; i++) {
		struct device_reply reply = next(test);

		check(test,
			reply_handle(&reply) == handles[i] &&
				reply.result.outcome == OUTCOME_LAUNCH_FAILED,
			"%s: %s (%s)", what[i], outcome_name(reply.result.outcome),
			reply.result.detail ? reply.result.detail : "");
		device_reply_release(&reply);
		device_unload(test->device, handles[i]);
	}
}

/* Tests three candidates, one of which crashes while they are sampled in turn. */
static void test_crash_in_company(struct gpu_test *test, const struct shape *shape)
{
	uint32_t problem = announce(test, shape);
	device_handle handles[3] = {load_entry(test, problem, shape, "good", 256, 0),
		load_entry(test, problem, shape, "trap_later", 256, 0),
		load_entry(test, problem, shape, "good", 512, 0)};
	struct device_sample_request request = {.handles = handles,
		.handle_count = 3,
		.sampling.rounds = 10,
		.sampling.seconds_max = 20};
	struct error err;

	if (device_verify(test->device, handles[1], &err) != STATUS_OK ||
		device_sample(test->device, &request, &err) != STATUS_OK)
		die(&err);
	for (int i = 0; i < 7; i++) {
		struct device_reply reply = next(test);

		if (reply_kind(&reply) == REPLY_OF_VERIFIED)
			check(test, reply.result.outcome == OUTCOME_OK,
				"trap_later is right at first: %s",
				outcome_name(reply.result.outcome));
		if (reply_kind(&reply) == REPLY_OF_SAMPLED)
			check(test,
				reply.result.outcome == (reply_handle(&reply) == handles[1]
									? OUTCOME_CRASHED
									: OUTCOME_OK) &&
					(reply_handle(&reply) == handles[1] ||
						reply.result.sample_count == 10),
				"sampled beside one that dies: %s, %zu samples",
				outcome_name(reply.result.outcome), reply.result.sample_count);
		device_reply_release(&reply);
	}
	for (int i = 0; i < 3; i++)
		device_unload(test->device, handles[i]);
}

/* ---- kernels that do not do their work ---- */
static struct device_reply verify_and_sample(
	struct gpu_test *test, uint32_t problem, const struct shape *shape, const char *entry)
{
	const struct sampling sampling = {.rounds = 6};
	device_handle handle = load_entry(test, problem, shape, entry, 256, 0);
	struct device_reply reply;
	struct error err;

	if (handles_submit(test->device, &handle, 1, REPLY_OF_VERIFIED, &sampling, &err) !=
		STATUS_OK)
		die(&err);
	reply = next(test);
	device_reply_release(&reply);
	reply = next(test);
	device_unload(test->device, handle);
	return reply;
}

static void test_skipped_work(struct gpu_test *test, const struct shape *shape)
{
	static const struct {
		const char *entry;
		enum outcome outcome;
		bool is_slow;       /* takes as long as the correct kernel */
		const char *detail; /* NULL if no detail is expected */
	} cases[] = {
		{"works", OUTCOME_OK, true, NULL},
		{"skips_written", OUTCOME_OK, true, "on inputs that it has seen"},
		{"counts_launches", OUTCOME_WRONG_RESULT, false, "only right on known data"},
		{"knows_buffers", OUTCOME_WRONG_RESULT, false, "only right on known data"},
		{"write_far", OUTCOME_OUT_OF_BOUNDS, false, NULL},
		{"counts_in_workspace", OUTCOME_WRONG_RESULT, false, "only right on known data"},
		{"knows_checksum", OUTCOME_OK, true, "only fast on known data"},
		{"writes_one", OUTCOME_OK, true, "only fast on known data"},
		{"computes_ahead", OUTCOME_OK, true, "only fast on known data"},
		{"works", OUTCOME_OK, true, NULL},
	};
	uint32_t problem = announce(test, shape);
	double honest_us = 0;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct device_reply reply = verify_and_sample(test, problem, shape, cases[i].entry);
		const struct result *result = &reply.result;
		const double time_us = result->sample_count ? result->samples_us[0] : 0;

		if (i == 0)
			honest_us = time_us;
		check(test,
			result->outcome == cases[i].outcome &&
				(!cases[i].is_slow || time_us > 0.8 * honest_us) &&
				(!cases[i].detail || (result->detail && strstr(result->detail,
										cases[i].detail))),
			"%s over %dx%d: %s, %.1f us beside %.1f (%s)", cases[i].entry, shape->rows,
			shape->columns, outcome_name(result->outcome), time_us, honest_us,
			result->detail ? result->detail : "");
		device_reply_release(&reply);
	}
}

/* ---- occupancy ---- */
static void test_occupancy(struct gpu_test *test, const struct shape *shape)
{
	const uint32_t threads[] = {32, 96, 128, 256, 384, 512, 768, 1024};
	const uint32_t smem[] = {0, 1000, 20000, 49152, 60000, 114688, 115712, 160000, 232448};
	uint32_t problem = announce(test, shape);
	unsigned same = 0, different = 0;

	for (size_t i = 0; i < ARRAY_COUNT(threads); i++)
		for (size_t j = 0; j < ARRAY_COUNT(smem); j++) {
			device_handle handle;
			struct device_reply reply;
			enum occupancy_limiter limiter;
			int ours;

			if (smem[j] > test->device->spec->smem_per_block_bytes)
				continue;
			handle = load_entry(test, problem, shape, "good", threads[i], smem[j]);
			reply = next(test);
			ours = reply.result.resources
				       ? occupancy_blocks_per_sm(test->device->spec,
						 (int)threads[i],
						 reply.result.resources[0].regs_per_thread,
						 reply.result.resources[0].smem_static_bytes,
						 smem[j], &limiter)
				       : -1;
			if (reply.result.outcome == OUTCOME_OK &&
				reply.result.resources[0].blocks_per_sm == ours)
				same++;
			else if (++different < 4)
				printf("      %u threads, %u B: the driver %d, we %d\n", threads[i],
					smem[j],
					reply.result.resources
						? reply.result.resources[0].blocks_per_sm
						: -1,
					ours);
			device_reply_release(&reply);
			device_unload(test->device, handle);
		}
	check(test, different == 0 && same > 0, "occupancy: %u of %u as the driver says", same,
		same + different);
}

/* ---- time ---- */
static device_handle load_busy(
	struct gpu_test *test, uint32_t problem, const struct shape *shape, int iterations)
{
	struct plan_buffer buffers[3];
	struct plan_argument arguments[] = {
		{.kind = ARGUMENT_BUFFER, .index = 2}, integer(iterations)};
	char entry[] = "busy";
	struct plan_launch launch = {.entry = entry,
		.shape.grid = {(uint32_t)test->device->spec->sm_count, 1, 1},
		.shape.block = {256, 1, 1},
		.shape.cluster = {1, 1, 1},
		.shape.repeat = 1,
		.arguments = arguments,
		.argument_count = 2};
	struct plan plan = {.buffers = buffers,
		.buffer_count = 3,
		.tensor_count = 2,
		.launches = &launch,
		.launch_count = 1,
		.workspace_bytes = 256};

	tensors(shape, buffers);
	return load(test, problem, &plan);
}

/* Times the same work at different lengths, in graphs or one by one, interleaved with the
 * anchor. */
static void test_time(struct gpu_test *test, const struct shape *shape)
{
	enum {
		LENGTHS = 4
	};
	const int iterations[LENGTHS] = {4000, 40000, 400000, 4000000};
	uint32_t problem = announce(test, shape);
	device_handle handles[LENGTHS + 1];
	double median_us[LENGTHS + 1] = {0}, longest;
	struct device_sample_request request = {.handles = handles,
		.handle_count = LENGTHS + 1,
		.sampling.rounds = 24,
		.sampling.seconds_max = 10};
	struct error err;

	for (int i = 0; i < LENGTHS; i++)
		handles[i] = load_busy(test, problem, shape, iterations[i]);
	if (device_anchor_handle(test->device, &handles[LENGTHS], &err) != STATUS_OK ||
		device_sample(test->device, &request, &err) != STATUS_OK)
		die(&err);
	for (int i = 0; i < 2 * LENGTHS + 1; i++) {
		struct device_reply reply = next(test);

		for (int j = 0; reply_kind(&reply) == REPLY_OF_SAMPLED && j <= LENGTHS; j++)
			if (handles[j] == reply_handle(&reply) && reply.result.sample_count) {
				struct summary summary = statistics_summary(
					reply.result.samples_us, reply.result.sample_count);

				median_us[j] = summary.median;
				printf("      %s %d: %.2f us, %.2f..%.2f, %zu samples%s\n",
					j < LENGTHS ? "busy" : "anchor",
					j < LENGTHS ? iterations[j] : 0, summary.median,
					summary.ci95_low, summary.ci95_high, summary.count,
					reply.result.flags & FLAG_MASK(THROTTLED) ? ", throttled"
										  : "");
			}
		device_reply_release(&reply);
	}
	/* the fixed 1.5 us for start and end of a kernel are not a timing error */
	longest = median_us[LENGTHS - 1] / iterations[LENGTHS - 1];
	for (int i = 0; i < LENGTHS - 1; i++) {
		double expected = longest * iterations[i];

		check(test, fabs(median_us[i] - expected) < 0.03 * expected + 3,
			"busy %d: expected about %.2f us, found %.2f", iterations[i], expected,
			median_us[i]);
	}
	check(test,
		fabs(median_us[LENGTHS] - test->device->identity.anchor_us) <
			0.03 * median_us[LENGTHS],
		"anchor: %.1f us at the start, %.1f now", test->device->identity.anchor_us,
		median_us[LENGTHS]);
	for (int i = 0; i <= LENGTHS; i++)
		device_unload(test->device, handles[i]);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : ".";
	const char *name = argc > 2 ? argv[2] : "cuda:0";
	const struct shape small = {.rows = 33, .columns = 65, .ld_out = 70, .ld_in = 65};
	const struct shape large = {.rows = 4097, .columns = 4099, .ld_out = 4104, .ld_in = 4100};
	struct gpu_test test = {.passed = 0};
	const struct device_identity *identity;
	int code;

	if (gpu_test_worker(argc, argv, &code))
		return code;
	test.folders[0] = string_format("%s/templates", root);
	test.folders[1] = string_format("%s/tests/gpu", root);
	open_device(&test, name);
	identity = &test.device->identity;
	printf("%s, driver %s, CUDA %d, %.0f of %.0f MHz, limit %.0f W, anchor %.1f us\n",
		identity->name, identity->driver, identity->driver_cuda_version,
		identity->clock_sm_hz / 1e6, identity->clock_sm_max_hz / 1e6,
		identity->power_limit_w, identity->anchor_us);
	test_verdicts(&test, &small);
	test_verdicts(&test, &large);
	test_refused(&test, &small);
	test_crash_in_company(&test, &small);
	test_skipped_work(&test, &large);
	test_occupancy(&test, &small);
	test_time(&test, &small);
	device_close(test.device);
	compiler_close(test.compiler);
	free(test.helpers);
	free(test.cubin);
	free(test.folders[0]);
	free(test.folders[1]);
	printf("%u passed, %u failed\n", test.passed, test.failed);
	return test.failed ? STATUS_FAILED : STATUS_OK;
}
