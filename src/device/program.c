/* SPDX-License-Identifier: MIT
 *
 * A program that takes configurations and answers with times, as a device.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/gpu_lock.h"
#include "device/program_queue.h"
#include "family/family.h"
#include "process/host_limits.h"

/* What the program says of its device, for what is written down of the run. */
static enum status describe(struct program *program, const struct program_hello *hello,
	const struct device_options *options, struct error *err)
{
	struct device *device = program->device;
	struct device_identity *identity = &device->identity;
	CLEANUP(text_release) struct text versions = {0};

	named_values_format(&hello->versions, ", ", &versions);
	string_put(identity->name, sizeof(identity->name), hello->device.facts.name);
	string_put(identity->uuid, sizeof(identity->uuid), hello->device.uuid);
	string_put(identity->driver, sizeof(identity->driver), text_string(&versions));
	TRY(device_spec_match(&hello->device.facts, options->config_folders, &device->spec, err));
	return *identity->uuid
		       ? gpu_lock_acquire(identity->uuid, options->wait_s, &device->lock_fd, err)
		       : STATUS_OK;
}

static enum status greet(
	struct program *program, const struct device_options *options, struct error *err)
{
	const struct host_limits limits = host_limits_read("");
	const unsigned workers = host_limits_workers(&limits);
	bool can_prepare;
	size_t processes;

	if (program_queue_open(program, err) != STATUS_OK)
		return error_context(err, "%s: $.program", program->family->file);
	can_prepare = program->hello.abilities &&
		      name_find("prepare", (const char *const *)program->hello.abilities) >= 0;
	processes = !can_prepare ? 0 : workers < PREPARE_MAX ? workers : PREPARE_MAX;
	program_queue_prepare(program, processes);
	program->device->ahead = 2 * (processes + 1);
	return describe(program, &program->hello, options, err);
}

static enum status program_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	struct program *program = memory_zeroed(1, sizeof(*program));

	(void)rest;
	device->state = program;
	*program = (struct program){.device = device,
		.path = options->worker_path,
		.family = options->program,
		.seed = options->seed};
	return options->program
		       ? greet(program, options, err)
		       : error_set(err, STATUS_BAD_INPUT,
				 "--device: a program is the device of its own JSON alone");
}

static void program_close(struct device *device)
{
	struct program *program = device->state;

	if (!program)
		return;
	program_queue_release(program);
	free(program);
}

static bool is_anchor(const struct device_job *job)
{
	return !job->problem;
}

static enum status program_submit(struct device *device, const struct device_job *jobs,
	size_t count, const struct sampling *sampling, struct error *err)
{
	struct program *program = device->state;
	CLEANUP(memory_free) struct device_job *asked = memory_zeroed(count + 1, sizeof(*asked));
	size_t left = 0;

	if (device->lost)
		return error_set(err, STATUS_NO_DEVICE, "%s: lost", program->family->file);
	for (size_t i = 0; i < count; i++) {
		struct device_reply reply = {
			.ticket = jobs[i].ticket, .result.measured = {NAN, NAN, NAN}};

		if (!is_anchor(&jobs[i]) && sampling->energy_s <= 0) {
			asked[left++] = jobs[i];
			continue;
		}
		/* Its own clock tells nothing: the anchor takes 1 us always, so a ratio to it is a
		 * time. */
		reply.result.sample_count = is_anchor(&jobs[i]) ? sampling->rounds : 0;
		reply.result.samples_us =
			memory_zeroed(reply.result.sample_count + 1, sizeof(double));
		for (size_t k = 0; k < reply.result.sample_count; k++)
			reply.result.samples_us[k] = 1;
		device_reply_push(device, reply);
	}
	if (left)
		program_request_add(program, asked, left, sampling);
	return STATUS_OK;
}

const struct device_kind device_kind_program = {
	.name = "program",
	.measures = true,
	.open = program_open,
	.close = program_close,
	.submit = program_submit,
};
