// Loops that measure the latencies and rates of a device sheet (rates.json, rates.py). A round is one link of
// a chain of loads, one barrier, or a fixed number of bytes or products of every warp. The time of 2 ROUNDS
// minus that of ROUNDS excludes launch, ramps and cold caches.
typedef unsigned long long u64;

__device__ __forceinline__ u64 load_l2(const u64 *from) // bypasses L1
{
	u64 value;
	asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
	return value;
}

// `chain` is a permutation of 0 .. count - 1; count is a power of two. Adding the round to the address avoids
// short cycles. Each launch begins at another element, because its data would otherwise be in L2 from the
// previous launch.
__device__ __forceinline__ u64 walk(const u64 *chain, u64 count, int rounds)
{
	u64 at;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(at));
	at = at * 0x9e3779b97f4a7c15ull >> 32;
	for (int i = 0; i < rounds; ++i)
		at = load_l2(chain + ((at ^ (u64)i) & (count - 1)));
	return at;
}

// Every warp repeatedly reads lines of one part, 16 bytes per lane. Twelve blocks share a part, like tiles of
// a row or a column of a GEMM, or each block has its own.
__device__ __forceinline__ u64 stream(const u64 *data, u64 part, unsigned number, int rounds)
{
	const u64 *own = data + number * part;
	u64 sum = 0;
#pragma unroll 8
	for (int i = 0; i < rounds; ++i) {
		u64 low, high, at = ((u64)i * blockDim.x + threadIdx.x) * 2 & (part - 1);
		asm volatile("ld.global.cg.v2.u64 {%0, %1}, [%2];"
			     : "=l"(low), "=l"(high)
			     : "l"(own + at)
			     : "memory");
		sum += low ^ high;
	}
	return sum;
}

// Eight independent sums hide the latency of the products.
__device__ __forceinline__ u64 multiply(int rounds)
{
	float sum[8][4] = {};
	unsigned a = 0x3f803f80u + threadIdx.x, b = 0x3f813f80u;
	for (int i = 0; i < rounds; ++i)
#pragma unroll
		for (int k = 0; k < 8; ++k)
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, "
				     "%2, %3}, {%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};"
				     : "+f"(sum[k][0]), "+f"(sum[k][1]), "+f"(sum[k][2]),
				     "+f"(sum[k][3])
				     : "r"(a), "r"(b));
	float all = 0;
#pragma unroll
	for (int k = 0; k < 8; ++k)
		all += sum[k][0] + sum[k][3];
	return (u64)all;
}

extern "C" __global__ void rates(int *out, const u64 *data, int rounds)
{
	u64 result = 0;
#if WHAT_barrier
	for (int i = 0; i < rounds; ++i)
		__syncthreads();
#elif WHAT_l2_latency
	result = walk(data, 1 << 14, rounds); // 128 KiB
#elif WHAT_dram_latency
	result = walk(data, 1 << 27, rounds); // 1 GiB, far beyond L2
#elif WHAT_l2_port || WHAT_l2_chip
	result = stream(data, 1 << 14, blockIdx.x, rounds);
#elif WHAT_l2_shared
	result = stream(data, 1 << 14, blockIdx.x / 12, rounds);
#elif WHAT_tensor_mma
	result = multiply(rounds);
#endif
	// independent of the data, because results of all configurations are compared
	if (threadIdx.x == 0)
		out[blockIdx.x] = result == ~0ull ? 2 : 1;
}
