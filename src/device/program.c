/* SPDX-License-Identifier: MIT
 *
 * A user's program as a device. templates/programs.md has a transcript of its messages.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/executor.h"
#include "device/gpu_lock.h"
#include "family/family.h"
#include "process/host_limits.h"
#include "record/record_read.h"

enum {
	PREPARE_MAX = 16
};

/* Longest time in seconds without a message from the program. */
static const double handshake_seconds = 120, prepare_seconds = 300, measure_seconds = 60;

/* A configuration sent to the program. */
struct program_known {
	char *problem, *configuration;
	bool is_prepared, is_verified, is_measured;
};

/* The answer to "hello". */
struct program_hello {
	int64_t id;
	struct named_values versions;
	struct program_device {
		struct device_facts facts; /* compute_capability is 0 without a GPU */
		char uuid[64];
	} device;
	char **abilities; /* NULL-terminated; may contain "prepare" */
};

struct program {
	struct executor executor; /* comes first */
	const char *path;         /* path of tiletune; NULL for this executable */
	const struct family *family;
	uint64_t seed;
	struct program_hello hello; /* answer of the process that measures */
	struct program_known *known;
	size_t known_count, known_capacity;
};

/* ---- the messages of the program ---- */
#define LIMIT(name, attribute, kind, least, summary)                                               \
	RECORD_VALUE(struct program_device, facts.name, #name, .flags = RECORD_OPTIONAL, .low = 0, \
		.high = INFINITY),
static const struct record_member device_members[] = {
	RECORD_TEXT(struct program_device, facts.name, "name"),
	RECORD_TEXT(struct program_device, uuid, "uuid", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct program_device, facts.compute_capability, "compute_capability",
		.flags = RECORD_OPTIONAL, .low = 0, .high = 10000),
	DEVICE_LIMITS(LIMIT)};
static RECORD_DEFINE(struct program_device, device_record, device_members, .name = "device");

