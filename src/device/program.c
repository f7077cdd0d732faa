/* SPDX-License-Identifier: MIT
 *
 * A user's program, which takes configurations and answers with times, as a device. Its messages
 * are lines of JSON (templates/programs.md has a transcript).
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

/* How long a program may be silent while it imports libraries, compiles, or measures. */
static const double handshake_seconds = 120, prepare_seconds = 300, measure_seconds = 60;

/* A configuration that was sent to the program. */
struct program_known {
	char *problem, *configuration;
	bool is_prepared, is_verified, is_measured;
};

/* The answer to "hello". */
struct program_hello {
	int64_t id;
	struct named_values versions;
	struct program_device {
		struct device_facts facts; /* compute_capability 0: no GPU */
		char uuid[64];
	} device;
	char **abilities; /* NULL-terminated: "prepare" */
};

/* Any other line. */
struct program_answer {
	int64_t id;
	int64_t job, progress; /* index in the request; progress -1: this is a result */
	double allow_s;
	int outcome; /* enum outcome; -1: none */
	char *detail;
	double *samples_us;
	size_t sample_count;
	struct verification verification;
};
struct program {
	struct executor executor; /* comes first */
	const char *path;         /* of this program's executable; NULL: this one */
	const struct family *family;
	uint64_t seed;
	struct program_hello hello; /* of the process that measures */
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

#define ANSWER(field, ...)                                                                         \
	RECORD_VALUE(struct program_answer, field, #field, .flags = RECORD_OPTIONAL, ##__VA_ARGS__)
static const struct record_member answer_members[] = {
	RECORD_VALUE(struct program_answer, id, "id"),
	ANSWER(progress, .absent = -1),
	ANSWER(allow_s, .low = 0, .high = INFINITY),
	ANSWER(job),
	RECORD_ENUM(struct program_answer, outcome, outcome_names, "outcome",
		.flags = RECORD_OPTIONAL, .absent = -1),
	ANSWER(detail),
	RECORD_VALUES(struct program_answer, samples_us, sample_count, "samples_us",
		.flags = RECORD_OPTIONAL, .low = 1e-6, .high = INFINITY,
		.expected = "a time in microseconds, above 0"),
	RECORD_NESTED(struct program_answer, verification, verification_record, "verification",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct program_answer, verification.done)),
};
static RECORD_DEFINE(struct program_answer, answer_record, answer_members, .name = "answer");

/* ---- configurations ---- */
static struct program_known *known_add(struct program *program, const struct device_job *job)
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

/* Finds the entry of a request's job, whose configuration points into the entry. */
static struct program_known *known_of(struct program *program, const struct device_job *job)
{
	for (size_t i = 0; i < program->known_count; i++)
		if (program->known[i].configuration == job->configuration)
			return &program->known[i];
	BUG("a job without a configuration");
}

static bool times(const struct executor_request *request)
{
	return request->run.sampling.rounds > 0;
}

/* ---- requests ---- */
/* Posts the request as a line, with the next id of the process. Takes the request. */
static void post(struct worker *worker, const char *kind, struct json *request)
{
	CLEANUP(text_release) struct text line = {0};

	json_put_int(request, "id", ++worker->id);
	json_put_string(request, "request", kind);
	json_append(request, false, &line);
	json_free(request);
	worker_post(worker, &line);
}

static enum status start(
	struct executor *executor, struct worker *worker, bool prepares, struct error *err)
{
	const struct program *program = (const struct program *)executor;
	CLEANUP(memory_free) char *folder = path_parent(program->family->file);
	struct json *hello;

	TRY(worker_start_program(worker, program->path, program->family->program, folder,
		worker_program_log(), err));
	hello = json_new_object();
	json_put_string(hello, "protocol", "tiletune.program/1");
	json_put_int(hello, "seed", (int64_t)program->seed);
	json_put_string(hello, "role", prepares ? "prepare" : "measure");
	post(worker, "hello", hello);
	return STATUS_OK;
}

/* Converts a value of "M=4096,dtype=bf16" to a number, to true or false for "True" or "False", or
 * to a string. */
static struct json *value_json(const char *text)
{
	char *end;
	const long long integer = strtoll(text, &end, 10);

	if (*text && !*end)
		return json_new_int(integer);
	if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)
		return json_new_bool(*text == 'T');
	const double real = strtod(text, &end);

