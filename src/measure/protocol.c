/* SPDX-License-Identifier: MIT */
#include "measure/protocol.h"

#include <math.h>

#include "base/format_text.h"
#include "record/record_read.h"
#include "record/record_write.h"

#define SETUP(field) RECORD_VALUE(struct measure_setup, field, #field)
static const struct record_member setup_members[] = {
	SETUP(device),
	SETUP(seed),
	SETUP(kernel_timeout_s),
	SETUP(reference_timeout_s),
	SETUP(l2_warm),
	RECORD_VALUE(struct measure_setup, helpers, "helpers", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct measure_setup, measure_setup_record, setup_members, .name = "setup");

/* A member that is not sent. */
#define OWN(type, field) RECORD_VALUE(type, field, #field, .flags = RECORD_NOT_JSON)
static const struct record_member problem_members[] = {
	OWN(struct device_problem, operation),
	OWN(struct device_problem, text),
	RECORD_NESTED(struct device_problem, reference, reference_plan_record, "reference"),
	RECORD_VALUES(struct device_problem, cubins, cubin_count, "cubins"),
};
RECORD_DEFINE(struct device_problem, device_problem_record, problem_members, .name = "problem");

void device_problem_key(const struct device_problem *problem, char key[HASH_SIZE])
{
	CLEANUP(text_release) struct text text = {0};
	struct hash *hash = hash_new();

	record_append(&device_problem_record, problem, &text);
	hash_add(hash, text.data, text.length);
	hash_finish(hash, key);
}

static const struct record_member job_members[] = {
	RECORD_POINTER(struct device_job, plan, plan_record, "plan"),
	OWN(struct device_job, ticket),
	OWN(struct device_job, family),
	OWN(struct device_job, configuration),
	RECORD_POINTER(struct device_job, problem, device_problem_record, "reference",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUES(struct device_job, cubins, cubin_count, "cubins"),
	RECORD_VALUE(struct device_job, load, "load"),
	RECORD_VALUE(struct device_job, verify, "verify"),
};
/* The record is open, because a worker ignores "problem" and "configuration". */
RECORD_DEFINE(struct device_job, device_job_record, job_members, .name = "job", .open = true);

/* Returns a number, a boolean (for "True" or "False"), or a string. */
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

	for (struct pair pair; pair_next(&text, &pair);) {
		CLEANUP(memory_free)
		char *name = string_copy_bytes(pair.name, (size_t)pair.name_length);
		CLEANUP(memory_free)
		char *value = string_copy_bytes(pair.value, (size_t)pair.value_length);

		json_put(values, name, value_json(value));
	}
	return values;
}

static struct json *job_write(const void *field)
{
	const struct device_job *job = field;
	struct json *json = job->plan ? record_to_json(&device_job_record, job) : json_new_object();

	if (job->problem && job->problem->text)
		json_put(json, "problem", values_json(job->problem->text));
	if (job->configuration)
		json_put(json, "configuration", values_json(job->configuration));
	return json;
}

static enum status job_read(const struct json_at *at, void *field, void *context, struct error *err)
{
	return record_from_json(&device_job_record, at, field, context, err);
}

static void job_release(void *field)
{
	record_release(&device_job_record, field);
}

static const struct record_custom job_custom = {job_read, job_write, job_release};

static const char *const kind_names[] = {"hello", "prepare", "measure", NULL},
			 *const role_names[] = {"measure", "prepare", NULL};

#define HELLO  .flags = RECORD_OPTIONAL, .present = RECORD_PRESENT(struct measure_request, is_hello)
#define SAMPLE .flags = RECORD_OPTIONAL, .present = RECORD_PRESENT(struct measure_request, measures)
#define SAMPLING(field)                                                                            \
	RECORD_VALUE(struct measure_request, sampling.field, #field, .flags = RECORD_OPTIONAL,     \
		.low = 0, .high = INFINITY)
static const struct record_member request_members[] = {
	RECORD_VALUE(struct measure_request, protocol, "protocol", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct measure_request, seed, "seed", HELLO),
	RECORD_ENUM(struct measure_request, prepares, role_names, "role", HELLO),
	RECORD_VALUE(struct measure_request, device, "device", .flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct measure_request, setup, measure_setup_record, "setup",
		.flags = RECORD_OPTIONAL),
	RECORD_CUSTOMS(struct measure_request, jobs, job_count, &job_custom, "jobs",
		.flags = RECORD_OPTIONAL, .record = &device_job_record),
	RECORD_VALUE(struct measure_request, verifies, "verify", SAMPLE),
	RECORD_VALUE(struct measure_request, sampling.rounds, "rounds", SAMPLE),
	RECORD_VALUE(struct measure_request, sampling.seconds_max, "seconds", SAMPLE),
	RECORD_VALUE(struct measure_request, sampling.give_up_us, "give_up_us", SAMPLE),
	SAMPLING(rest_ratio),
	SAMPLING(sustained_s),
	SAMPLING(energy_s),
	RECORD_VALUE(struct measure_request, id, "id"),
	RECORD_ENUM(struct measure_request, kind, kind_names, "request"),
};
RECORD_DEFINE(struct measure_request, measure_request_record, request_members, .name = "request");

#define IS(field)   RECORD_VALUE(struct device_listing, identity.field, #field)
#define FACT(field) RECORD_VALUE(struct device_listing, facts.field, #field)
static const struct record_member gpu_members[] = {
	RECORD_TEXT(struct device_listing, facts.name, "name"),
	RECORD_TEXT(struct device_listing, identity.kind, "kind"),
	RECORD_TEXT(struct device_listing, identity.name, "title"),
	RECORD_TEXT(struct device_listing, identity.uuid, "uuid"),
	RECORD_TEXT(struct device_listing, identity.driver, "driver"),
	RECORD_TEXT(struct device_listing, identity.mig, "mig"),
	IS(driver_cuda_version),
	IS(process_count),
	IS(clock_sm_hz),
	IS(clock_memory_hz),
	IS(clock_sm_max_hz),
	IS(power_limit_w),
	FACT(compute_capability),
#define ROW(name, attribute, kind, least, summary) FACT(name),
	DEVICE_LIMITS(ROW)
#undef ROW
		FACT(clock_hz),
	FACT(memory_clock_hz),
	FACT(memory_bus_bits),
};
RECORD_DEFINE(struct device_listing, device_listing_record, gpu_members, .name = "gpu");

#define ANSWER(field, ...)                                                                         \
	RECORD_VALUE(struct measure_answer, field, #field, .flags = RECORD_OPTIONAL, ##__VA_ARGS__)
#define REPLY(field)                                                                               \
	RECORD_VALUE(struct measure_answer, reply.field, #field, .flags = RECORD_OPTIONAL)
static const struct record_member answer_members[] = {
	RECORD_VALUE(struct measure_answer, id, "id"),
	ANSWER(progress, .present = RECORD_PRESENT(struct measure_answer, is_progress)),
	ANSWER(reference),
	ANSWER(allow_s, .low = 0, .high = INFINITY),
	ANSWER(job),
	RECORD_ENUM(struct measure_answer, reply.result.outcome, outcome_names, "outcome",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct measure_answer, has_outcome)),
	RECORD_VALUE(
		struct measure_answer, reply.result.detail, "detail", .flags = RECORD_OPTIONAL),
	REPLY(fatal),
	REPLY(reference_failed),
	REPLY(gave_up),
	RECORD_FLAGS(struct measure_answer, reply.result.flags, kernel_flag_names, "flags",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct measure_answer, reply.result.resources, reply.result.launch_count,
		kernel_resources_record, "resources", .flags = RECORD_OPTIONAL),
	RECORD_VALUES(struct measure_answer, reply.result.samples_us, reply.result.sample_count,
		"samples_us", .flags = RECORD_OPTIONAL, .low = 0, .high = INFINITY,
		.expected = "a time in microseconds, above 0"),
	RECORD_NESTED(struct measure_answer, reply.result.verification, verification_record,
		"verification", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct measure_answer, reply.result.verification.done)),
	RECORD_ENUM(struct measure_answer, reply.result.verified, verified_names, "verified",
		.flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct measure_answer, reply.result.bits, output_digest_record, "bits",
		.flags = RECORD_OPTIONAL),
	RECORD_FLAT(struct measure_answer, reply.result.measured, measured_record),
	RECORD_FLAT(struct measure_answer, reply.result.spent, spent_record),
	RECORD_ERROR(struct measure_answer),
	RECORD_RECORDS(struct measure_answer, gpus, gpu_count, device_listing_record, "gpus",
		.flags = RECORD_OPTIONAL),
};

static enum status answer_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	(void)at, (void)context, (void)err;
	result_summarise(&((struct measure_answer *)value)->reply.result);
	return STATUS_OK;
}

RECORD_DEFINE(struct measure_answer, measure_answer_record, answer_members, .name = "answer",
	.check = answer_check);
