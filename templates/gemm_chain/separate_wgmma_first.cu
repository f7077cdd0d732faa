// The first product of gemm_chain/separate_wgmma, T = act(A B), by gemm/wgmma.cu.
#include "gemm_chain/separate_wgmma.cuh"
#define BN          FIRST_BN
#define STAGES      FIRST_STAGES
#define SMEM_BYTES  FIRST_SMEM
#define STORE_BOX   FIRST_BOX
#define gemm_wgmma  gemm_chain_first
#include "gemm/wgmma.cu"
