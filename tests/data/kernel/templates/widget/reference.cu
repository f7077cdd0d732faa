#include "common/cycle.cuh"
extern "C" __global__ void widget_reference() {}
