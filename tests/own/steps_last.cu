// The last step has its own source and binary, in which the name of another step's template occurs again. The
// result does not depend on PER_THREAD, so that configurations agree.
template <int PER_THREAD> __global__ void add(float *x, int n)
{
	const int i = blockIdx.x * THREADS + threadIdx.x;

	if (i < n)
		x[i] += 1;
}
