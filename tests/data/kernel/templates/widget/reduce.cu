extern "C" __global__ void widget_reduce() {}
