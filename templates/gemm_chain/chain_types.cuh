// The 16-bit element type of this problem, picked by the build: DTYPE_fp16 or DTYPE_bf16.
#include "common/convert.cuh"
#pragma once
#if DTYPE_bf16
typedef bf16 element;
#elif DTYPE_fp16
typedef fp16 element;
#else
#error "gemm_chain knows fp16 and bf16"
#endif

typedef element::memory element_memory;
