/* SPDX-License-Identifier: MIT
 *
 * Buffers in one piece of device memory with guard zones before, between and after them: whoever
 * writes outside of a buffer leaves a mark.
 */
#ifndef MEASURE_ARENA_H
#define MEASURE_ARENA_H

#include "measure/gpu_session.h"

enum {
	ARENA_GUARD_BYTES = 4096,
	ARENA_ALIGNMENT = 256,
};

struct arena {
	CUdeviceptr base;
	uint64_t bytes;
	CUdeviceptr *buffers; /* 0 where a buffer has 0 bytes */
	uint64_t *buffer_bytes;
	size_t count;
};

/* Device memory that buffers of these sizes take, guard zones included. */
uint64_t arena_size(const uint64_t *sizes, size_t count);
/* repeat: the whole list of sizes that many times in a row (sets of buffers). */
bool arena_allocate(struct gpu_session *gpu, const uint64_t *sizes, size_t count, size_t repeat,
	struct arena *arena, struct failure *failure);
void arena_release(struct gpu_session *gpu, struct arena *arena);

/* Zones first..first+count: the one before buffer `first` to the one after buffer first+count-1.
 * Bad bytes of zone first+i are added to scratch counter counter+i; count+1 counters. */
bool arena_check(struct gpu_session *gpu, const struct arena *arena, size_t first, size_t count,
	size_t counter, struct failure *failure);
/* Writes the guard pattern anew. */
bool arena_repair(struct gpu_session *gpu, const struct arena *arena, size_t first, size_t count,
	struct failure *failure);

#endif
