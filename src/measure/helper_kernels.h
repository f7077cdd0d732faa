/* SPDX-License-Identifier: MIT
 *
 * Launches of the helper kernels (templates/common/helpers.cu), all asynchronous; and buffers in
 * one piece of device memory with guard zones before, between and after them, which these kernels
 * check: a write outside of a buffer leaves a mark.
 */
#ifndef MEASURE_HELPER_KERNELS_H
#define MEASURE_HELPER_KERNELS_H

#include "measure/gpu_session.h"

bool helper_fill(
	struct gpu_session *gpu, CUdeviceptr data, const struct plan_buffer *tensor, uint64_t seed);
bool helper_poison(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint32_t pattern);
/* As above, for `count` pieces of memory that begin `stride` bytes apart. */
bool helper_poison_pieces(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes,
	uint32_t pattern, uint64_t stride, uint64_t count);
/* counter: index into the scratch's counters. */
bool helper_checksum(struct gpu_session *gpu, CUdeviceptr data, uint64_t rows, uint64_t row_bytes,
	uint64_t pitch_bytes, size_t counter);

/* What an output should hold, on the GPU. */
struct expected {
	CUdeviceptr units; /* int64: which units are compared */
	uint64_t unit_count, unit_size;
	CUdeviceptr values; /* doubles, unit by unit; or a tensor of the output's type */
	uint64_t bytes;     /* of the values */
	uint64_t ld;        /* of that tensor; 0: doubles */
	double scale;       /* |value| to which absolute tolerances are relative */
};
/* Into the scratch's compare result `index`. */
bool helper_compare(struct gpu_session *gpu, CUdeviceptr out, const struct plan_buffer *tensor,
	const struct expected *expected, double tolerance_abs, double tolerance_rel, size_t index);
/* Into the scratch's counters from 0 on, which are clear. A tensor at the pitch `ld`, or doubles.
 */
bool helper_magnitudes(
	struct gpu_session *gpu, const struct plan_buffer *tensor, const struct expected *expected);
/* Enciphers whole words of 8 bytes, or deciphers them. */
bool helper_cipher(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes, uint64_t key);
bool helper_copy(struct gpu_session *gpu, CUdeviceptr to, CUdeviceptr from, uint64_t bytes);
/* Keeps the GPU busy for about 50 us, so that what is queued behind it starts without a gap. */
bool helper_filler(struct gpu_session *gpu);
bool scratch_clear(struct gpu_session *gpu);
/* Waits for everything queued, then copies. */
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
	size_t set_count;     /* the same list of buffers that many times in a row, */
	uint64_t set_bytes;   /* one such list so far behind the other */
	CUdeviceptr *buffers; /* of all sets; 0 where a buffer has 0 bytes */
	uint64_t *buffer_bytes;
	size_t count; /* buffers of a set */
};

/* Device memory that buffers of these sizes take, guard zones included. */
uint64_t arena_size(const uint64_t *sizes, size_t count);
bool arena_allocate(struct gpu_session *gpu, const uint64_t *sizes, size_t count, size_t set_count,
	struct arena *arena);
void arena_release(struct gpu_session *gpu, struct arena *arena);

/* Checks the guard zones of all sets. Bad bytes are added to scratch counters: those before the
 * first buffer of the first set to `counter`, those behind buffer i of any set to counter+1+i. */
bool arena_check(struct gpu_session *gpu, const struct arena *arena, size_t counter);
/* Writes the guard pattern again. */
bool arena_repair(struct gpu_session *gpu, const struct arena *arena);

/* Adds to the counter how many bytes of the buffer are not the pattern of helper_poison(). */
bool helper_count_written(struct gpu_session *gpu, CUdeviceptr data, uint64_t bytes,
	uint32_t pattern, size_t counter);

#endif
