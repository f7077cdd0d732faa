// The activation functions of the problem keys, on the fp32 sum before it is rounded.
//   ACT_none, ACT_relu, ACT_gelu_tanh, ACT_silu: exactly one is defined by the build.
#include "common/types.cuh"
#pragma once
// x / (1 + 2^y): 0 where the power is beyond fp32, x where it vanishes. Two operations of the
// special function unit; an error of a few units in the last place.
__device__ __forceinline__ float divide_by_1_plus_exp2(float x, float y)
{
	float power, reciprocal;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(y));
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(1.0f + power));
	return x * reciprocal;
}

__device__ __forceinline__ float relu(float x)
{
	// The comparison is written so that a NaN stays a NaN: fmaxf would turn it into 0.
	return x < 0.0f ? 0.0f : x;
}

// 0.5 x (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), Hendrycks and Gimpel, arXiv
// 1606.08415, which is x / (1 + exp(-2 u)).
__device__ __forceinline__ float gelu_tanh(float x)
{
	const float linear = -2.302208198f,
		    cubic = -0.1029432397f; // -2 log2(e) sqrt(2/pi) (1, 0.044715)
	return divide_by_1_plus_exp2(x, x * (linear + cubic * (x * x)));
}

// x / (1 + exp(-x))
__device__ __forceinline__ float silu(float x)
{
	return divide_by_1_plus_exp2(x, -1.442695041f * x);
}

__device__ __forceinline__ float activate(float x)
{
#if ACT_relu
	return relu(x);
#elif ACT_gelu_tanh
	return gelu_tanh(x);
#elif ACT_silu
	return silu(x);
#else
	return x;
#endif
}
