#include "common/shared.cuh"
extern "C" __global__ void widget_mine() {}
