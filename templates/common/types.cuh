// Fixed-width names for device code, and the 128-byte TMA descriptor as kernels receive it.
// Nothing is included: NVRTC gets no include path, so every name here is our own.
#pragma once
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8, "LP64 device ABI");

// A tensor map travels by value: `const __grid_constant__ tensor_map NAME`.
// The driver encodes it on the host; its bits are opaque to kernels, only its address is used.
struct alignas(64) tensor_map {
	u8 opaque[128];
};

static_assert(sizeof(tensor_map) == 128, "the driver's CUtensorMap has 128 bytes");

// 16 bytes that move as one vector access.
struct alignas(16) vec16 {
	u32 word[4];
};

struct alignas(8) vec8 {
	u32 word[2];
};

// ceil(a / b) for a >= 1, b >= 1 without the overflow of (a + b - 1) near the top of the type.
template <typename T> __device__ __forceinline__ constexpr T ceil_div(T a, T b)
{
	return (a - 1) / b + 1;
}

// The 32-bit address of an object in shared memory, as PTX's shared-space operands want it.
__device__ __forceinline__ u32 shared_address(const void *pointer)
{
	return (u32)__cvta_generic_to_shared(pointer);
}
