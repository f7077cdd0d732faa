/* SPDX-License-Identifier: MIT */
#include "measure/protocol.h"

/* ---- requests ---- */
static const struct record_member hello_members[] = {
	RECORD_VALUE(struct measure_hello, device, "device", "number or UUID"),
};
RECORD_DEFINE(struct measure_hello, measure_hello_record, hello_members, .name = "hello");

#define OPEN(field, help) RECORD_VALUE(struct measure_open, field, #field, help)
static const struct record_member open_members[] = {
	OPEN(seed, "of the inputs"),
	OPEN(memory_limit_bytes, "0: 80% of what is free"),
	OPEN(kernel_timeout_s, "of one step"),
	OPEN(reference_timeout_s, "of a problem's reference"),
};
RECORD_DEFINE(struct measure_open, measure_open_record, open_members, .name = "open");

static const struct record_member helpers_members[] = {
	RECORD_VALUE(struct measure_helpers, cubin, "cubin", "of the helper kernels"),
};
RECORD_DEFINE(struct measure_helpers, measure_helpers_record, helpers_members, .name = "helpers");

static const struct record_member problem_members[] = {
	RECORD_VALUE(struct measure_problem, problem, "problem", "its number, from 1"),
	RECORD_VALUE(struct measure_problem, title, "title", "for messages"),
	RECORD_NESTED(struct measure_problem, reference, reference_plan_record, "reference",
		"how expected values are computed"),
	RECORD_VALUES(
		struct measure_problem, cubins, cubin_count, "cubins", "of the reference's units"),
};
RECORD_DEFINE(struct measure_problem, measure_problem_record, problem_members, .name = "problem");

static const struct record_member load_members[] = {
	RECORD_VALUE(struct measure_load, handle, "handle", "its number, from 1"),
	RECORD_VALUE(struct measure_load, problem, "problem", "0: none"),
	RECORD_NESTED(struct measure_load, plan, plan_record, "plan", "how it is run"),
	RECORD_VALUES(struct measure_load, cubins, cubin_count, "cubins", "one per build unit"),
};
RECORD_DEFINE(struct measure_load, measure_load_record, load_members, .name = "load");

static const struct record_member handle_members[] = {
	RECORD_VALUE(struct measure_handle, handle, "handle", "what it is about"),
};
RECORD_DEFINE(struct measure_handle, measure_handle_record, handle_members, .name = "handle");

#define SAMPLE(field, help) RECORD_VALUE(struct measure_sample, sampling.field, #field, help)
static const struct record_member sample_members[] = {
	RECORD_VALUES(struct measure_sample, handles, handle_count, "handles", "in turn"),
	SAMPLE(rounds_min, "samples per handle, at least"),
	SAMPLE(rounds_max, "and at most"),
	SAMPLE(seconds_max, "for all of them"),
	SAMPLE(target_ratio, "half the median's interval over the median at which to stop"),
	SAMPLE(give_up_us, "0: never"),
	SAMPLE(rest_ratio, "idle time after a visit over the visit's time"),
	SAMPLE(energy_s, "0: time is sampled"),
};
RECORD_DEFINE(struct measure_sample, measure_sample_record, sample_members, .name = "sample");

/* ---- replies ---- */
#define IS(field, help)   RECORD_VALUE(struct measure_gpu, identity.field, #field, help)
#define FACT(field, help) RECORD_VALUE(struct measure_gpu, facts.field, #field, help)
static const struct record_member gpu_members[] = {
	RECORD_TEXT(struct measure_gpu, facts.name, "name", "the driver's"),
	RECORD_TEXT(struct measure_gpu, identity.kind, "kind", "of device"),
	RECORD_TEXT(struct measure_gpu, identity.name, "title", "the name again"),
	RECORD_TEXT(struct measure_gpu, identity.uuid, "uuid", "of GPU or MIG instance"),
	RECORD_TEXT(struct measure_gpu, identity.driver, "driver", "its version"),
	RECORD_TEXT(struct measure_gpu, identity.mig, "mig", "mode of partitioning"),
	IS(driver_cuda_version, "13000 for 13.0"),
	IS(clock_sm_hz, "now; 0: not known"),
	IS(clock_memory_hz, "now; 0: not known"),
	IS(clock_sm_max_hz, "0: not known"),
	IS(power_limit_w, "0: not known"),
	FACT(compute_capability, "90 for 9.0"),
	FACT(sm_count, "multiprocessors"),
	FACT(warp_size, "threads"),
	FACT(max_threads_per_block, "threads"),
	FACT(max_threads_per_sm, "threads"),
	FACT(max_blocks_per_sm, "blocks"),
	FACT(regs_per_block, "registers"),
	FACT(regs_per_sm, "registers"),
	FACT(smem_per_block_bytes, "most that may be asked for"),
	FACT(smem_per_sm_bytes, "shared memory"),
	FACT(smem_reserved_bytes, "of a block, the system's"),
	FACT(l2_bytes, "cache"),
	FACT(dram_bytes, "memory"),
	FACT(clock_hz, "boost"),
	FACT(memory_clock_hz, "highest"),
	FACT(memory_bus_bits, "width"),
};
RECORD_DEFINE(struct measure_gpu, measure_gpu_record, gpu_members, .name = "gpu");

static const struct record_member gpus_members[] = {
	RECORD_RECORDS(struct measure_gpus, gpus, count, measure_gpu_record, "gpus", "all"),
};
RECORD_DEFINE(struct measure_gpus, measure_gpus_record, gpus_members, .name = "gpus");

#define RESULT(field, help) RECORD_VALUE(struct device_event, field, #field, help)
static const struct record_member result_members[] = {
	RESULT(handle, "whose"),
	RECORD_ENUM(struct device_event, outcome, outcome_names, "outcome", "what became of it"),
	RESULT(detail, "in words"),
	RESULT(fatal, "the context is gone"),
	RESULT(reference, "that of its problem failed"),
	RECORD_RECORDS(struct device_event, resources, launch_count, kernel_resources_record,
		"resources", "as the driver says, per launch"),
	RECORD_NESTED(struct device_event, verification, verification_record, "verification",
		"its output beside the reference's",
		.present = RECORD_PRESENT(struct device_event, verification.done)),
	RECORD_ENUM(struct device_event, verified, verified_names, "verified", "beside what"),
	RECORD_FLAT(struct device_event, measured, measured_record),
	RECORD_VALUES(struct device_event, samples_us, sample_count, "samples_us", "per run"),
	RESULT(gave_up, "clearly too slow"),
	RECORD_FLAGS(struct device_event, flags, kernel_flag_names, "flags", "throttled"),
};
RECORD_DEFINE(struct device_event, device_event_record, result_members, .name = "result");

static const struct record_member progress_members[] = {
	RECORD_VALUE(struct measure_progress, handle, "handle", "under way; 0: none"),
	RECORD_VALUE(struct measure_progress, allow_s, "allow_s", "0: the usual limit", .low = 0,
		.high = 1e6),
	RECORD_VALUE(struct measure_progress, reference, "reference", "is computed"),
};
RECORD_DEFINE(
	struct measure_progress, measure_progress_record, progress_members, .name = "progress");

static const struct record_member error_members[] = {
	RECORD_VALUE(struct error, status, "status", "exit code", .low = 1, .high = 255),
	RECORD_TEXT(struct error, message, "message", "what went wrong"),
	RECORD_TEXT(struct error, hint, "hint", "the remedy"),
};
RECORD_DEFINE(struct error, measure_error_record, error_members, .name = "error");
