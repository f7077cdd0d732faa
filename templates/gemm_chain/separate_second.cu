// The second product of gemm_chain/separate, Y = T C, by gemm/mma.cu. The first one has applied the
// activation.
#include "gemm_chain/separate.cuh"
#undef ACT_relu
#undef ACT_gelu_tanh
#undef ACT_silu
#define BN         SECOND_BN
#define WN         SECOND_WN
#define A_VEC      N_VEC
#define B_VEC      P_VEC
#define C_ALIGN    (2 * P_VEC)
#define MIN_BLOCKS 1
#define ring_bytes SECOND_RING
#define gemm_mma   gemm_chain_second
#include "gemm/mma.cu"
