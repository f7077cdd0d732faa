__global__ void k(float *x, int n){ int i = threadIdx.x + blockIdx.x * ; if (i < n) x[i] = 0; }
