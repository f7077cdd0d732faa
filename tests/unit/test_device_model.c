/* SPDX-License-Identifier: MIT
 *
 * The device that is a spec sheet and predicts times.
 */
#include <math.h>
#include <string.h>

#include "unit/unit.h"

#include "handles.h"

static const char *const configs[] = {"configs", NULL};
static const struct device_options options = {.config_folders = configs};

static struct device *open_model(const char *name)
{
	struct device *device;
	struct error err;

	assert_ok(device_open(name, &options, &device, &err));
	return device;
}

static device_handle load(struct device *device, int regs, uint32_t smem_bytes, double predicted_us)
{
	char entry[] = "k";
	struct plan_launch launch = {.entry = entry,
		.shape.grid = {100, 1, 1},
		.shape.block = {128, 2, 1},
		.shape.cluster = {1, 1, 1},
		.shape.smem_dynamic_bytes = smem_bytes,
		.shape.repeat = 1};
	struct plan plan = {.launches = &launch, .launch_count = 1};
	struct kernel_resources resources = {.regs_per_thread = regs, .blocks_per_sm = -1};
	struct device_load_request request = {.problem = 1,
		.plan = &plan,
		.resources = &resources,
		.predicted_time_us = predicted_us};
	device_handle handle = 0;
	struct error err;

	assert_ok(device_load(device, &request, &handle, &err));
	return handle;
}

static struct device_reply take(
	struct device *device, enum reply_kind kind, device_handle handle, enum outcome outcome)
{
	struct device_reply reply = {0};

	assert_true(device_poll(device, 0, &reply));
	assert_int_equal(reply_kind(&reply), kind);
	assert_int_equal(reply_handle(&reply), handle);
	assert_int_equal(reply.result.outcome, outcome);
	return reply;
}

TEST(the_model_is_opened_by_name)
{
	struct device *device = open_model("model:h200-sxm");

	assert_string_equal(device->identity.kind, "model");
	assert_string_equal(device->identity.name, device->spec->title);
	assert_int_equal(device->identity.driver_cuda_version, 0);
	assert_true(device->kind->compiles);
	assert_false(device->kind->measures);
	assert_null(device->anchor.plan);
	assert_int_equal(device->pool_count, 0);
	device_close(device);
	device = open_model("model:"); /* no name selects the embedded default */
	assert_int_equal(device->spec->compute_capability, 90);
	device_close(device);
	device_close(NULL);
}

TEST(unknown_models_are_refused)
{
	struct device *device;
	struct error err;

	assert_fails(device_open("model:h200", &options, &device, &err), STATUS_BAD_INPUT, "h200");
	assert_fails(device_open("modle:h200-sxm", &options, &device, &err), STATUS_BAD_INPUT,
		"expected a name that begins with one of cuda:, model:");
	assert_non_null(strstr(err.hint, "did you mean model:h200-sxm?"));
	assert_fails(device_open("", &options, &device, &err), STATUS_BAD_INPUT, "found");
	assert_null(device);
}

TEST(a_candidate_gets_its_predicted_time)
{
	struct device *device = open_model("model:h200-sxm");
	struct device_reply reply;
	uint32_t problem = 0;
	device_handle handle;
	struct error err;

	assert_ok(device_problem(device, "toy", "n=1", NULL, NULL, 0, &problem, &err));
	assert_int_not_equal(problem, 0);
	handle = load(device, 64, 50000, 12.5);
	assert_ok(device_verify(device, handle, &err));
	assert_ok(device_sample(device,
		&(struct device_sample_request){
			.handles = &handle, .handle_count = 1, .sampling.rounds = 9},
		&err));
	assert_int_equal(device_pending(device), 3);
	reply = take(device, REPLY_OF_LOADED, handle, OUTCOME_OK);
	assert_int_equal(reply.result.launch_count, 1);
	assert_int_equal(reply.result.resources[0].blocks_per_sm,
		4); /* registers limit it: 256 threads with 64 each */
	assert_int_equal(reply.result.resources[0].max_clusters, -1);
	device_reply_release(&reply);
	reply = take(device, REPLY_OF_VERIFIED, handle, OUTCOME_OK);
	assert_false(reply.result.verification.done);
	device_reply_release(&reply);
	reply = take(device, REPLY_OF_SAMPLED, handle, OUTCOME_OK);
	assert_true(reply.result.predicted);
	assert_int_equal(reply.result.sample_count, 1);
	assert_true(reply.result.samples_us[0] == 12.5);
	device_reply_release(&reply);
	assert_int_equal(device_pending(device), 0);
	device_unload(device, handle);
	device_close(device);
}

/* Every request for a candidate that cannot run is answered with the reason. */
TEST(a_candidate_that_cannot_run_is_answered_with_the_reason)
{
	struct device *device = open_model("model:h200-sxm");
	struct device_reply reply;
	device_handle handle = load(device, 255, 300000, 3),
		      endless = load(device, 32, 0, INFINITY);
	struct error err;

	reply = take(device, REPLY_OF_LOADED, handle, OUTCOME_LAUNCH_FAILED);
	assert_non_null(strstr(reply.result.detail, "k: no block fits on an SM (limited by "));
	device_reply_release(&reply);
	reply = take(device, REPLY_OF_LOADED, endless, OUTCOME_OK);
	device_reply_release(&reply);
	assert_ok(device_verify(device, handle, &err));
	assert_ok(device_sample(device,
		&(struct device_sample_request){.handles = (device_handle[]){handle, endless},
			.handle_count = 2,
			.sampling.rounds = 1},
		&err));
	reply = take(device, REPLY_OF_VERIFIED, handle, OUTCOME_LAUNCH_FAILED);
	device_reply_release(&reply);
	reply = take(device, REPLY_OF_SAMPLED, handle, OUTCOME_LAUNCH_FAILED);
	assert_int_equal(reply.result.sample_count, 0);
	device_reply_release(&reply);
	reply = take(device, REPLY_OF_SAMPLED, endless, OUTCOME_LAUNCH_FAILED);
	device_reply_release(&reply);
	device_close(device);
}
