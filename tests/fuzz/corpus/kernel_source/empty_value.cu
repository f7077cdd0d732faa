#define T =
__global__ void f(T x) {}
