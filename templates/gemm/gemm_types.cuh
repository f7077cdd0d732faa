// The problem's types: `input` (A and B) and `output` (C), chosen by the build's -D names.
#include "common/convert.cuh"
#pragma once
#if DTYPE_fp32
typedef fp32 input;
#elif DTYPE_tf32
typedef tf32 input;
#elif DTYPE_fp16
typedef fp16 input;
#elif DTYPE_bf16
typedef bf16 input;
#elif DTYPE_fp8_e4m3
typedef fp8_e4m3 input;
#endif

#if OUT_DTYPE_fp32
typedef fp32 output;
#elif OUT_DTYPE_fp16
typedef fp16 output;
#elif OUT_DTYPE_bf16
typedef bf16 output;
#elif OUT_DTYPE_fp8_e4m3
typedef fp8_e4m3 output;
#endif
