/* SPDX-License-Identifier: MIT
 *
 * Messages between the tuner and the measuring worker, written and read back.
 */
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "measure/protocol.h"

/* Writes value as a line and reads the line into back, which the caller releases. */
static void there_and_back(const struct record *record, const void *value, void *back)
{
	struct text line = {0};
	struct error err;

	memset(back, 0, record->size);
	record_append(record, value, &line);
	assert_ok(line_read(record, &line, "test", back, &err));
	text_release(&line);
}

TEST(listings_of_gpus_survive_the_pipe)
{
	struct device_listing gpu[2] = {{.identity = {.kind = "cuda",
						 .name = "NVIDIA X",
						 .uuid = "GPU-1",
						 .driver = "580.1",
						 .mig = "disabled",
						 .driver_cuda_version = 13000,
						 .clock_sm_hz = 1.98e9,
						 .clock_memory_hz = 1,
						 .clock_sm_max_hz = 2,
						 .power_limit_w = 700}},
		{.identity = {.uuid = "GPU-2"}}};
	struct measure_answer gpus = {.gpus = gpu, .gpu_count = 2}, back;

	string_put(gpu[0].facts.name, sizeof(gpu[0].facts.name), "NVIDIA \"X\"");
	gpu[0].facts.compute_capability = 90;
	gpu[0].facts.dram_bytes = (int64_t)150 << 30;
	gpu[0].facts.memory_bus_bits = 6144;
	there_and_back(&measure_answer_record, &gpus, &back);
	assert_int_equal(back.gpu_count, 2);
	/* every member survives, so that the record's table is complete */
	assert_memory_equal(back.gpus, gpu, sizeof(gpu));
	record_release(&measure_answer_record, &back);
}

/* Prepares one kernel that writes a workspace. */
static void plan_make(struct plan *plan)
{
	struct plan_launch *launch;

	*plan = (struct plan){.buffer_count = 1, .launch_count = 1, .workspace_bytes = 4096};
	plan->buffers = memory_zeroed(1, sizeof(*plan->buffers));
	plan->launches = launch = memory_zeroed(1, sizeof(*plan->launches));
	string_put(plan->buffers->name, sizeof(plan->buffers->name), "out");
	plan->buffers->role = BUFFER_WORKSPACE;
	plan->buffers->bytes = 4096;
	*launch = (struct plan_launch){.entry = string_copy("kernel"),
		.shape.grid = {264, 1, 1},
		.shape.block = {512, 1, 1},
		.shape.cluster = {1, 1, 1},
		.shape.repeat = 1,
		.argument_count = 3,
		.arguments = memory_zeroed(3, sizeof(*launch->arguments))};
	launch->arguments[0].kind = ARGUMENT_BUFFER;
	launch->arguments[1] = (struct plan_argument){.kind = ARGUMENT_INT64, .integer = INT64_MIN};
	launch->arguments[2] = (struct plan_argument){.kind = ARGUMENT_FLOAT32, .real = 0.1};
}

TEST(jobs_survive_the_pipe)
{
	char name[] = "GPU-1";
	char file[] = "expected.npy";
	struct plan_buffer tensor = {.name = "out", .role = BUFFER_OUTPUT, .bytes = 4};
	struct reference_output output = {.file = file, .tolerance_abs = 0.5};
	char first[] = "/cache/ab/abc", second[] = "b.cubin", helpers[] = "helpers";
	char *cubins[2] = {first, second};
	struct plan plan;
	struct device_problem problem = {.reference = {.tensors = &tensor,
						 .tensor_count = 1,
						 .outputs = &output,
						 .output_count = 1}};
	struct device_job jobs[2] = {{.ticket = UINT64_MAX - 1,
					     .problem = &problem,
					     .plan = &plan,
					     .cubins = cubins,
					     .cubin_count = 2,
					     .load = 3,
					     .verify = true},
		{.ticket = 7, .plan = &plan}};
	struct measure_setup setup = {.device = name,
		.seed = 0xfedcba9876543210u,
		.kernel_timeout_s = 2.5,
		.reference_timeout_s = 7,
		.l2_warm = true,
		.helpers = helpers};
	struct measure_request run = {.kind = REQUEST_MEASURE,
		.setup = &setup,
		.jobs = jobs,
		.job_count = 2,
		.measures = true,
		.sampling = {.rounds = 9,
			.seconds_max = 1.25,
			.give_up_us = 42,
			.rest_ratio = 0.5,
			.sustained_s = 0.125,
			.energy_s = 0.25}};
	struct measure_request back;

	plan_make(&plan);
	there_and_back(&measure_request_record, &run, &back);
	assert_string_equal(back.setup->device, name);
	assert_true(back.setup->seed == setup.seed && back.setup->l2_warm);
	assert_string_equal(back.setup->helpers, "helpers");
	assert_null(back.jobs[1].problem);
	assert_string_equal(back.jobs[0].problem->reference.outputs[0].file, file);
	assert_int_equal(back.jobs[0].cubin_count, 2);
	assert_string_equal(back.jobs[0].cubins[0], first);
	assert_string_equal(back.jobs[0].cubins[1], second);
	assert_true(back.jobs[0].verify && !back.jobs[1].verify);
	assert_int_equal(back.jobs[0].load, 3);
	assert_int_equal(back.jobs[0].plan->launch_count, 1);
	assert_string_equal(back.jobs[0].plan->launches[0].entry, "kernel");
	assert_int_equal(back.jobs[0].plan->launches[0].shape.grid[0], 264);
	assert_true(back.jobs[0].plan->launches[0].arguments[1].integer == INT64_MIN);
	assert_true(back.jobs[0].plan->launches[0].arguments[2].real == 0.1);
	assert_int_equal(back.jobs[0].plan->buffers[0].bytes, 4096);
	assert_memory_equal(&back.sampling, &run.sampling, sizeof(run.sampling));
	record_release(&measure_request_record, &back);
	plan_release(&plan);
}

