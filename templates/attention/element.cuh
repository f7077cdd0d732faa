// The element type of Q, K and V, picked by the build (DTYPE_...), and that of the output.
#include "common/convert.cuh"
#pragma once
#if DTYPE_bf16
typedef bf16 element;
#elif DTYPE_fp16
typedef fp16 element;
#elif DTYPE_fp8_e4m3
typedef fp8_e4m3 element;
#else
#error "attention knows fp16, bf16 and fp8_e4m3"
#endif

typedef element::memory element_memory;
#if DTYPE_fp8_e4m3
typedef bf16 output_element;
#else
typedef element output_element;
#endif
typedef output_element::memory output_memory;

// log2(e): softmax runs on exp2, and the factor is folded into the scale of the scores.
constexpr float log2_e = 1.4426950408889634f;

// Scores are divided by sqrt(head_dim); this is that factor for exp2. Folded by the compiler.
__device__ __forceinline__ float score_scale()
{
	return log2_e * rsqrtf((float)head_dim);
}

// Minus infinity by its bits: the score of a key that a row may not see.
__device__ __forceinline__ float masked_score()
{
	return __uint_as_float(0xff800000u);
}

// 2^x in one instruction; exact zero for x = -inf, no denormal results.
__device__ __forceinline__ float exp2_fast(float x)
{
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}
