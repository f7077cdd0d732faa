// All of flash_wgmma's shared memory: rings of buffers between the loading thread and the other
// warps. Who waits for which barrier: the head of flash_wgmma.cu.
#include "attention/flash_wgmma_tile.cuh"
#include "hopper/ring.cuh"
#pragma once
typedef ring<Q_BUFFERS, query_bytes, GROUPS, 1> query_ring;
typedef ring<STAGES, key_bytes, GROUPS, CLUSTER> key_ring;
#if DTYPE_fp8_e4m3
constexpr int transposers = 3; // warps
typedef ring<STAGES, value_bytes, GROUPS, 1, transposers> value_ring;
typedef ring<2, value_bytes, transposers, 1> loaded_ring; // of V as it lies in memory
constexpr int loaded_bytes = loaded_ring::bytes, loaded_barrier_bytes = loaded_ring::barrier_bytes;
#else
constexpr int transposers = 0;
typedef ring<STAGES, value_bytes, GROUPS, CLUSTER> value_ring, loaded_ring;
constexpr int loaded_bytes = 0, loaded_barrier_bytes = 0; // it is value_ring
#endif
// Numbers of units on their way from the loading thread to the other warps. Whatever is not
// below schedule's units() is the end.
typedef ring<2, 16, 4 * GROUPS + transposers, 1> unit_ring;

static_assert(query_ring::bytes + key_ring::bytes + value_ring::bytes + GROUPS * weight_bytes +
			      loaded_bytes + unit_ring::bytes + query_ring::barrier_bytes +
			      key_ring::barrier_bytes + value_ring::barrier_bytes +
			      loaded_barrier_bytes + unit_ring::barrier_bytes ==
		      SMEM,
	"flash_wgmma.json's smem_bytes");

struct rings {
	query_ring q;
	key_ring k;
	value_ring v;
	u32 weights; // P of the groups, where it goes through shared memory
	loaded_ring loaded;
	unit_ring units;

	__device__ __forceinline__ explicit rings(u32 shared)
	{
		// What has the wider swizzle comes first: both then begin at whole periods of
		// theirs.
		constexpr bool keys_first = span >= value_span;
		q.buffers = shared;
		u32 after_queries = q.buffers + query_ring::bytes;
		k.buffers = after_queries + (keys_first ? 0 : value_ring::bytes);
		v.buffers = after_queries + (keys_first ? key_ring::bytes : 0);
		weights = after_queries + key_ring::bytes + value_ring::bytes;
		loaded.buffers = transposers ? weights + GROUPS * weight_bytes : v.buffers;
		units.buffers = weights + GROUPS * weight_bytes + loaded_bytes;

		units.barriers = units.buffers + unit_ring::bytes;
		q.barriers = units.barriers + unit_ring::barrier_bytes;
		k.barriers = q.barriers + query_ring::barrier_bytes;
		v.barriers = k.barriers + key_ring::barrier_bytes;
		loaded.barriers = v.barriers + (transposers ? value_ring::barrier_bytes : 0);
	}

	// As ring::init().
	__device__ __forceinline__ void init() const
	{
		units.init();
		q.init();
		k.init();
		v.init();
		if constexpr (transposers > 0)
			loaded.init();
	}
};
