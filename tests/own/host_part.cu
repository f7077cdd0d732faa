// A program for nvcc: the kernel is between code for the host.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <type_traits>
#include <vector>
#include <cublas_v2.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <getopt.h>
#include <omp.h>
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/util/Half.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include "dispatch_utils.h"
#include "math.h"
#if defined WITH_LIBRARY
#include "not/there.h"
#include <nor/this.hpp>
#endif
using namespace std;

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t status = call;                                                         \
		if (status != cudaSuccess) {                                                       \
			fprintf(stderr, "%s\n", cudaGetErrorString(status));                       \
			exit(EXIT_FAILURE);                                                        \
		}                                                                                  \
	} while (0)
#define SHARED_BY_BOTH __host__ __device__ inline

#ifndef THREADS
#define THREADS 128
#endif
const int LIMIT = 100;
static int verbose = 0;
cublasHandle_t handle;
using layout_t = cublasLtMatrixLayout_t;
extern cudaDeviceProp properties;
static struct option options[] = {{"size", required_argument, 0, 'n'}, {0, 0, 0, 0}};
const std::string usage = R"(
usage: host_part [--size N]
__global__ void not_a_kernel(int main) {
)";

struct settings {
	thrust::device_vector<float> on_device;
	std::string name;
	std::vector<int> sizes;
	int count = 0;
	const std::map<int, std::string> names = {{1, "one"}, {2, "two"}};
	settings() : name("x"), sizes{1, 2} { std::sort(sizes.begin(), sizes.end()); }
	template <class T> void print(const T &value) const { std::cout << name << value; }
};

template <typename T> struct range {
	T low, high;
	SHARED_BY_BOTH T clamp(T x) const { return x < low ? low : x > high ? high : x; }
	bool is_empty() const
	{
		std::map<T, int> seen;
		return seen.empty();
	}
};

void usage_print(const std::vector<std::string> &words);

double seconds()
{
	struct timeval now;
	gettimeofday(&now, NULL);
	return now.tv_sec + 1e-6 * now.tv_usec;
}

#if CUDA_VERSION >= 9000
#define SHUFFLE(x) WARP_SHFL_XOR(x, 1)
#endif

#ifdef WITH_OFFSET
__global__ void normalize(float *out, const float *in, int n, int offset)
#else
__global__ void C10_LAUNCH_BOUNDS_1(THREADS) normalize(float *out, const float *in, int n)
#endif
{
	__shared__ typename cub::BlockReduce<float, THREADS>::TempStorage unused;
	const range<float> all = {-INFINITY, INT_MAX};

	static_assert(std::is_same<decltype(all.low), float>::value, "");
	CUDA_KERNEL_LOOP(j, n)
	{
		__extension__ const uint32_t i = j;
		at::Half half = in[i];

		CUDA_KERNEL_ASSERT(i < n);
		half = half > half * 2 ? -half / 2 : half + half;
		out[i] = all.clamp(std::max(in[i], 0.0f) * (float)M_PI) + (i > LIMIT ? 0 : 1 / FLT_MAX) +
			 SHUFFLE(static_cast<at::opmath_type<at::Half>>(half));
	}
}

template <typename T> std::vector<T> random_values(size_t count)
{
	std::vector<T> values(count);
#pragma omp parallel for
	for (size_t i = 0; i < count; i++)
		values[i] = (T)rand() / RAND_MAX;
	return values;
}

#ifdef WITH_OFFSET
void run(float *out, const float *in, int n, int offset)
#else
void run(float *out, const float *in, int n)
#endif
{
	TORCH_CHECK(n > 0, "no elements");
	cudaProfilerStart();
#ifdef WITH_OFFSET
	normalize<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, n, offset);
#else
	normalize<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, n);
#endif
	CHECK(cudaGetLastError());
	cudaProfilerStop();
};

int main(int argc, char **argv)
{
	std::vector<float> values = random_values<float>(1 << 20);
	float *in, *out;

	CHECK(cudaMalloc(&in, values.size() * sizeof(float)));
	CHECK(cudaMalloc(&out, values.size() * sizeof(float)));
	run(out, in, (int)values.size());
	std::cout << usage << seconds() << (char)'}' << std::endl;
	return 0;
}
