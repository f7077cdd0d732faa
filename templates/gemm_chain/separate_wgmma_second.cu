// The second product of gemm_chain/separate_wgmma, Y = T C, by gemm/wgmma.cu. The first one has
// applied the activation.
#include "gemm_chain/separate_wgmma.cuh"
#undef ACT_relu
#undef ACT_gelu_tanh
#undef ACT_silu
#define BN          SECOND_BN
#define STAGES      SECOND_STAGES
#define SMEM_BYTES  SECOND_SMEM
#define STORE_BOX   SECOND_BOX
#define gemm_wgmma  gemm_chain_second
#include "gemm/wgmma.cu"
