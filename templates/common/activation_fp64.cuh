// The activation of the build's ACT_* in fp64, for references (fp32: activation.cuh).
#include "common/types.cuh"
#pragma once
__device__ __forceinline__ double activate_fp64(double x)
{
#if ACT_relu
	return x < 0.0 ? 0.0 : x;
#elif ACT_gelu_tanh
	return 0.5 * x * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
#elif ACT_silu
	return x / (1.0 + exp(-x));
#else
	return x;
#endif
}