static void refuse(const struct measure_request *request, const char *text)
{
	struct text line = {0};
	struct measure_request back = {0};
	struct error err;

	record_append(&measure_request_record, request, &line);
	assert_int_not_equal(
		line_read(&measure_request_record, &line, "test", &back, &err), STATUS_OK);
	assert_non_null(strstr(err.message, text));
	text_release(&line);
}

/* A job with invalid references never reaches the driver. */
TEST(a_job_with_invalid_references_never_reaches_the_driver)
{
	struct plan plan;
	struct device_job job = {.ticket = 1};
	struct measure_request run = {.jobs = &job, .job_count = 1};

	refuse(&run, "the member \"plan\" is missing");
	plan_make(&plan);
	job.plan = &plan;
	plan.launches[0].arguments[0].index = 7;
	refuse(&run, "test");
	plan_release(&plan);
}

TEST(results_survive_the_pipe)
{
	struct kernel_resources resources[2] = {{.regs_per_thread = 128,
							.smem_static_bytes = 16,
							.blocks_per_sm = 2,
							.max_clusters = -1},
		{.regs_per_thread = 40, .blocks_per_sm = 8, .max_clusters = 66}};
	char detail[] = "no";
	double samples[] = {1.5, 0.1, 1e6 / 3};
	struct measure_answer answer = {.id = 3,
		.job = 5,
		.has_outcome = true,
		.reply.fatal = true,
		.reply.gave_up = true,
		.reply.result = {.outcome = OUTCOME_WRONG_RESULT,
			.detail = detail,
			.flags = FLAG_MASK(THROTTLED),
			.resources = resources,
			.launch_count = 2,
			.samples_us = samples,
			.sample_count = 3,
			.verification = {.done = true,
				.points = 10,
				.violations = UINT64_C(1) << 60,
				.first_bad = 7,
				.first_out = NAN,
				.first_expected = -0.125,
				.max_abs_error = INFINITY,
				.max_rel_error = 1e-300}}};
	struct measure_answer back;

	there_and_back(&measure_answer_record, &answer, &back);
	assert_true(back.id == 3 && back.job == 5 && back.has_outcome);
	assert_int_equal(back.reply.result.outcome, OUTCOME_WRONG_RESULT);
	assert_string_equal(back.reply.result.detail, "no");
	assert_true(back.reply.fatal && back.reply.gave_up);
	assert_int_equal(back.reply.result.flags, FLAG_MASK(THROTTLED));
	assert_int_equal(back.reply.result.launch_count, 2);
	assert_memory_equal(back.reply.result.resources, resources, sizeof(resources));
	assert_int_equal(back.reply.result.sample_count, 3);
	assert_memory_equal(
		back.reply.result.samples_us, samples, sizeof(samples)); /* bitwise equal */
	assert_true(record_equal(&verification_record, &back.reply.result.verification,
		&answer.reply.result.verification));
	assert_true(back.reply.result.verification.done &&
		    isnan(back.reply.result.verification.first_out));
	assert_true(back.reply.result.verification.violations == UINT64_C(1) << 60);
	record_release(&measure_answer_record, &back);

	answer = (struct measure_answer){.id = 6, .is_progress = true, .progress = -1};
	there_and_back(&measure_answer_record, &answer, &back);
	assert_true(back.is_progress && back.progress == -1 && !back.has_outcome);
	assert_null(back.reply.result.detail);
	assert_false(back.reply.fatal || back.reply.gave_up || back.reply.result.verification.done);
	assert_int_equal(back.reply.result.sample_count, 0);
	record_release(&measure_answer_record, &back);
}

TEST(errors_survive_the_pipe)
{
	struct error theirs = {0}, ours = {0};

	error_set(&theirs, STATUS_NO_DEVICE, "no \"GPU\"\nhere");
	error_hint(&theirs, "buy one");
	there_and_back(&error_record, &theirs, &ours);
	assert_int_equal(ours.status, STATUS_NO_DEVICE);
	assert_string_equal(ours.message, theirs.message);
	assert_string_equal(ours.hint, "buy one");
}
