// The activation functions of the problem keys, on the fp32 sum before it is rounded.
//   ACT_none, ACT_relu, ACT_gelu_tanh, ACT_silu: exactly one is defined by the build.
#include "common/types.cuh"
#pragma once
// tanh(x) = 1 - 2 / (1 + exp(2x)): exact limits at both ends, error of a few units in the last
// place.
__device__ __forceinline__ float tanh_fp32(float x)
{
	return 1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * fminf(fmaxf(x, -15.0f), 15.0f)));
}

__device__ __forceinline__ float relu(float x)
{
	// The comparison is written so that a NaN stays a NaN: fmaxf would turn it into 0.
	return x < 0.0f ? 0.0f : x;
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Hendrycks and Gimpel, arXiv 1606.08415.
__device__ __forceinline__ float gelu_tanh(float x)
{
	const float sqrt_2_over_pi = 0.7978845608028654f;
	float inner = sqrt_2_over_pi * (x + 0.044715f * x * x * x);
	return 0.5f * x * (1.0f + tanh_fp32(inner));
}

// x / (1 + exp(-x)). Below -87 the exponential would overflow where the result is 0 to fp32's eye.
__device__ __forceinline__ float silu(float x)
{
	return __fdividef(x, 1.0f + __expf(-fmaxf(x, -87.0f)));
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
