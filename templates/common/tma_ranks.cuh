// TMA loads of boxes of rank 3 and 4 (tma.cuh has rank 2): coordinates are elements, innermost
// first. With the matrices of a batch along the third dimension, rows beyond the end of one matrix
// read as zeros. tma_load_multicast() delivers one copy to every block of the cluster whose bit is
// set in `blocks`, at the same shared address, and completes on the barrier at the same address
// there.
#include "common/types.cuh"
#pragma once
#define TMA_LIST(...) __VA_ARGS__
#define TMA_LOAD(NAME, RANK, PARAMETERS, QUALIFIER, PLACES, OPERANDS)                              \
	__device__ __forceinline__ void NAME(                                                      \
		u32 destination, const tensor_map &map, u32 barrier, TMA_LIST PARAMETERS)          \
	{                                                                                          \
		asm volatile("cp.async.bulk.tensor." #RANK                                         \
			     "d.shared::cluster.global.mbarrier::complete_tx::bytes" QUALIFIER     \
			     " [%0], [%1, {%3, %4, " PLACES ";" ::"r"(destination),                \
			     "l"(&map), "r"(barrier), TMA_LIST OPERANDS                            \
			     : "memory");                                                          \
	}

TMA_LOAD(tma_load, 3, (i32 x, i32 y, i32 z), "", "%5}], [%2]", ("r"(x), "r"(y), "r"(z)))
TMA_LOAD(tma_load_hint, 3, (i32 x, i32 y, i32 z, u64 policy), ".L2::cache_hint", "%5}], [%2], %6",
	("r"(x), "r"(y), "r"(z), "l"(policy)))
TMA_LOAD(tma_load_multicast, 3, (i32 x, i32 y, i32 z, u16 blocks), ".multicast::cluster",
	"%5}], [%2], %6", ("r"(x), "r"(y), "r"(z), "h"(blocks)))
TMA_LOAD(tma_load, 4, (i32 x, i32 y, i32 z, i32 w), "", "%5, %6}], [%2]",
	("r"(x), "r"(y), "r"(z), "r"(w)))
