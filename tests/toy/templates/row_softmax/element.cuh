// Elements of the toy operation: fp32, or bf16 as 16 bits.
#pragma once

#if DTYPE_bf16
typedef unsigned short element;

__device__ __forceinline__ float element_load(element bits)
{
	return __uint_as_float((unsigned)bits << 16);
}

// Rounds to nearest, ties to even; there are no NaNs here.
__device__ __forceinline__ element element_round(float value)
{
	unsigned bits = __float_as_uint(value);
	return (element)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
#else
typedef float element;

__device__ __forceinline__ float element_load(element value)
{
	return value;
}

__device__ __forceinline__ element element_round(float value)
{
	return value;
}
#endif