	return *text && !*end && isfinite(real) ? json_new_double(real) : json_new_string(text);
}

static struct json *values_json(const char *text)
{
	struct json *values = json_new_object();

	while (*text) {
		const size_t name_length = strcspn(text, "="), length = strcspn(text, ",");
		const size_t at = name_length + (name_length < length);
		CLEANUP(memory_free) char *name = string_copy_bytes(text, name_length);
		CLEANUP(memory_free) char *value = string_copy_bytes(text + at, length - at);

		json_put(values, name, value_json(value));
		text += length + (text[length] == ',');
	}
	return values;
}

static double write_request(struct executor *executor, struct worker *worker,
	struct executor_request *request, const struct measure_run *run)
{
	struct program *program = (struct program *)executor;
	struct json *line = json_new_object(), *jobs = json_new_array();

	request->verifies = false;
	for (size_t i = 0; i < run->job_count; i++) {
		const struct program_known *known = known_of(program, &run->jobs[i]);
		struct json *job = json_new_object();

		json_put(job, "problem", values_json(known->problem));
		json_put(job, "configuration", values_json(known->configuration));
		json_push(jobs, job);
		request->verifies |= !known->is_verified || !times(request);
	}
	json_put(line, "jobs", jobs);
	if (!request->next) {
		json_put_bool(line, "verify", request->verifies);
		json_put_int(line, "rounds", times(request) ? run->sampling.rounds : 1);
		json_put_double(line, "seconds", run->sampling.seconds_max);
		json_put_double(line, "give_up_us", run->sampling.give_up_us);
	}
	post(worker, request->next ? "prepare" : "measure", line);
	return request->next ? prepare_seconds : measure_seconds;
}

/* A configuration that was not measured yet is verified together with its first samples. */
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
/* Reads one line into value. Returns POOL_WORKS, or another event, for which it may set *why. */
static enum pool_event read_line(
	struct worker *worker, const struct record *record, void *value, struct text *why)
{
	CLEANUP(text_release) struct text line = {0};
	CLEANUP(json_release) struct json *root = NULL;
	struct error err = {0};
	const enum pool_event event =
		pool_received(line_receive(worker->from_fd, &worker->pending, 0, &line));

	if (event == POOL_FAILED && worker->pending.length > LINE_BYTES_MAX)
		text_appendf(
			why, "the program sent a line of more than %d bytes", (int)LINE_BYTES_MAX);
	if (event != POOL_WORKS)
		return event;
	if (json_parse(text_string(&line), line.length, "its line", &root, &err) == STATUS_OK) {
		struct json_at at = json_root(root, "its line");

		if (record_from_json(record, &at, value, NULL, &err) == STATUS_OK)
			return POOL_WORKS;
	}
	text_appendf(why, "the program sent an invalid answer: %s: %.200s", err.message,
		text_string(&line));
	return POOL_FAILED;
}

/* Returns whether the answer is valid; if not, sets *why. */
static bool is_valid(const struct executor_request *request, const struct program_answer *answer,
	struct text *why)
{
	const bool is_progress = answer->progress >= 0;
	const int64_t job = is_progress ? answer->progress : answer->job;
	const bool measured = !request->next && !is_progress && answer->outcome == OUTCOME_OK;

	if (job < 0 || (size_t)job >= request->sent_count)
		text_appendf(why, "the program answered job %lld of %zu", (long long)job,
			request->sent_count);
	else if (!is_progress && answer->outcome < 0)
		text_append(why, "the program answered without \"outcome\" or \"progress\"");
	else if (measured && !answer->sample_count)
		text_append(why, "the program measured without \"samples_us\"");
	else if (measured && request->verifies && !answer->verification.done)
		text_append(why, "the program was asked to verify and answered without "
				 "\"verification\"");
	else if (measured && request->verifies && !answer->verification.points)
		text_append(why, "the program verified 0 points");
	return !why->length;
}

/* Takes the answer's samples and detail. */
static void take_result(struct program *program, const struct executor_request *request,
	struct program_answer *answer, struct device_reply *reply)
{
	const struct verification *verification = &answer->verification;
	const struct device_job *job = NULL;
	struct result *result = &reply->result;

