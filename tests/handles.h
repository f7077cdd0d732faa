/* SPDX-License-Identifier: MIT
 *
 * Numbers for problems and candidates of a device, for tests that load, verify and sample them one
 * after the other. Each candidate is a job of its own, with all data from loading. The ticket
 * includes the kind of the reply.
 */
#ifndef TESTS_HANDLES_H
#define TESTS_HANDLES_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "device/device.h"
#include "record/record.h"

typedef uint32_t device_handle; /* 0 is no handle */

enum reply_kind {
	REPLY_OF_LOADED,
	REPLY_OF_VERIFIED,
	REPLY_OF_SAMPLED,
	REPLY_OF_LOST,
};

enum {
	HANDLES_MAX = 4096
};

struct device_load_request {
	uint32_t problem; /* number from device_problem(); 0 is no problem */
	const char *family;
	const char *configuration;
	char *const *cubins;
	size_t cubin_count;
	const struct plan *plan;
	const struct kernel_resources *resources;
	double predicted_time_us;
};

struct device_sample_request {
	const device_handle *handles;
	size_t handle_count;
	struct sampling sampling;
};

/* Static, so that jobs live as long as the program. */
static struct {
	struct device_problem problems[HANDLES_MAX]; /* indexed by problem number - 1 */
	struct device_job jobs[HANDLES_MAX];         /* indexed by handle - 1 */
	size_t problem_count, job_count;
} handles_known;

static inline char **handles_copy_cubins(char *const *cubins, size_t count)
{
	char **copies = memory_zeroed(count + 1, sizeof(*copies));

	for (size_t i = 0; i < count; i++)
		copies[i] = string_copy(cubins[i]);
	return copies;
}

static inline enum status device_problem(struct device *device, const char *operation,
	const char *text, const struct reference_plan *reference, char *const *cubins,
	size_t cubin_count, uint32_t *problem, struct error *err)
{
	struct device_problem *added = &handles_known.problems[handles_known.problem_count++];

	(void)device, (void)err;
	*added = (struct device_problem){.operation = string_copy(operation),
		.text = string_copy(text),
		.cubins = handles_copy_cubins(cubins, cubin_count),
		.cubin_count = cubin_count};
	if (reference)
		record_copy(&reference_plan_record, reference, &added->reference);
	*problem = (uint32_t)handles_known.problem_count;
	return STATUS_OK;
}

static inline enum status handles_submit(struct device *device, const device_handle *handles,
	size_t count, enum reply_kind kind, const struct sampling *sampling, struct error *err)
{
	struct device_job *jobs = memory_zeroed(count + 1, sizeof(*jobs));
	enum status status;

	for (size_t i = 0; i < count; i++) {
		jobs[i] = handles_known.jobs[handles[i] - 1];
		jobs[i].ticket = (uint64_t)handles[i] << 2 | (uint64_t)kind;
		jobs[i].verify = kind == REPLY_OF_VERIFIED;
	}
	status = device_submit(device, jobs, count, sampling, err);
	free(jobs);
	return status;
}

static inline enum status device_load(struct device *device,
	const struct device_load_request *request, device_handle *handle, struct error *err)
{
	const size_t launches = request->plan ? request->plan->launch_count : 0;
	const struct sampling none = {0};
	struct plan *plan = memory_zeroed(1, sizeof(*plan));

	if (request->plan)
		record_copy(&plan_record, request->plan, plan);
	*handle = (device_handle)++handles_known.job_count;
	handles_known.jobs[*handle - 1] = (struct device_job){
		.problem = request->problem ? &handles_known.problems[request->problem - 1] : NULL,
		.family = string_copy(request->family),
		.configuration = string_copy(request->configuration),
		.plan = plan,
		.cubins = handles_copy_cubins(request->cubins, request->cubin_count),
		.cubin_count = request->cubin_count,
		.load = *handle,
		.resources = request->resources && launches
				     ? memory_copy(request->resources,
					       launches * sizeof(*request->resources))
				     : NULL,
		.predicted_time_us = request->predicted_time_us};
	return handles_submit(device, handle, 1, REPLY_OF_LOADED, &none, err);
}

static inline enum status device_verify(
	struct device *device, device_handle handle, struct error *err)
{
	const struct sampling none = {0};

	return handles_submit(device, &handle, 1, REPLY_OF_VERIFIED, &none, err);
}

static inline enum status device_sample(
	struct device *device, const struct device_sample_request *request, struct error *err)
{
	return handles_submit(device, request->handles, request->handle_count, REPLY_OF_SAMPLED,
		&request->sampling, err);
}

static inline void device_unload(struct device *device, device_handle handle)
{
	(void)device, (void)handle; /* only the worker needs the arguments */
}

static inline enum status device_anchor_handle(
	struct device *device, device_handle *handle, struct error *err)
{
	(void)err;
	*handle = (device_handle)++handles_known.job_count;
	handles_known.jobs[*handle - 1] = device->anchor;
	return STATUS_OK;
}

static inline enum reply_kind reply_kind(const struct device_reply *reply)
{
	return reply->lost ? REPLY_OF_LOST : (enum reply_kind)(reply->ticket & 3);
}

static inline device_handle reply_handle(const struct device_reply *reply)
{
	return reply->lost ? 0 : (device_handle)(reply->ticket >> 2);
}

#endif
