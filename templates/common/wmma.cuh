// wmma (sm_70 and up; bf16 from sm_80): 16x16x16 fragments in shared memory, fp32 accumulation.
// Which lane holds which element is not specified, so a fragment only goes from and to memory as a
// whole. Alignment as for CUDA's C++ interface: a fragment starts at a multiple of 32 bytes, the
// leading dimension is a multiple of 8 elements of 16 bits and of 4 of fp32.
#include "common/convert.cuh"
#pragma once
struct wmma_accumulator {
	float value[8];
};

__device__ __forceinline__ wmma_accumulator wmma_zero()
{
	return wmma_accumulator{{0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}};
}

// Row-major fp32 in shared memory, `leading` elements from row to row.
__device__ __forceinline__ wmma_accumulator wmma_load(const float *from, int leading)
{
	wmma_accumulator c;
	float *v = c.value;
	asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 "
		     "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
		     : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]),
		     "=f"(v[6]), "=f"(v[7])
		     : "r"(shared_address(from)), "r"(leading)
		     : "memory");
	return c;
}

__device__ __forceinline__ void wmma_store(float *to, int leading, const wmma_accumulator &c)
{
	const float *v = c.value;
	asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 "
		     "[%8], {%0, %1, %2, %3, %4, %5, %6, %7}, %9;" ::"f"(v[0]),
		     "f"(v[1]), "f"(v[2]), "f"(v[3]), "f"(v[4]), "f"(v[5]), "f"(v[6]), "f"(v[7]),
		     "r"(shared_address(to)), "r"(leading)
		     : "memory");
}

// Operands: load_a reads A[row][k] row-major. load_b_transposed reads B^T[column][k] row-major (B
// is column-major), load_b reads B[k][column] row-major. accumulate: C += A B.
template <typename DTYPE> struct wmma;

template <> struct wmma<fp16> {
	struct operand {
		u32 word[8];
	};
#define WMMA_LOAD_FP16(NAME, FORM)                                                                 \
	static __device__ __forceinline__ operand NAME(const u16 *from, int leading)               \
	{                                                                                          \
		operand o;                                                                         \
		u32 *w = o.word;                                                                   \
		asm volatile("wmma.load." FORM ".m16n16k16.shared.f16 "                            \
			     "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"                         \
			     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]),         \
			     "=r"(w[5]), "=r"(w[6]), "=r"(w[7])                                    \
			     : "r"(shared_address(from)), "r"(leading)                             \
			     : "memory");                                                          \
		return o;                                                                          \
	}
	WMMA_LOAD_FP16(load_a, "a.sync.aligned.row")
	WMMA_LOAD_FP16(load_b, "b.sync.aligned.row")
	WMMA_LOAD_FP16(load_b_transposed, "b.sync.aligned.col")
#undef WMMA_LOAD_FP16

// accumulate takes B from load_b, accumulate_transposed from load_b_transposed.
#define WMMA_ACCUMULATE_FP16(NAME, LAYOUTS)                                                        \
	static __device__ __forceinline__ void NAME(                                               \
		wmma_accumulator &c, const operand &a, const operand &b)                           \
	{                                                                                          \
		float *v = c.value;                                                                \
		asm volatile("wmma.mma.sync.aligned." LAYOUTS ".m16n16k16.f32.f32 "                \
			     "{%0, %1, %2, %3, %4, %5, %6, %7}, "                                  \
			     "{%8, %9, %10, %11, %12, %13, %14, %15}, "                            \
			     "{%16, %17, %18, %19, %20, %21, %22, %23}, "                          \
			     "{%0, %1, %2, %3, %4, %5, %6, %7};"                                   \
			     : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3]), "+f"(v[4]),         \
			     "+f"(v[5]), "+f"(v[6]), "+f"(v[7])                                    \
			     : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),     \
			     "r"(a.word[4]), "r"(a.word[5]), "r"(a.word[6]), "r"(a.word[7]),       \
			     "r"(b.word[0]), "r"(b.word[1]), "r"(b.word[2]), "r"(b.word[3]),       \
			     "r"(b.word[4]), "r"(b.word[5]), "r"(b.word[6]), "r"(b.word[7]));      \
	}
	WMMA_ACCUMULATE_FP16(accumulate, "row.row")
	WMMA_ACCUMULATE_FP16(accumulate_transposed, "row.col")
#undef WMMA_ACCUMULATE_FP16
};

template <> struct wmma<bf16> {
	struct operand {
		u32 word[4];
	};
#define WMMA_LOAD_BF16(NAME, FORM)                                                                 \
	static __device__ __forceinline__ operand NAME(const u16 *from, int leading)               \
	{                                                                                          \
		operand o;                                                                         \
		u32 *w = o.word;                                                                   \
		asm volatile("wmma.load." FORM                                                     \
			     ".m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;"                  \
			     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])                      \
			     : "r"(shared_address(from)), "r"(leading)                             \
			     : "memory");                                                          \
		return o;                                                                          \
	}
	WMMA_LOAD_BF16(load_a, "a.sync.aligned.row")
	WMMA_LOAD_BF16(load_b, "b.sync.aligned.row")
	WMMA_LOAD_BF16(load_b_transposed, "b.sync.aligned.col")
#undef WMMA_LOAD_BF16

#define WMMA_ACCUMULATE_BF16(NAME, LAYOUTS)                                                        \
	static __device__ __forceinline__ void NAME(                                               \
		wmma_accumulator &c, const operand &a, const operand &b)                           \
	{                                                                                          \
		float *v = c.value;                                                                \
		asm volatile("wmma.mma.sync.aligned." LAYOUTS ".m16n16k16.f32.bf16.bf16.f32 "      \
			     "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, "              \
			     "{%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"             \
			     : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3]), "+f"(v[4]),         \
			     "+f"(v[5]), "+f"(v[6]), "+f"(v[7])                                    \
			     : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),     \
			     "r"(b.word[0]), "r"(b.word[1]), "r"(b.word[2]), "r"(b.word[3]));      \
	}
	WMMA_ACCUMULATE_BF16(accumulate, "row.row")
	WMMA_ACCUMULATE_BF16(accumulate_transposed, "row.col")
#undef WMMA_ACCUMULATE_BF16
};
