// Two templates in one source: each launch must find its own instance.
template <int PER_THREAD> __global__ void scale(float *x, const float *by, int n)
{
	const int first = (blockIdx.x * THREADS + threadIdx.x) * PER_THREAD;

	for (int i = first; i < first + PER_THREAD && i < n; i++)
		x[i] *= by[i];
}

template <int PER_THREAD> __global__ void add(const float *by, float *x, int n)
{
	const int first = (blockIdx.x * THREADS + threadIdx.x) * PER_THREAD;

	for (int i = first; i < first + PER_THREAD && i < n; i++)
		x[i] += by[i];
}
