// TMA loads of a box of rank 3 (see tma.cuh): coordinates are elements, innermost first. With the
// matrices of a batch along the third dimension, rows beyond the end of one matrix read as zeros.
#include "common/types.cuh"

__device__ __forceinline__ void tma_load_3d(
	u32 destination, const tensor_map &map, u32 barrier, i32 inner, i32 middle, i32 outer)
{
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
		     "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(destination),
		     "l"(&map), "r"(barrier), "r"(inner), "r"(middle), "r"(outer)
		     : "memory");
}

// Delivers one copy to every block of the cluster whose bit is set in `blocks`, at the same shared
// address, and completes on the barrier at the same address there.
__device__ __forceinline__ void tma_load_3d_multicast(u32 destination, const tensor_map &map,
	u32 barrier, i32 inner, i32 middle, i32 outer, u16 blocks)
{
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
		     ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(destination),
		     "l"(&map), "r"(barrier), "r"(inner), "r"(middle), "r"(outer), "h"(blocks)
		     : "memory");
}

__device__ __forceinline__ void tma_load_3d_hint(u32 destination, const tensor_map &map,
	u32 barrier, i32 inner, i32 middle, i32 outer, u64 policy)
{
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
		     ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(destination),
		     "l"(&map), "r"(barrier), "r"(inner), "r"(middle), "r"(outer), "l"(policy)
		     : "memory");
}
