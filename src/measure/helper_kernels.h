/* SPDX-License-Identifier: MIT
 *
 * Launches the helper kernels (templates/common/helpers.cu), always asynchronously. Also allocates
 * buffers in one piece of device memory, with guard zones before, between and after them. The
 * helper kernels check the guard zones to find writes outside of a buffer.
 */
#ifndef MEASURE_HELPER_KERNELS_H
#define MEASURE_HELPER_KERNELS_H

#include "measure/gpu_session.h"

bool helper_fill(
	struct gpu_session *gpu, CUdeviceptr data, const struct plan_buffer *tensor, uint64_t seed);
bool helper_poison(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint32_t pattern);
/* Does the same for `count` pieces of memory that begin `stride` bytes apart. */
bool helper_poison_pieces(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes,
	uint32_t pattern, uint64_t stride, uint64_t count);
/* Adds the checksum to the scratch counter with index `counter`. */
bool helper_checksum(struct gpu_session *gpu, CUdeviceptr data, uint64_t rows, uint64_t row_bytes,
	uint64_t pitch_bytes, size_t counter);

/* The expected values of an output, in device memory. A unit is an element or a row. */
struct expected {
	CUdeviceptr units; /* int64: indices of the compared units */
	uint64_t unit_count, unit_size;
	CUdeviceptr values; /* doubles, unit by unit, or a tensor of the output's type */
	uint64_t bytes;     /* size of the values */
	uint64_t ld;        /* pitch of that tensor; 0 if the values are doubles */
	double scale;       /* absolute tolerances are relative to this |value| */
};
/* Writes the result to the scratch's compare result `index`. */
bool helper_compare(struct gpu_session *gpu, CUdeviceptr out, const struct plan_buffer *tensor,
	const struct expected *expected, double tolerance_abs, double tolerance_rel, size_t index);
/* Writes a struct helper_magnitudes to the scratch counters from 0 on, which must be clear. */
bool helper_magnitudes(
	struct gpu_session *gpu, const struct plan_buffer *tensor, const struct expected *expected);
/* Encrypts or decrypts whole words of 8 bytes. */
bool helper_cipher(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint64_t key);
bool helper_copy(struct gpu_session *gpu, CUdeviceptr to, CUdeviceptr from, uint64_t bytes);
/* Queues a spacer kernel of about 50 us. The work that is queued behind it then starts without
 * gaps. */
bool helper_spacer(struct gpu_session *gpu);
bool scratch_clear(struct gpu_session *gpu);
/* Copies the first results and counters to the host, after all queued work. */
bool scratch_read(struct gpu_session *gpu, struct helper_compare_result *results,
	size_t result_count, uint64_t *counters, size_t counter_count);

/* ---- buffers with guard zones ---- */
enum {
	ARENA_GUARD_BYTES = 4096,
	ARENA_ALIGNMENT = 256,
};

struct arena {
	CUdeviceptr base;
	uint64_t bytes;
	size_t set_count;     /* the list of buffers repeats this many times */
	uint64_t set_bytes;   /* distance between two sets */
	CUdeviceptr *buffers; /* of all sets, set by set; 0 for a buffer of 0 bytes */
	uint64_t *buffer_bytes;
	size_t count; /* number of buffers in a set */
};

/* Returns the device memory that one set of buffers takes, including guard zones. */
uint64_t arena_size(const uint64_t *sizes, size_t count);
bool arena_allocate(struct gpu_session *gpu, const uint64_t *sizes, size_t count, size_t set_count,
	struct arena *arena);
void arena_release(struct gpu_session *gpu, struct arena *arena);

/* Checks the guard zones of all sets and counts changed bytes in scratch counters. Bytes before the
 * first buffer of the first set count in `counter`, bytes behind buffer i of any set in
 * counter+1+i. */
bool arena_check(struct gpu_session *gpu, const struct arena *arena, size_t counter);
/* Writes the guard pattern again. */
bool arena_repair(struct gpu_session *gpu, const struct arena *arena);

/* Adds the number of bytes in the buffer that differ from the pattern of helper_poison() to the
 * counter. */
bool helper_count_written(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes,
	uint32_t pattern, size_t counter);

#endif
