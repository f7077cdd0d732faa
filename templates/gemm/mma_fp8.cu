// mma.cu's kernel with fp8 operands: the instruction is another one (sm_89 and up), the tile is the same.
#include "common/mma_fp8.cuh"
#include "mma.cu"
