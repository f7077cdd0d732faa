// wgmma whose A operand comes from registers (see wgmma.cuh). The fragment of 64 rows x 32 bytes of k
// lies as mma.sync's A does in each warp's 16 rows: lane l of warp w holds, of 16-bit elements,
//   a[0] = row 16*w + l/4, k 2*(l%4) and the next    a[2] = the same row, k 8 further
//   a[1], a[3] = the same of row + 8
// so that two neighbouring blocks of 8 columns of an accumulator, rounded in pairs, are one fragment.
// Of 8-bit elements a[0] is k 4*(l%4) and the next three, a[2] is 16 further: four blocks of 8 columns
// are a fragment of another order of k, which B has to have too (attention/flash_wgmma_fp8.cuh).
// The registers must not change until wgmma_wait says that the product is complete.
#include "common/wgmma.cuh"
#pragma once
#define WGMMA_REGISTER_FORM_(n, type, layout, regs, a0, a1, a2, a3, b, add) \
	WGMMA_FORM_(n, type, layout, regs, \
		"{" a0 ", " a1 ", " a2 ", " a3 "}", b, add)
#define WGMMA_REGISTER_FORM(...) WGMMA_REGISTER_FORM_(__VA_ARGS__)

// Defines a device function NAME(d, a, b, add): d = A * B, plus d where add is not 0.
#define WGMMA_DEFINE_REGISTERS(name, n, type, layout) \
	__device__ __forceinline__ void name( \
		float (&d)[(n) / 2], const u32 (&a)[4], u64 b, u32 add) \
	{ \
		asm volatile(WGMMA_REGISTER_FORM(n, type, layout, \
			WGMMA_NAME(WGMMA_REGS_, n), WGMMA_NAME(WGMMA_INPUTS_, n)) \
			: WGMMA_NAME(WGMMA_SUMS_, n) \
			: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)); \
	}
