// mma.sync on tensor cores with fp32 accumulation: D += A * B over one 16 x 8 tile and 32 bytes of
// k (16 elements of 16 bits, 8 of tf32). Fragments, with g = lane / 4 and t = lane % 4:
//
//   A  16-bit  (row, k)     a[0] (g, 2t..)  a[1] (g+8, 2t..)  a[2] (g, 2t+8..)  a[3] (g+8, 2t+8..)
//      tf32    (row, k)     a[0] (g, t)     a[1] (g+8, t)     a[2] (g, t+4)     a[3] (g+8, t+4)
//   B  16-bit  (k, column)  b[0] (2t.., g)   b[1] (2t+8.., g)
//      tf32    (k, column)  b[0] (t, g)      b[1] (t+4, g)
//   D          (row, column) d[0], d[1] (g, 2t and 2t+1)   d[2], d[3] (g+8, 2t and 2t+1)
//
// Source: PTX ISA, "Matrix fragments for mma.m16n8k16" and "mma.m16n8k8".
#include "common/convert.cuh"
#pragma once
template <typename DTYPE> struct mma_sync;

template <> struct mma_sync<fp16> {
	static constexpr int k = 16;
	static __device__ __forceinline__ void accumulate(
		float (&d)[4], const u32 (&a)[4], const u32 (&b)[2])
	{
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
			     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	}
};

template <> struct mma_sync<bf16> {
	static constexpr int k = 16;
	static __device__ __forceinline__ void accumulate(
		float (&d)[4], const u32 (&a)[4], const u32 (&b)[2])
	{
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
			     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	}
};

template <> struct mma_sync<tf32> {
	static constexpr int k = 8;
	static __device__ __forceinline__ void accumulate(
		float (&d)[4], const u32 (&a)[4], const u32 (&b)[2])
	{
		asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
			     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	}
};
