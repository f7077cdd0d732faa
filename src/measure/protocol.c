/* SPDX-License-Identifier: MIT */
#include "measure/protocol.h"

/* ---- requests ---- */
static const struct record_member hello_members[] = {
	RECORD_VALUE(struct measure_hello, device, "device"),
};
RECORD_DEFINE(struct measure_hello, measure_hello_record, hello_members, .name = "hello");

#define OPEN(field) RECORD_VALUE(struct measure_open, field, #field)
static const struct record_member open_members[] = {
	OPEN(seed),
	OPEN(memory_limit_bytes),
	OPEN(kernel_timeout_s),
	OPEN(reference_timeout_s),
	OPEN(l2_warm),
};
RECORD_DEFINE(struct measure_open, measure_open_record, open_members, .name = "open");

static const struct record_member helpers_members[] = {
	RECORD_VALUE(struct measure_helpers, cubin, "cubin"),
};
RECORD_DEFINE(struct measure_helpers, measure_helpers_record, helpers_members, .name = "helpers");

static const struct record_member problem_members[] = {
	RECORD_VALUE(struct measure_problem, problem, "problem"),
	RECORD_VALUE(struct measure_problem, title, "title"),
	RECORD_NESTED(struct measure_problem, reference, reference_plan_record, "reference"),
	RECORD_VALUES(struct measure_problem, cubins, cubin_count, "cubins"),
};
RECORD_DEFINE(struct measure_problem, measure_problem_record, problem_members, .name = "problem");

static const struct record_member load_members[] = {
	RECORD_VALUE(struct measure_load, handle, "handle"),
	RECORD_VALUE(struct measure_load, problem, "problem"),
	RECORD_NESTED(struct measure_load, plan, plan_record, "plan"),
	RECORD_VALUES(struct measure_load, cubins, cubin_count, "cubins"),
};
RECORD_DEFINE(struct measure_load, measure_load_record, load_members, .name = "load");

static const struct record_member handle_members[] = {
	RECORD_VALUE(struct measure_handle, handle, "handle"),
};
RECORD_DEFINE(struct measure_handle, measure_handle_record, handle_members, .name = "handle");

#define SAMPLE(field) RECORD_VALUE(struct measure_sample, sampling.field, #field)
static const struct record_member sample_members[] = {
	RECORD_VALUES(struct measure_sample, handles, handle_count, "handles"),
	SAMPLE(rounds),
	SAMPLE(seconds_max),
	SAMPLE(give_up_us),
	SAMPLE(rest_ratio),
	SAMPLE(energy_s),
};
RECORD_DEFINE(struct measure_sample, measure_sample_record, sample_members, .name = "sample");

/* ---- replies ---- */
#define IS(field)   RECORD_VALUE(struct measure_gpu, identity.field, #field)
#define FACT(field) RECORD_VALUE(struct measure_gpu, facts.field, #field)
static const struct record_member gpu_members[] = {
	RECORD_TEXT(struct measure_gpu, facts.name, "name"),
	RECORD_TEXT(struct measure_gpu, identity.kind, "kind"),
	RECORD_TEXT(struct measure_gpu, identity.name, "title"),
	RECORD_TEXT(struct measure_gpu, identity.uuid, "uuid"),
	RECORD_TEXT(struct measure_gpu, identity.driver, "driver"),
	RECORD_TEXT(struct measure_gpu, identity.mig, "mig"),
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
RECORD_DEFINE(struct measure_gpu, measure_gpu_record, gpu_members, .name = "gpu");

static const struct record_member gpus_members[] = {
	RECORD_RECORDS(struct measure_gpus, gpus, count, measure_gpu_record, "gpus"),
};
RECORD_DEFINE(struct measure_gpus, measure_gpus_record, gpus_members, .name = "gpus");

#define RESULT(field) RECORD_VALUE(struct device_event, field, #field)
static const struct record_member result_members[] = {
	RESULT(handle),
	RECORD_ENUM(struct device_event, outcome, outcome_names, "outcome"),
	RESULT(detail),
	RESULT(fatal),
	RESULT(reference),
	RECORD_RECORDS(
		struct device_event, resources, launch_count, kernel_resources_record, "resources"),
	RECORD_NESTED(struct device_event, verification, verification_record, "verification",
		.present = RECORD_PRESENT(struct device_event, verification.done)),
	RECORD_ENUM(struct device_event, verified, verified_names, "verified"),
	RECORD_FLAT(struct device_event, measured, measured_record),
	RECORD_VALUES(struct device_event, samples_us, sample_count, "samples_us"),
	RESULT(gave_up),
	RECORD_FLAGS(struct device_event, flags, kernel_flag_names, "flags"),
};
RECORD_DEFINE(struct device_event, device_event_record, result_members, .name = "result");

static const struct record_member progress_members[] = {
	RECORD_VALUE(struct measure_progress, handle, "handle"),
	RECORD_VALUE(struct measure_progress, allow_s, "allow_s", .low = 0, .high = 1e6),
	RECORD_VALUE(struct measure_progress, reference, "reference"),
};
RECORD_DEFINE(
	struct measure_progress, measure_progress_record, progress_members, .name = "progress");

static const struct record_member error_members[] = {
	RECORD_VALUE(struct error, status, "status", .low = 1, .high = 255),
	RECORD_TEXT(struct error, message, "message"),
	RECORD_TEXT(struct error, hint, "hint"),
};
RECORD_DEFINE(struct error, measure_error_record, error_members, .name = "error");
