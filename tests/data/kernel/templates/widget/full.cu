#include "local.cuh"
#  include "common/shared.cuh" // again: empty
extern "C" __global__ void widget_main() {}