	*reply = (struct device_reply){.ticket = request->sent[answer->job],
		.result = {.outcome = (enum outcome)answer->outcome,
			.detail = answer->detail,
			.verification = *verification}};
	answer->detail = NULL;
	if (verification->done && verification->violations && result->outcome == OUTCOME_OK)
		result->outcome = OUTCOME_WRONG_RESULT;
	if (result->outcome == OUTCOME_WRONG_RESULT && !result->detail)
		result->detail = string_format("%llu elements differ, the worst by %g",
			(unsigned long long)verification->violations, verification->max_abs_error);
	for (size_t i = 0; i < request->run.job_count && !job; i++)
		if (request->run.jobs[i].ticket == reply->ticket)
			job = &request->run.jobs[i];
	if (!job || request->next)
		return;
	known_of(program, job)->is_verified |= verification->done;
	if (!times(request) || result->outcome != OUTCOME_OK)
		return;
	known_of(program, job)->is_measured = true;
	result->samples_us = answer->samples_us;
	result->sample_count = answer->sample_count;
	answer->samples_us = NULL;
}

static enum pool_event take_answer(struct program *program, int64_t id,
	const struct executor_request *request, struct program_answer *answer,
	struct executor_message *message, struct text *why)
{
	if (answer->id > id || answer->id < 1) {
		text_appendf(why, "the program answered id %lld, expected %lld",
			(long long)answer->id, (long long)id);
		return POOL_FAILED;
	}
	message->is_late = !request || answer->id < id;
	if (message->is_late)
		return POOL_WORKS;
	if (!is_valid(request, answer, why))
		return POOL_FAILED;
	message->is_progress = answer->progress >= 0;
	if (message->is_progress)
		message->progress =
			(struct measure_progress){.ticket = request->sent[answer->progress],
				.has_job = true,
				.allow_s = (float)(answer->allow_s > 0 ? answer->allow_s
						   : request->next     ? prepare_seconds
								       : measure_seconds)};
	else
		take_result(program, request, answer, &message->reply);
	return POOL_WORKS;
}

static enum pool_event read_answer(struct executor *executor, struct worker *worker, bool handshake,
	struct executor_request *request, struct executor_message *message, struct text *why)
{
	struct program *program = (struct program *)executor;
	struct program_hello hello = {0};
	struct program_answer answer = {.progress = -1, .outcome = -1};
	enum pool_event event = handshake ? read_line(worker, &hello_record, &hello, why)
					  : read_line(worker, &answer_record, &answer, why);

	if (event == POOL_WORKS && handshake) {
		record_release(&hello_record, &program->hello);
		program->hello = hello;
		return POOL_READY;
	}
	if (event == POOL_WORKS)
		event = take_answer(program, worker->id, request, &answer, message, why);
	record_release(&hello_record, &hello);
	record_release(&answer_record, &answer);
	return event;
}

static const struct executor_protocol protocol = {.name = "the program",
	.handshake_s = handshake_seconds,
	.lost_context = "",
	.start = start,
	.write = write_request,
	.read = read_answer,
	.prepared = answer_unmeasured};

/* ---- the device ---- */
/* Takes the program's device over as the run's, and locks its GPU. */
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
				 "--device: a program is the device of its own JSON alone");
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
	CLEANUP(memory_free) bool *prepares = memory_zeroed(count + 1, sizeof(*prepares));
	struct plan no_plan = {0};
	size_t left = 0;

	if (device->lost)
		return error_set(err, STATUS_NO_DEVICE, "%s: lost", program->family->file);
	for (size_t i = 0; i < count; i++) {
		struct device_reply reply = {
			.ticket = jobs[i].ticket, .result.measured = {NAN, NAN, NAN}};

		if (!is_anchor(&jobs[i]) && sampling->energy_s <= 0) {
			struct program_known *known = known_add(program, &jobs[i]);

			prepares[left] = program->executor.can_prepare && !known->is_prepared;
			known->is_prepared |= prepares[left];
			asked[left++] = (struct device_job){.ticket = jobs[i].ticket,
				.plan = &no_plan,
				.configuration = known->configuration,
				.verify = jobs[i].verify};
			continue;
		}
		/* The anchor always takes 1 us, so a ratio to it is a time: the program's own clock
		 * tells nothing. */
		reply.result.sample_count = is_anchor(&jobs[i]) ? sampling->rounds : 0;
		reply.result.samples_us =
			memory_zeroed(reply.result.sample_count + 1, sizeof(double));
		for (size_t k = 0; k < reply.result.sample_count; k++)
			reply.result.samples_us[k] = 1;
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
