// The dtypes of the problem keys as types: how an element lies in memory, how it is read as float,
// how a float is rounded to it. One struct per dtype, named as the key's value:
//   memory          the type of one element in memory
//   code            the number that helper kernels receive (common/helpers.cu)
//   poison          a bit pattern that reads as NaN
//   load(memory)    exact widening to float
//   store(float)    rounding to nearest, ties to even (tf32: ties away, as cvt.rna)
//   store2(lo, hi)  two 16-bit elements packed into one word (16-bit dtypes only)
#include "common/types.cuh"
#pragma once
struct fp32 {
	typedef float memory;
	static constexpr int code = 0;
	static constexpr u32 poison = 0x7fffffffu;
	static __device__ __forceinline__ float load(memory value)
	{
		return value;
	}
	static __device__ __forceinline__ memory store(float value)
	{
		return value;
	}
};

// fp32 in memory of which a tensor core reads sign, exponent and the upper 10 mantissa bits.
struct tf32 {
	typedef float memory;
	static constexpr int code = 1;
	static constexpr u32 poison = 0x7fffffffu;
	static __device__ __forceinline__ float load(memory value)
	{
		return value;
	}
	static __device__ __forceinline__ memory store(float value)
	{
		// 13 mantissa bits go; adding half of the last kept place rounds ties away from
		// zero.
		return __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
	}
};

struct fp16 {
	typedef u16 memory;
	static constexpr int code = 2;
	static constexpr u32 poison = 0x7fffu;
	static __device__ __forceinline__ float load(memory bits)
	{
		float value;
		asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
		return value;
	}
	static __device__ __forceinline__ memory store(float value)
	{
		memory bits;
		asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
		return bits;
	}
	static __device__ __forceinline__ u32 store2(float low, float high)
	{
		u32 word;
		asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
		return word;
	}
};

struct bf16 {
	typedef u16 memory;
	static constexpr int code = 3;
	static constexpr u32 poison = 0x7fffu;
	static __device__ __forceinline__ float load(memory bits)
	{
		return __uint_as_float((u32)bits << 16);
	}
	static __device__ __forceinline__ memory store(float value)
	{
		memory bits;
		asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
		return bits;
	}
	static __device__ __forceinline__ u32 store2(float low, float high)
	{
		u32 word;
		asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
		return word;
	}
};

// OCP e4m3: 1 sign, 4 exponent (bias 7), 3 mantissa bits; no infinities, 0x7f is NaN, largest 448.
// Instructions exist from sm_89; older devices (which only fill and compare) compute the same.
struct fp8_e4m3 {
	typedef u8 memory;
	static constexpr int code = 4;
	static constexpr u32 poison = 0x7fu;
	static __device__ __forceinline__ float load(memory bits)
	{
#if __CUDA_ARCH__ >= 890
		u32 halves;
		asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((u16)bits));
		return fp16::load((u16)halves);
#else
		u32 sign = (u32)(bits & 0x80u) << 24;
		u32 exponent = (bits >> 3) & 15u;
		u32 mantissa = bits & 7u;
		if ((bits & 0x7fu) == 0x7fu)
			return __uint_as_float(sign | 0x7fffffffu);
		// Subnormals count in units of 2^-9; normal exponents move from bias 7 to bias 127.
		if (exponent == 0)
			return __uint_as_float(sign | __float_as_uint((float)mantissa * 0x1p-9f));
		return __uint_as_float(sign | (exponent + 120u) << 23 | mantissa << 20);
#endif
	}
	static __device__ __forceinline__ memory store(float value)
	{
#if __CUDA_ARCH__ >= 890
		u16 pair;
		asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
		return (u8)pair;
#else
		u32 bits = __float_as_uint(value);
		u32 sign = bits >> 24 & 0x80u;
		float magnitude = __uint_as_float(bits & 0x7fffffffu);
		if (!(magnitude <= 3.4028235e38f))
			return (u8)(sign | (magnitude != magnitude ? 0x7fu : 0x7eu));
		if (magnitude >= 448.0f)
			return (u8)(sign | 0x7eu);
		if (magnitude < 0x1p-6f) // subnormal result: units of 2^-9, ties to even
			return (u8)(sign | (u32)__float2int_rn(magnitude * 512.0f));
		// Keep 3 of 23 mantissa bits; a carry out of the mantissa raises the exponent by
		// itself.
		u32 rounded = (bits & 0x7fffffffu) + 0x7ffffu + (bits >> 20 & 1u);
		u32 code_bits = (rounded >> 20) - (120u << 3);
		return (u8)(sign | (code_bits > 0x7eu ? 0x7eu : code_bits));
#endif
	}
};
