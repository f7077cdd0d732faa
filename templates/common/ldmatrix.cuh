// ldmatrix (sm_75 and up): a warp reads 8x8 matrices of 16-bit elements (8 rows of 16 bytes) from
// shared memory. Lanes 0-7 give the row addresses of the first matrix, 8-15 of the second, and so
// on; lane l receives the elements 2*(l%4) and 2*(l%4)+1 of row l/4 of each matrix. A row of 16
// bytes may as well be four 32-bit elements: lane l then receives element l%4 of row l/4.
#include "common/types.cuh"
#pragma once
__device__ __forceinline__ void ldmatrix_x4(u32 (&matrix)[4], u32 address)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
		     : "r"(address)
		     : "memory");
}

__device__ __forceinline__ void ldmatrix_x2(u32 (&matrix)[2], u32 address)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
		     : "=r"(matrix[0]), "=r"(matrix[1])
		     : "r"(address)
		     : "memory");
}

// The transposing forms: lane l receives the elements of rows 2*(l%4) and 2*(l%4)+1 in column l/4.
// They move 16-bit elements; 32-bit data has no such form.
__device__ __forceinline__ void ldmatrix_x4_trans(u32 (&matrix)[4], u32 address)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
		     : "r"(address)
		     : "memory");
}

__device__ __forceinline__ void ldmatrix_x2_trans(u32 (&matrix)[2], u32 address)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
		     : "=r"(matrix[0]), "=r"(matrix[1])
		     : "r"(address)
		     : "memory");
}
