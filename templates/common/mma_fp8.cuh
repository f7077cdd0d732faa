// mma.sync of fp8 (e4m3) operands with fp32 accumulation, sm_89 and up: one 16 x 8 tile and 32
// bytes of k. Fragments lie as those of 16-bit types, byte for byte: a word holds four elements of
// k. Source: PTX ISA, "Matrix fragments for mma.m16n8k32".
#include "mma.cuh"
#pragma once
template <> struct mma_sync<fp8_e4m3> {
	static constexpr int k = 32;
	static __device__ __forceinline__ void accumulate(
		float (&d)[4], const u32 (&a)[4], const u32 (&b)[2])
	{
		asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
			     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
			     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	}
};
