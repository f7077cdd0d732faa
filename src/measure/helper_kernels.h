/* SPDX-License-Identifier: MIT
 *
 * Queues helper kernels (templates/common/helpers.cu). An arena has guard zones around its buffers,
 * to find writes outside of them.
 */
#ifndef MEASURE_HELPER_KERNELS_H
#define MEASURE_HELPER_KERNELS_H

#include "measure/gpu_session.h"

bool helper_fill(
	struct gpu_session *gpu, CUdeviceptr data, const struct plan_buffer *tensor, uint64_t seed);
bool helper_poison(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint32_t pattern);
/* Poisons `count` pieces, which begin `stride` bytes apart. */
bool helper_poison_pieces(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes,
	uint32_t pattern, uint64_t stride, uint64_t count);
bool helper_checksum(struct gpu_session *gpu, CUdeviceptr data, uint64_t rows, uint64_t row_bytes,
	uint64_t pitch_bytes, size_t counter);

/* A unit is an element or a row. */
struct expected {
	const struct reference_output *output;
	const struct plan_buffer *tensor;
	CUdeviceptr units; /* int64 indices of compared units */
	uint64_t unit_count, unit_size;
	CUdeviceptr values; /* doubles, or a tensor of the output's type */
	uint64_t bytes;     /* size of the values */
	uint64_t ld;        /* pitch of the tensor of values; 0 for doubles */
	double scale;       /* scale of absolute tolerances */
};
/* Writes result `index` of the scratch memory. */
bool helper_compare(
	struct gpu_session *gpu, CUdeviceptr out, const struct expected *expected, size_t index);
/* Adds a struct helper_magnitudes to the scratch counters. */
bool helper_magnitudes(struct gpu_session *gpu, const struct expected *expected);
/* Encrypts or decrypts data; bytes is a multiple of 8. */
bool helper_cipher(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint64_t key);
bool helper_copy(struct gpu_session *gpu, CUdeviceptr to, CUdeviceptr from, uint64_t bytes);
/* Queues a kernel of about 50 us, so that work queued after it starts without gaps. */
bool helper_spacer(struct gpu_session *gpu);
bool scratch_clear(struct gpu_session *gpu);
/* Waits for queued work, and copies results and counters to the host. */
bool scratch_read(struct gpu_session *gpu, struct helper_compare_result *results,
	size_t result_count, uint64_t *counters, size_t counter_count);

enum {
	ARENA_GUARD_BYTES = 4096,
	ARENA_ALIGNMENT = 256,
};

struct arena {
	CUdeviceptr base;
	uint64_t bytes;
	size_t set_count;     /* number of buffer sets */
	uint64_t set_bytes;   /* distance between two sets */
	CUdeviceptr *buffers; /* addresses, ordered by buffer set; 0 for an empty buffer */
	uint64_t *buffer_bytes;
	size_t count; /* buffers in a set */
};

/* Returns the size of one set with its guard zones. */
uint64_t arena_size(const uint64_t *sizes, size_t count);
bool arena_allocate(struct gpu_session *gpu, const uint64_t *sizes, size_t count, size_t set_count,
	struct arena *arena);
void arena_release(struct gpu_session *gpu, struct arena *arena);

/* Counts changed bytes of guard zones. Scratch counter `counter` is for the zone before the first
 * buffer, counter+1+i for the zones behind buffer i of all sets. */
bool arena_check(struct gpu_session *gpu, const struct arena *arena, size_t counter);
bool arena_repair(struct gpu_session *gpu, const struct arena *arena);

/* Counts bytes that differ from helper_poison()'s pattern. */
bool helper_count_written(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes,
	uint32_t pattern, uint64_t stride, uint64_t count, size_t counter);

#endif
