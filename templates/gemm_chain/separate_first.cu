// The first product of gemm_chain/separate, T = act(A B), by gemm/mma.cu.
#include "gemm_chain/separate.cuh"
#define BN         FIRST_BN
#define WN         FIRST_WN
#define A_VEC      K_VEC
#define B_VEC      N_VEC
#define C_ALIGN    (2 * N_VEC)
#define MIN_BLOCKS 1
#define ring_bytes FIRST_RING
#define gemm_mma   gemm_chain_first
#include "gemm/mma.cu"
