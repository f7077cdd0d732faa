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
// The six operands after the accumulators: A's registers, the descriptor of B, whether to add.
#define WGMMA_REGISTER_INPUTS_8 "%4", "%5", "%6", "%7", "%8", "%9"
#define WGMMA_REGISTER_INPUTS_16 "%8", "%9", "%10", "%11", "%12", "%13"
#define WGMMA_REGISTER_INPUTS_24 "%12", "%13", "%14", "%15", "%16", "%17"
#define WGMMA_REGISTER_INPUTS_32 "%16", "%17", "%18", "%19", "%20", "%21"
#define WGMMA_REGISTER_INPUTS_40 "%20", "%21", "%22", "%23", "%24", "%25"
#define WGMMA_REGISTER_INPUTS_48 "%24", "%25", "%26", "%27", "%28", "%29"
#define WGMMA_REGISTER_INPUTS_56 "%28", "%29", "%30", "%31", "%32", "%33"
#define WGMMA_REGISTER_INPUTS_64 "%32", "%33", "%34", "%35", "%36", "%37"
#define WGMMA_REGISTER_INPUTS_72 "%36", "%37", "%38", "%39", "%40", "%41"
#define WGMMA_REGISTER_INPUTS_80 "%40", "%41", "%42", "%43", "%44", "%45"
#define WGMMA_REGISTER_INPUTS_88 "%44", "%45", "%46", "%47", "%48", "%49"
#define WGMMA_REGISTER_INPUTS_96 "%48", "%49", "%50", "%51", "%52", "%53"
#define WGMMA_REGISTER_INPUTS_104 "%52", "%53", "%54", "%55", "%56", "%57"
#define WGMMA_REGISTER_INPUTS_112 "%56", "%57", "%58", "%59", "%60", "%61"
#define WGMMA_REGISTER_INPUTS_120 "%60", "%61", "%62", "%63", "%64", "%65"
#define WGMMA_REGISTER_INPUTS_128 "%64", "%65", "%66", "%67", "%68", "%69"
#define WGMMA_REGISTER_INPUTS_136 "%68", "%69", "%70", "%71", "%72", "%73"
#define WGMMA_REGISTER_INPUTS_144 "%72", "%73", "%74", "%75", "%76", "%77"
#define WGMMA_REGISTER_INPUTS_152 "%76", "%77", "%78", "%79", "%80", "%81"
#define WGMMA_REGISTER_INPUTS_160 "%80", "%81", "%82", "%83", "%84", "%85"
#define WGMMA_REGISTER_INPUTS_168 "%84", "%85", "%86", "%87", "%88", "%89"
#define WGMMA_REGISTER_INPUTS_176 "%88", "%89", "%90", "%91", "%92", "%93"
#define WGMMA_REGISTER_INPUTS_184 "%92", "%93", "%94", "%95", "%96", "%97"
#define WGMMA_REGISTER_INPUTS_192 "%96", "%97", "%98", "%99", "%100", "%101"
#define WGMMA_REGISTER_INPUTS_200 "%100", "%101", "%102", "%103", "%104", "%105"
#define WGMMA_REGISTER_INPUTS_208 "%104", "%105", "%106", "%107", "%108", "%109"
#define WGMMA_REGISTER_INPUTS_216 "%108", "%109", "%110", "%111", "%112", "%113"
#define WGMMA_REGISTER_INPUTS_224 "%112", "%113", "%114", "%115", "%116", "%117"
#define WGMMA_REGISTER_INPUTS_232 "%116", "%117", "%118", "%119", "%120", "%121"
#define WGMMA_REGISTER_INPUTS_240 "%120", "%121", "%122", "%123", "%124", "%125"
#define WGMMA_REGISTER_INPUTS_248 "%124", "%125", "%126", "%127", "%128", "%129"
#define WGMMA_REGISTER_INPUTS_256 "%128", "%129", "%130", "%131", "%132", "%133"

#define WGMMA_REGISTER_FORM_(n, type, layout, regs, a0, a1, a2, a3, b, add) \
	WGMMA_FORM(n, type, layout, regs, \
		"{" a0 ", " a1 ", " a2 ", " a3 "}", b, add)
#define WGMMA_REGISTER_FORM(...) WGMMA_REGISTER_FORM_(__VA_ARGS__)

// Defines a device function NAME(d, a, b, add): d = A * B, plus d where add is not 0.
#define WGMMA_DEFINE_REGISTERS(name, n, type, layout) \
	__device__ __forceinline__ void name( \
		float (&d)[(n) / 2], const u32 (&a)[4], u64 b, u32 add) \
	{ \
		asm volatile(WGMMA_REGISTER_FORM(n, type, layout, \
			WGMMA_NAME(WGMMA_REGS_, n), WGMMA_NAME(WGMMA_REGISTER_INPUTS_, n)) \
			: WGMMA_NAME(WGMMA_SUMS_, n) \
			: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)); \
	}
