// One product of gemm_chain's separate families: gemm's constants from those of the chain.
#pragma once
#define B_LAYOUT_kn    1
#define OUT_DTYPE_fp16 DTYPE_fp16
#define OUT_DTYPE_bf16 DTYPE_bf16
