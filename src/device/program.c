/* SPDX-License-Identifier: MIT
 *
 * A program that takes configurations and answers with times, as a device: loading is its
 * "prepare" (several processes, ahead of the one that measures), verifying and sampling are its
 * "measure".
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
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
		       ? gpu_lock_acquire(identity->uuid, options->wait_s, &program->lock_fd, err)
		       : STATUS_OK;
}

static bool can_prepare(const struct program_hello *hello)
{
	bool can = false;

	for (char *const *ability = hello->abilities; ability && *ability; ability++)
		can |= strcmp(*ability, "prepare") == 0;
	return can;
}

static enum status greet(
	struct program *program, const struct device_options *options, struct error *err)
{
	struct program_process *process = &program->processes[0];
	CLEANUP(text_release) struct text why = {0};
	struct program_hello hello = {0};
	const struct host_limits limits = host_limits_read("");
	enum program_heard heard = PROGRAM_SILENT;
	enum status status;

	TRY(program_start(process, program->family, program->seed, false, err));
	while (heard == PROGRAM_SILENT) {
		const double left = process->said_s + process->allow_s - clock_seconds();
		struct pollfd fds[1];

		if (left <= 0)
			text_appendf(&why, "the program did not answer \"hello\" within %g s",
				process->allow_s);
		if (left > 0)
			poll(fds, program_fds(program->device, fds, 1), (int)(1e3 * left) + 1);
		heard = left > 0 ? program_hear(process, &program_hello_record, &hello, &why)
				 : PROGRAM_FAILED;
	}
	if (heard == PROGRAM_FAILED) {
		program_end(process, &why);
		return error_set(err, STATUS_FAILED, "%s: $.program: %s", program->family->file,
			text_string(&why));
	}
	process->state = PROGRAM_IDLE;
	program->process_count = 1;
	if (can_prepare(&hello))
		program->process_count += host_limits_workers(&limits) < PREPARE_MAX
						  ? host_limits_workers(&limits)
						  : PREPARE_MAX;
	program->device->ahead = 2 * program->process_count;
	status = describe(program, &hello, options, err);
	record_release(&program_hello_record, &hello);
	return status;
}

static enum status program_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	struct program *program = memory_zeroed(1, sizeof(*program));

	(void)rest;
	device->state = program;
	*program = (struct program){
		.device = device, .family = options->program, .seed = options->seed, .lock_fd = -1};
	return options->program
		       ? greet(program, options, err)
		       : error_set(err, STATUS_BAD_INPUT,
				 "--device: a program is the device of its own JSON alone");
}

static void program_close(struct device *device)
{
	struct program *program = device->state;
	CLEANUP(text_release) struct text ignored = {0};

	if (!program)
		return;
	for (size_t i = 0; i < PROCESSES_MAX; i++)
		if (program->processes[i].state != PROGRAM_DOWN)
			program_end(&program->processes[i], &ignored);
	program_queue_release(program);
	if (program->lock_fd >= 0)
		close(program->lock_fd);
	free(program);
}

static device_handle handle_add(
	struct program *program, uint32_t problem, const char *configuration)
{
	ARRAY_GROW(program->handles, program->handle_count, program->handle_capacity);
	program->handles[program->handle_count++] = (struct program_handle){
		.problem = problem, .configuration = string_copy(configuration)};
	return (device_handle)program->handle_count;
}

/* Its own clock tells nothing: the anchor takes 1 us always, so a ratio to it is a time. */
static enum status program_anchor(struct device *device, device_handle *handle, struct error *err)
{
	(void)err;
	*handle = handle_add(device->state, 0, "");
	return STATUS_OK;
}

static enum status program_problem(struct device *device, const char *operation,
	const char *problem_text, const struct reference_plan *reference,
	const struct text *reference_cubins, size_t cubin_count, uint32_t *problem,
	struct error *err)
{
	struct program *program = device->state;

	(void)operation, (void)reference, (void)reference_cubins, (void)cubin_count, (void)err;
	ARRAY_GROW(program->problems, program->problem_count, program->problem_capacity);
	program->problems[program->problem_count++] = string_copy(problem_text);
	*problem = (uint32_t)program->problem_count;
	return STATUS_OK;
}

static enum status program_load(struct device *device, const struct device_load_request *request,
	device_handle *handle, struct error *err)
{
	struct program *program = device->state;
	const struct sampling none = {0};

	(void)err;
	*handle = handle_add(program, request->problem, request->configuration);
	for (size_t i = 0; i + 1 < program->handle_count; i++)
		if (program->handles[i].problem == request->problem &&
			strcmp(program->handles[i].configuration, request->configuration) == 0) {
			program_push(program, DEVICE_EVENT_LOADED, *handle, OUTCOME_OK, NULL);
			return STATUS_OK;
		}
	program_request(program, DEVICE_EVENT_LOADED, handle, 1, &none);
	return STATUS_OK;
}

/* What was not measured yet is verified together with its first samples. */
static enum status program_verify(struct device *device, device_handle handle, struct error *err)
{
	struct program *program = device->state;
	const struct sampling once = {.rounds = 1};

	(void)err;
	if (program_handle_of(program, handle)->is_measured)
		program_request(program, DEVICE_EVENT_VERIFIED, &handle, 1, &once);
	else
		program_push(program, DEVICE_EVENT_VERIFIED, handle, OUTCOME_OK, NULL);
	return STATUS_OK;
}

static enum status program_sample(
	struct device *device, const struct device_sample_request *request, struct error *err)
{
	struct program *program = device->state;
	CLEANUP(memory_free)
	device_handle *handles = memory_zeroed(request->handle_count + 1, sizeof(*handles));
	size_t count = 0;

	(void)err;
	for (size_t i = 0; i < request->handle_count; i++) {
		const bool is_anchor = !program_handle_of(program, request->handles[i])->problem;
		struct device_event event = {.kind = DEVICE_EVENT_SAMPLED,
			.handle = request->handles[i],
			.measured = {NAN, NAN, NAN}};

		if (!is_anchor && request->sampling.energy_s <= 0) {
			handles[count++] = request->handles[i];
			continue;
		}
		event.sample_count = is_anchor ? request->sampling.rounds : 0;
		event.samples_us = memory_zeroed(event.sample_count + 1, sizeof(double));
		for (size_t k = 0; k < event.sample_count; k++)
			event.samples_us[k] = 1;
		device_event_push(device, event);
	}
	if (count)
		program_request(program, DEVICE_EVENT_SAMPLED, handles, count, &request->sampling);
	return STATUS_OK;
}

static void program_unload(struct device *device, device_handle handle)
{
	(void)device, (void)handle; /* what a program keeps of it is its own business */
}

static size_t program_pending(const struct device *device)
{
	const struct program *program = device->state;
	size_t count = 0;

	for (size_t i = 0; i < program->request_count; i++)
		count += program->requests[i]->left;
	return count;
}

const struct device_kind device_kind_program = {
	.name = "program",
	.measures = true,
	.open = program_open,
	.close = program_close,
	.anchor = program_anchor,
	.problem = program_problem,
	.load = program_load,
	.verify = program_verify,
	.sample = program_sample,
	.unload = program_unload,
	.pending = program_pending,
	.work = program_work,
	.poll_fds = program_fds,
};
