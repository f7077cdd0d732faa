/* SPDX-License-Identifier: MIT
 *
 * What the tuner and its measuring worker say to each other, in frames of base/child.h.
 *
 * Requests are served in order. HELLO, LIST, HELPERS get one reply each (or REPLY_ERROR); OPEN,
 * PROBLEM and UNLOAD none (what goes wrong there shows in the next reply that needs it); LOAD and
 * VERIFY one; SAMPLE one per handle, in the order in which they end. Whatever becomes of a
 * candidate is a reply with an outcome, never an error.
 *
 * Before each step that can take long or kill the worker a REPLY_PROGRESS says which handle is
 * under way and how long the step may take: the other side's watchdog lives on it. A reply that is
 * `fatal` is the worker's last: its context is gone, and the process ends.
 */
#ifndef MEASURE_PROTOCOL_H
#define MEASURE_PROTOCOL_H

#include "base/text.h"
#include "family/plan.h"
#include "measure/packet.h"
#include "format/evaluation.h"
#include "spec/device_spec.h"

enum measure_request {
	REQUEST_LIST = 1, /* which GPUs are there */
	REQUEST_HELLO,    /* choose one; no context yet, so that its lock can be taken first */
	REQUEST_OPEN,     /* context; memory limit, seed */
	REQUEST_HELPERS,  /* blob: cubin of the helper kernels */
	REQUEST_PROBLEM,  /* blob: cubin of the reference */
	REQUEST_LOAD,     /* blobs: cubins */
	REQUEST_VERIFY,
	REQUEST_SAMPLE,
	REQUEST_UNLOAD,
};

enum measure_reply {
	REPLY_LIST = 101,
	REPLY_HELLO,
	REPLY_HELPERS,
	REPLY_LOADED,
	REPLY_VERIFIED,
	REPLY_SAMPLED,
	REPLY_ERROR,
	REPLY_PROGRESS, /* payload: struct measure_progress */
};

struct measure_progress {
	uint32_t handle; /* 0: none */
	float allow_s;   /* 0: the usual limit */
};

/* ---- GPUs ---- */
struct measure_gpu {
	struct device_facts facts;
	char uuid[64], driver[64], mig[64];
	int driver_cuda_version;
	double clock_sm_hz, clock_memory_hz, clock_sm_max_hz, power_limit_w;
};
struct json *measure_gpu_to_json(const struct measure_gpu *gpu);
enum status measure_gpu_from_json(
	const struct json_at *at, struct measure_gpu *gpu, struct error *err);

/* ---- requests ---- */
struct measure_open {
	uint64_t seed;
	uint64_t memory_limit_bytes; /* 0: 80% of what is free */
	double kernel_timeout_s;
};
void measure_open_pack(const struct measure_open *open, struct text *payload);
enum status measure_open_unpack(
	const struct packet *packet, struct measure_open *open, struct error *err);

/* blob 0: the reference's cubin, empty if there is none */
void measure_problem_pack(uint32_t problem, const char *title,
	const struct reference_plan *reference, const struct text *cubin, struct text *payload);
/* reference and title are the caller's to free */
enum status measure_problem_unpack(const struct packet *packet, uint32_t *problem, char **title,
	struct reference_plan *reference, struct error *err);

/* problem 0: none (a kernel without tensors); blobs: one cubin per build unit */
void measure_load_pack(uint32_t handle, uint32_t problem, const struct plan *plan,
	const struct text *cubins, size_t cubin_count, struct text *payload);
enum status measure_load_unpack(const struct packet *packet, uint32_t *handle, uint32_t *problem,
	struct plan *plan, struct error *err);

void measure_handle_pack(uint32_t handle, struct text *payload); /* VERIFY, UNLOAD */
enum status measure_handle_unpack(const struct packet *packet, uint32_t *handle, struct error *err);

struct measure_sample {
	uint32_t *handles;
	size_t handle_count;
	unsigned rounds_min, rounds_max;
	double seconds_max, target_ratio, give_up_us;
};
void measure_sample_pack(const struct measure_sample *sample, struct text *payload);
enum status measure_sample_unpack(
	const struct packet *packet, struct measure_sample *sample, struct error *err);
void measure_sample_release(struct measure_sample *sample);

/* ---- what became of a handle ---- */
struct measure_result {
	uint32_t handle;
	enum outcome outcome;
	char *detail;
	bool fatal;
	struct kernel_resources *resources; /* LOADED: regs, smem, blocks, clusters are set */
	size_t launch_count;
	struct verification verification; /* VERIFIED */
	double *samples_us;               /* SAMPLED */
	size_t sample_count;
	bool gave_up;
	uint32_t flags;
};
void measure_result_pack(const struct measure_result *result, struct text *payload);
enum status measure_result_unpack(
	const struct packet *packet, struct measure_result *result, struct error *err);
void measure_result_release(struct measure_result *result);

/* ---- errors of HELLO, LIST, OPEN, HELPERS ---- */
void measure_error_pack(const struct error *error, struct text *payload);
void measure_error_unpack(const struct packet *packet, struct error *error);

#endif
