// What both products of gemm_chain/separate_wgmma have in common: gemm/wgmma.cu without stream-K,
// batches and scales.
#pragma once
#include "gemm_chain/separate.cuh"
#define STORE       1
#define STORE_DEPTH 2
#define STREAM_K    0
#define BATCHED     0
#define CLUSTER_N   1
#define C_PAIRS     1
#define PARTS       1
#define SCALE_PART  8
