// The last step has a source of its own, a second binary, and there the name of another step's template.
template <int PER_THREAD> __global__ void add(float *x, int n)
{
	const int i = blockIdx.x * THREADS + threadIdx.x;

	if (i < n)
		x[i] += PER_THREAD;
}