static const struct record_member hello_members[] = {
	RECORD_VALUE(struct program_hello, id, "id"),
	RECORD_CONSTANT("protocol", "tiletune.program/1"),
	RECORD_NAMED_VALUES(struct program_hello, versions, "versions", .flags = RECORD_OPTIONAL),
	RECORD_NESTED(struct program_hello, device, device_record, "device"),
	RECORD_STRINGS(struct program_hello, abilities, "abilities", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(struct program_hello, hello_record, hello_members, .name = "hello");

/* ---- configurations ---- */
static struct program_known *known_of(struct program *program, const struct device_job *job)
{
	for (size_t i = 0; i < program->known_count; i++)
		if (strcmp(program->known[i].problem, job->problem->text) == 0 &&
			strcmp(program->known[i].configuration, job->configuration) == 0)
			return &program->known[i];
	ARRAY_GROW(program->known, program->known_count, program->known_capacity);
	program->known[program->known_count] =
		(struct program_known){.problem = string_copy(job->problem->text),
			.configuration = string_copy(job->configuration)};
	return &program->known[program->known_count++];
}

static bool times(const struct executor_request *request)
{
	return request->run.sampling.rounds > 0;
}

/* ---- requests ---- */
static enum status program_start(struct executor *executor, struct worker *worker,
	struct measure_request *hello, struct error *err)
{
	const struct program *program = (const struct program *)executor;
	CLEANUP(memory_free) char *folder = path_parent(program->family->file);
	int log;

	hello->seed = program->seed;
	TRY(worker_program_log(&log, err));
	return worker_start_program(
		worker, program->path, program->family->program, folder, log, err);
}

static enum status take_hello(
	struct executor *executor, const struct text *line, struct text *why, struct error *err)
{
	struct program *program = (struct program *)executor;

	(void)why;
	record_release(&hello_record, &program->hello);
	return line_read(&hello_record, line, "its line", &program->hello, err);
}

static double program_complete(
	struct executor *executor, const struct worker *worker, struct measure_request *run)
{
	struct program *program = (struct program *)executor;
	const bool is_timed = run->sampling.rounds > 0;

	(void)worker;
	run->verifies = false;
	for (size_t i = 0; i < run->job_count; i++)
		run->verifies |= !known_of(program, &run->jobs[i])->is_verified || !is_timed;
	if (!is_timed)
		run->sampling.rounds = 1;
	return run->measures ? measure_seconds : prepare_seconds;
}

/* Answers jobs of unmeasured configurations, which are verified with their first samples. */
static void answer_unmeasured(struct executor *executor, struct executor_request *request)
{
	for (size_t i = 0; i < request->run.job_count;) {
		const struct device_job *job = &request->run.jobs[i];

		if (times(request) ||
			(job->verify && known_of((struct program *)executor, job)->is_measured))
			i++;
		else
			executor_answer(executor, request, i,
				&(struct device_reply){.ticket = job->ticket});
	}
}

/* ---- answers ---- */
static void expect_measured(const struct executor_request *request,
	const struct measure_answer *answer, struct text *why)
{
	const struct result *result = &answer->reply.result;

	for (size_t i = 0; i < result->sample_count && !why->length; i++)
		if (!(result->samples_us[i] > 0))
			text_appendf(why,
				"$.samples_us[%zu]: expected a time in microseconds, above 0", i);
	if (!result->sample_count)
		text_append(why, "the program measured without \"samples_us\"");
	else if (request->run.verifies && !result->verification.done)
		text_append(why, "the program was asked to verify and answered without "
				 "\"verification\"");
	else if (request->run.verifies && !result->verification.points)
		text_append(why, "the program verified 0 points");
}

static void take_reply(struct executor *executor, const struct executor_request *request,
	struct measure_answer *answer, struct text *why)
{
	struct program *program = (struct program *)executor;
	struct result *result = &answer->reply.result;
	const struct verification *verification = &result->verification;
	const struct device_job *job = NULL;
	const bool is_ok = result->outcome == OUTCOME_OK;

	if (answer->reply.fatal || answer->reply.reference_failed || result->resources ||
		result->bits)
		text_append(why, "the program answered as a GPU's worker");
	else if (!request->next && is_ok)
		expect_measured(request, answer, why);
	if (verification->done && verification->violations && is_ok)
		result->outcome = OUTCOME_WRONG_RESULT;
	if (result->outcome == OUTCOME_WRONG_RESULT && !result->detail)
		result->detail = string_format("%llu elements differ, the worst by %g",
			(unsigned long long)verification->violations, verification->max_abs_error);
	for (size_t i = 0; i < request->run.job_count && !job; i++)
		if (request->run.jobs[i].ticket == answer->reply.ticket)
			job = &request->run.jobs[i];
	if (!job || request->next || why->length)
		return;
	known_of(program, job)->is_verified |= verification->done;
	if (times(request) && result->outcome == OUTCOME_OK)
		known_of(program, job)->is_measured = true;
	else /* samples were not requested, or the kernel is wrong */
		result->sample_count = 0;
}

static const struct executor_protocol protocol = {.name = "the program",
	.handshake_s = handshake_seconds,
	.lost_context = "",
	.start = program_start,
	.take_hello = take_hello,
	.complete = program_complete,
	.take_reply = take_reply,
	.prepared = answer_unmeasured};

/* ---- the device ---- */
static enum status describe(struct program *program, const struct program_hello *hello,
	const struct device_options *options, struct error *err)
{
	struct device *device = program->executor.device;
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

static enum status open_program(
	struct program *program, const struct device_options *options, struct error *err)
{
	const unsigned workers = host_workers("/");
	bool can_prepare;
	size_t processes;

	if (executor_start(&program->executor, err) != STATUS_OK) {
		err->status = STATUS_FAILED;
		return error_context(err, "%s: $.program", program->family->file);
	}
	can_prepare = program->hello.abilities &&
		      name_find("prepare", (const char *const *)program->hello.abilities) >= 0;
	processes = !can_prepare ? 0 : workers < PREPARE_MAX ? workers : PREPARE_MAX;
	executor_prepare(&program->executor, processes);
	program->executor.device->ahead = 2 * (processes + 1);
	return describe(program, &program->hello, options, err);
}

static enum status program_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	struct program *program = memory_zeroed(1, sizeof(*program));

	(void)rest;
	device->state = program;
	device->by_program = true;
	program->path = options->worker_path;
	program->family = options->program;
	program->seed = options->seed;
	executor_open(&program->executor, device, &protocol, 1);
	return options->program
		       ? open_program(program, options, err)
		       : error_set(err, STATUS_BAD_INPUT,
				 "--device: a program can only be the device of its own JSON file");
}

static void program_close(struct device *device)
{
	struct program *program = device->state;

	if (!program)
		return;
	executor_release(&program->executor);
	for (size_t i = 0; i < program->known_count; i++) {
		free(program->known[i].problem);
		free(program->known[i].configuration);
	}
	free(program->known);
	record_release(&hello_record, &program->hello);
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
	CLEANUP(memory_free)
	struct device_problem *problems = memory_zeroed(count + 1, sizeof(*problems));
	CLEANUP(memory_free) bool *prepares = memory_zeroed(count + 1, sizeof(*prepares));
	size_t left = 0;

	if (device->lost)
		return error_set(
			err, STATUS_NO_DEVICE, "%s: the program was lost", program->family->file);
	for (size_t i = 0; i < count; i++) {
		struct device_reply reply = {
			.ticket = jobs[i].ticket, .result.measured = {NAN, NAN, NAN}};

		if (!is_anchor(&jobs[i]) && sampling->energy_s <= 0) {
			struct program_known *known = known_of(program, &jobs[i]);

			prepares[left] = program->executor.can_prepare && !known->is_prepared;
			known->is_prepared |= prepares[left];
			problems[left].text = known->problem;
			asked[left] = (struct device_job){.ticket = jobs[i].ticket,
				.problem = &problems[left],
				.configuration = known->configuration,
				.verify = jobs[i].verify};
			left++;
			continue;
		}
		/* The anchor takes 1 us, as the program's clock is unknown. */
		for (unsigned k = 0; is_anchor(&jobs[i]) && k < sampling->rounds; k++)
			result_add_samples(&reply.result, &(double){1}, 1);
		device_reply_push(device, reply);
	}
	if (left)
		executor_add(&program->executor, asked, left, sampling, prepares);
	return STATUS_OK;
}

const struct device_kind device_kind_program = {
	.name = "program",
	.measures = true,
	.open = program_open,
	.close = program_close,
	.submit = program_submit,
};
