#include "../common/shared.cuh"
#define LOCAL 1
