__global__ void f(std::) {}
