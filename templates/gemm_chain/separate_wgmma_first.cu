// The first product of gemm_chain/separate_wgmma, T = act(A B), by gemm/wgmma.cu.
#include "gemm_chain/separate.cuh"
#define BN          FIRST_BN
#define STAGES      FIRST_STAGES
#define SMEM_BYTES  FIRST_SMEM
#define STORE_BOX   FIRST_BOX
#define STORE       1
#define STORE_DEPTH 2
#define STREAM_K    0
#define BATCHED     0
#define CLUSTER_N   1
#define C_PAIRS     1
#define PARTS       1
#define SCALE_PART  8
#define gemm_wgmma  gemm_chain_first
#include "gemm/wgmma.cu"
