/* SPDX-License-Identifier: MIT */
#include "measure/protocol.h"

#include "record/record_wire.h"

/* ---- requests ---- */
static const struct record_member list_members[] = {
	RECORD_VALUE(struct measure_list, device, "device", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct measure_list, measure_list_record, list_members, .name = "list");

#define SETUP(field) RECORD_VALUE(struct measure_setup, field, #field)
static const struct record_member setup_members[] = {
	SETUP(device),
	SETUP(seed),
	SETUP(memory_limit_bytes),
	SETUP(kernel_timeout_s),
	SETUP(reference_timeout_s),
	SETUP(l2_warm),
	SETUP(helpers),
};
RECORD_DEFINE(struct measure_setup, measure_setup_record, setup_members, .name = "setup");

static const struct record_member problem_members[] = {
	RECORD_NESTED(struct device_problem, reference, reference_plan_record, "reference"),
	RECORD_VALUES(struct device_problem, cubins, cubin_count, "cubins"),
};
RECORD_DEFINE(struct device_problem, device_problem_record, problem_members, .name = "problem");

void device_problem_key(const struct device_problem *problem, char key[HASH_SIZE])
{
	CLEANUP(text_release) struct text packed = {0};
	struct hash *hash = hash_new();

	record_pack(&device_problem_record, problem, &packed);
	hash_add(hash, packed.data, packed.length);
	hash_finish(hash, key);
}

static const struct record_member job_members[] = {
	RECORD_VALUE(struct device_job, ticket, "ticket"),
	RECORD_POINTER(struct device_job, problem, device_problem_record, "problem",
		.flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct device_job, plan, plan_record, "plan"),
	RECORD_VALUES(struct device_job, cubins, cubin_count, "cubins"),
	RECORD_VALUE(struct device_job, load, "load"),
	RECORD_VALUE(struct device_job, verify, "verify"),
};
static enum status job_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	(void)context;
	return ((struct device_job *)value)->plan ? STATUS_OK : json_error(at, err, "a plan");
}
RECORD_DEFINE(struct device_job, device_job_record, job_members, .name = "job", .check = job_check);

#define SAMPLING(field) RECORD_VALUE(struct measure_run, sampling.field, #field)
static const struct record_member run_members[] = {
	RECORD_NESTED(struct measure_run, setup, measure_setup_record, "setup"),
	RECORD_RECORDS(struct measure_run, jobs, job_count, device_job_record, "jobs"),
	SAMPLING(rounds),
	SAMPLING(rounds_before),
	SAMPLING(seconds_max),
	SAMPLING(give_up_us),
	SAMPLING(rest_ratio),
	SAMPLING(sustained_s),
	SAMPLING(energy_s),
};
RECORD_DEFINE(struct measure_run, measure_run_record, run_members, .name = "run");

/* ---- replies ---- */
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

static const struct record_member gpus_members[] = {
	RECORD_RECORDS(struct measure_gpus, gpus, count, device_listing_record, "gpus"),
};
RECORD_DEFINE(struct measure_gpus, measure_gpus_record, gpus_members, .name = "gpus");

static const struct record_member reply_members[] = {
	RECORD_VALUE(struct device_reply, ticket, "ticket"),
	RECORD_VALUE(struct device_reply, fatal, "fatal"),
	RECORD_VALUE(struct device_reply, reference_failed, "reference_failed"),
	RECORD_VALUE(struct device_reply, gave_up, "gave_up"),
	RECORD_FLAT(struct device_reply, result, result_record),
};
RECORD_DEFINE(struct device_reply, device_reply_record, reply_members, .name = "reply");

static const struct record_member progress_members[] = {
	RECORD_VALUE(struct measure_progress, ticket, "ticket"),
	RECORD_VALUE(struct measure_progress, has_job, "has_job"),
	RECORD_VALUE(struct measure_progress, allow_s, "allow_s", .low = 0, .high = 1e6),
	RECORD_VALUE(struct measure_progress, reference, "reference"),
};
RECORD_DEFINE(
	struct measure_progress, measure_progress_record, progress_members, .name = "progress");
