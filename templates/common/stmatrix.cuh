// stmatrix (sm_90): a warp writes 8x8 matrices of 16-bit elements (8 rows of 16 bytes) to shared
// memory. Lanes 0-7 give the row addresses of the first matrix, 8-15 of the second, and so on; lane
// l supplies the elements 2*(l%4) and 2*(l%4)+1 of row l/4 of each matrix, as accumulators lie.
#include "common/types.cuh"
#pragma once
__device__ __forceinline__ void stmatrix_x4(u32 address, u32 a, u32 b, u32 c, u32 d)
{
	asm volatile(
		"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
		"r"(a), "r"(b), "r"(c), "r"(d)
		: "memory");
}

__device__ __forceinline__ void stmatrix_x2(u32 address, u32 a, u32 b)
{
	asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address),
		     "r"(a), "r"(b)
		     : "memory");
}

// The transposing forms: lane l supplies rows 2*(l%4) and 2*(l%4)+1 of column l/4.
__device__ __forceinline__ void stmatrix_x4_trans(u32 address, u32 a, u32 b, u32 c, u32 d)
{
	asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
			     address),
		     "r"(a), "r"(b), "r"(c), "r"(d)
		     : "memory");
}

__device__ __forceinline__ void stmatrix_x2_trans(u32 address, u32 a, u32 b)
{
	asm volatile(
		"stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address),
		"r"(a), "r"(b)
		: "memory");
}
