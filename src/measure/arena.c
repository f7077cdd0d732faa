/* SPDX-License-Identifier: MIT */
#include "measure/arena.h"

#include <stdlib.h>

#include "base/memory.h"
#include "measure/helper_kernels.h"

/* Four different bytes, none of which is a likely value of a kernel's output. */
static const uint32_t guard_pattern = 0x5ac396e1u;

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

uint64_t arena_size(const uint64_t *sizes, size_t count)
{
	uint64_t bytes = ARENA_GUARD_BYTES;

	for (size_t i = 0; i < count; i++)
		bytes += aligned(sizes[i]) + ARENA_GUARD_BYTES;
	return bytes;
}

bool arena_allocate(struct gpu_session *gpu, const uint64_t *sizes, size_t count, size_t repeat,
	struct arena *arena, struct failure *failure)
{
	uint64_t once = arena_size(sizes, count) - ARENA_GUARD_BYTES;
	CUdeviceptr at;

	*arena =
		(struct arena){.bytes = once * repeat + ARENA_GUARD_BYTES, .count = count * repeat};
	if (!gpu_allocate(gpu, arena->bytes, &arena->base, failure))
		return false;
	arena->buffers = memory_zeroed(arena->count + 1, sizeof(*arena->buffers));
	arena->buffer_bytes = memory_zeroed(arena->count + 1, sizeof(*arena->buffer_bytes));
	at = arena->base + ARENA_GUARD_BYTES;
	for (size_t i = 0; i < arena->count; i++) {
		arena->buffer_bytes[i] = sizes[i % count];
		arena->buffers[i] = sizes[i % count] ? at : 0;
		at += aligned(sizes[i % count]) + ARENA_GUARD_BYTES;
	}
	return helper_poison(gpu, arena->base, arena->bytes, guard_pattern, failure);
}

void arena_release(struct gpu_session *gpu, struct arena *arena)
{
	gpu_release(gpu, arena->base, arena->bytes);
	free(arena->buffers);
	free(arena->buffer_bytes);
	*arena = (struct arena){0};
}

struct zone {
	CUdeviceptr data;
	uint64_t bytes;
	uint32_t pattern; /* as it reads from data on */
};

/* The zone before buffer `index` (index == count: after the last one). */
static struct zone zone_at(const struct arena *arena, size_t index)
{
	struct zone zone = {.data = arena->base};
	CUdeviceptr start = arena->base, end;
	unsigned shift;

	/* Offsets of the buffers follow from their sizes; those without bytes have no address. */
	end = start + ARENA_GUARD_BYTES;
	for (size_t i = 0; i < index; i++) {
		start = end + arena->buffer_bytes[i];
		end += aligned(arena->buffer_bytes[i]) + ARENA_GUARD_BYTES;
	}
	zone.data = start;
	zone.bytes = end - start;
	shift = (unsigned)((start - arena->base) & 3) * 8;
	zone.pattern =
		shift ? guard_pattern >> shift | guard_pattern << (32 - shift) : guard_pattern;
	return zone;
}

bool arena_check(struct gpu_session *gpu, const struct arena *arena, size_t first, size_t count,
	size_t counter, struct failure *failure)
{
	for (size_t i = 0; arena->base && i <= count; i++) {
		struct zone zone = zone_at(arena, first + i);

		if (!helper_guard_check(
			    gpu, zone.data, zone.bytes, zone.pattern, counter + i, failure))
			return false;
	}
	return true;
}

bool arena_repair(struct gpu_session *gpu, const struct arena *arena, size_t first, size_t count,
	struct failure *failure)
{
	for (size_t i = 0; arena->base && i <= count; i++) {
		struct zone zone = zone_at(arena, first + i);

		if (!helper_poison(gpu, zone.data, zone.bytes, zone.pattern, failure))
			return false;
	}
	return true;
}
