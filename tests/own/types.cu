// x = x + by * table, in place, for every element type; the table is in constant memory.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <class T>
struct plain {
	typedef T type;
	static __device__ T update(T x, T by, T entry)
	{
		return x + by * entry;
	}
	static __device__ double real(T x)
	{
		return x;
	}
};

template <class T>
struct narrow {
	typedef T type;
	static __device__ T update(T x, T by, T entry)
	{
		return T((float)x + (float)by * (float)entry);
	}
	static __device__ double real(T x)
	{
		return (float)x;
	}
};

#if TYPE_fp64
typedef plain<double> one;
#elif TYPE_fp32 || TYPE_tf32
typedef plain<float> one;
#elif TYPE_fp16
typedef narrow<__half> one;
#elif TYPE_bf16
typedef narrow<__nv_bfloat16> one;
#elif TYPE_fp8_e4m3
typedef narrow<__nv_fp8_e4m3> one;
#elif TYPE_fp8_e5m2
typedef narrow<__nv_fp8_e5m2> one;
#elif TYPE_i8
typedef plain<signed char> one;
#elif TYPE_i16
typedef plain<short> one;
#elif TYPE_i32
typedef plain<int> one;
#elif TYPE_i64
typedef plain<long long> one;
#elif TYPE_u8
typedef plain<unsigned char> one;
#elif TYPE_u16
typedef plain<unsigned short> one;
#elif TYPE_u32
typedef plain<unsigned> one;
#elif TYPE_u64
typedef plain<unsigned long long> one;
#else
struct one {
	typedef bool type;
	static __device__ bool update(bool x, bool by, bool entry)
	{
		return x != (by && entry);
	}
	static __device__ double real(bool x)
	{
		return x;
	}
};
#endif

__constant__ one::type d_table[64];

template <int PER_THREAD>
__global__ void update(one::type *x, const one::type *by, long long n, unsigned char wide, double half, float bias)
{
	long long first = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * PER_THREAD;

	// arguments of other sizes than four bytes must arrive correctly
	if (wide != 200 || half != 0.5 || bias != -0.25f)
		return;
	for (int i = 0; i < PER_THREAD && first + i < n; i++)
		x[first + i] = one::update(x[first + i], by[first + i], d_table[(first + i) % 64]);
}

__global__ void expected_update(const one::type *x, const one::type *by, const one::type *table, const long long *units, int count, double *expected)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		expected[i] = one::real(one::update(x[units[i]], by[units[i]], table[units[i] % 64]));
}
