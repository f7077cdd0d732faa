// wgmma (sm_90a): a warp group (4 warps, the first one's index divisible by 4) multiplies a 64 x 32
// bytes tile by an N x 32 bytes tile, both in shared memory, into fp32 registers, asynchronously.
// Use: WGMMA_DEFINE(multiply, BN, WGMMA_BF16, WGMMA_LAYOUT(0, 0)) at file scope; wgmma_fence();
// multiply(...) several times; wgmma_commit(); later wgmma_wait<PENDING>().
// Accumulators: d[4*j + i] of lane l of warp w is, for i = 0, 1, row 16*w + l/4 and column
// 8*j + 2*(l%4) + i; for i = 2, 3 the same columns of row + 8.
// Source: PTX ISA, "Asynchronous warpgroup level matrix instructions".
//
// The instruction wants N as a literal and every register named: WGMMA_REGS_<N> and WGMMA_SUMS_<N>
// grow by four registers from line to line. Only the N that WGMMA_DEFINE asks for becomes code.
#include "common/types.cuh"
#pragma once
// Accumulator registers are about to be read by wgmma: earlier writes to them are done.
__device__ __forceinline__ void wgmma_fence()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Returns when at most PENDING of the latest committed groups are still running.
template <int PENDING>
__device__ __forceinline__ void wgmma_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// Keeps the compiler from moving reads of accumulators above the wait that makes them valid.
template <int COUNT>
__device__ __forceinline__ void wgmma_hold(float (&sums)[COUNT])
{
#pragma unroll
	for (int i = 0; i < COUNT; ++i)
		asm volatile("" : "+f"(sums[i])::"memory");
}

// How wgmma finds an operand in shared memory. Swizzle span and distances in bytes.
// k innermost: group_bytes is the distance between groups of 8 rows, block_bytes is not used.
// m or n innermost (transposed): group_bytes is the distance between groups of 8 k, block_bytes the
// distance between blocks of one swizzle span along m or n.
// The tile's start must be aligned to 8 spans.
template <int SWIZZLE>
__device__ __forceinline__ u64 wgmma_descriptor(u32 address, u32 block_bytes, u32 group_bytes)
{
	static_assert(SWIZZLE == 128 || SWIZZLE == 64 || SWIZZLE == 32, "swizzle span");
	constexpr u64 mode = SWIZZLE == 128 ? 1 : SWIZZLE == 64 ? 2 : 3;
	return (u64)((address & 0x3ffffu) >> 4) | (u64)(block_bytes >> 4) << 16 |
		(u64)(group_bytes >> 4) << 32 | mode << 62;
}

// A descriptor moved by a distance in bytes (a multiple of 16).
__device__ __forceinline__ u64 wgmma_advance(u64 descriptor, u32 bytes)
{
	return descriptor + (bytes >> 4);
}

#define WGMMA_REGS_8 "%0,%1,%2,%3"
#define WGMMA_REGS_16 WGMMA_REGS_8 ",%4,%5,%6,%7"
#define WGMMA_REGS_24 WGMMA_REGS_16 ",%8,%9,%10,%11"
#define WGMMA_REGS_32 WGMMA_REGS_24 ",%12,%13,%14,%15"
#define WGMMA_REGS_40 WGMMA_REGS_32 ",%16,%17,%18,%19"
#define WGMMA_REGS_48 WGMMA_REGS_40 ",%20,%21,%22,%23"
#define WGMMA_REGS_56 WGMMA_REGS_48 ",%24,%25,%26,%27"
#define WGMMA_REGS_64 WGMMA_REGS_56 ",%28,%29,%30,%31"
#define WGMMA_REGS_72 WGMMA_REGS_64 ",%32,%33,%34,%35"
#define WGMMA_REGS_80 WGMMA_REGS_72 ",%36,%37,%38,%39"
#define WGMMA_REGS_88 WGMMA_REGS_80 ",%40,%41,%42,%43"
#define WGMMA_REGS_96 WGMMA_REGS_88 ",%44,%45,%46,%47"
#define WGMMA_REGS_104 WGMMA_REGS_96 ",%48,%49,%50,%51"
#define WGMMA_REGS_112 WGMMA_REGS_104 ",%52,%53,%54,%55"
#define WGMMA_REGS_120 WGMMA_REGS_112 ",%56,%57,%58,%59"
#define WGMMA_REGS_128 WGMMA_REGS_120 ",%60,%61,%62,%63"
#define WGMMA_REGS_136 WGMMA_REGS_128 ",%64,%65,%66,%67"
#define WGMMA_REGS_144 WGMMA_REGS_136 ",%68,%69,%70,%71"
#define WGMMA_REGS_152 WGMMA_REGS_144 ",%72,%73,%74,%75"
#define WGMMA_REGS_160 WGMMA_REGS_152 ",%76,%77,%78,%79"
#define WGMMA_REGS_168 WGMMA_REGS_160 ",%80,%81,%82,%83"
#define WGMMA_REGS_176 WGMMA_REGS_168 ",%84,%85,%86,%87"
#define WGMMA_REGS_184 WGMMA_REGS_176 ",%88,%89,%90,%91"
#define WGMMA_REGS_192 WGMMA_REGS_184 ",%92,%93,%94,%95"
#define WGMMA_REGS_200 WGMMA_REGS_192 ",%96,%97,%98,%99"
#define WGMMA_REGS_208 WGMMA_REGS_200 ",%100,%101,%102,%103"
#define WGMMA_REGS_216 WGMMA_REGS_208 ",%104,%105,%106,%107"
#define WGMMA_REGS_224 WGMMA_REGS_216 ",%108,%109,%110,%111"
#define WGMMA_REGS_232 WGMMA_REGS_224 ",%112,%113,%114,%115"
#define WGMMA_REGS_240 WGMMA_REGS_232 ",%116,%117,%118,%119"
#define WGMMA_REGS_248 WGMMA_REGS_240 ",%120,%121,%122,%123"
#define WGMMA_REGS_256 WGMMA_REGS_248 ",%124,%125,%126,%127"

#define WGMMA_SUM4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_SUMS_8 WGMMA_SUM4(0)
#define WGMMA_SUMS_16 WGMMA_SUMS_8, WGMMA_SUM4(4)
#define WGMMA_SUMS_24 WGMMA_SUMS_16, WGMMA_SUM4(8)
#define WGMMA_SUMS_32 WGMMA_SUMS_24, WGMMA_SUM4(12)
#define WGMMA_SUMS_40 WGMMA_SUMS_32, WGMMA_SUM4(16)
#define WGMMA_SUMS_48 WGMMA_SUMS_40, WGMMA_SUM4(20)
#define WGMMA_SUMS_56 WGMMA_SUMS_48, WGMMA_SUM4(24)
#define WGMMA_SUMS_64 WGMMA_SUMS_56, WGMMA_SUM4(28)
#define WGMMA_SUMS_72 WGMMA_SUMS_64, WGMMA_SUM4(32)
#define WGMMA_SUMS_80 WGMMA_SUMS_72, WGMMA_SUM4(36)
#define WGMMA_SUMS_88 WGMMA_SUMS_80, WGMMA_SUM4(40)
#define WGMMA_SUMS_96 WGMMA_SUMS_88, WGMMA_SUM4(44)
#define WGMMA_SUMS_104 WGMMA_SUMS_96, WGMMA_SUM4(48)
#define WGMMA_SUMS_112 WGMMA_SUMS_104, WGMMA_SUM4(52)
#define WGMMA_SUMS_120 WGMMA_SUMS_112, WGMMA_SUM4(56)
#define WGMMA_SUMS_128 WGMMA_SUMS_120, WGMMA_SUM4(60)
#define WGMMA_SUMS_136 WGMMA_SUMS_128, WGMMA_SUM4(64)
#define WGMMA_SUMS_144 WGMMA_SUMS_136, WGMMA_SUM4(68)
#define WGMMA_SUMS_152 WGMMA_SUMS_144, WGMMA_SUM4(72)
#define WGMMA_SUMS_160 WGMMA_SUMS_152, WGMMA_SUM4(76)
#define WGMMA_SUMS_168 WGMMA_SUMS_160, WGMMA_SUM4(80)
#define WGMMA_SUMS_176 WGMMA_SUMS_168, WGMMA_SUM4(84)
#define WGMMA_SUMS_184 WGMMA_SUMS_176, WGMMA_SUM4(88)
#define WGMMA_SUMS_192 WGMMA_SUMS_184, WGMMA_SUM4(92)
#define WGMMA_SUMS_200 WGMMA_SUMS_192, WGMMA_SUM4(96)
#define WGMMA_SUMS_208 WGMMA_SUMS_200, WGMMA_SUM4(100)
#define WGMMA_SUMS_216 WGMMA_SUMS_208, WGMMA_SUM4(104)
#define WGMMA_SUMS_224 WGMMA_SUMS_216, WGMMA_SUM4(108)
#define WGMMA_SUMS_232 WGMMA_SUMS_224, WGMMA_SUM4(112)
#define WGMMA_SUMS_240 WGMMA_SUMS_232, WGMMA_SUM4(116)
#define WGMMA_SUMS_248 WGMMA_SUMS_240, WGMMA_SUM4(120)
#define WGMMA_SUMS_256 WGMMA_SUMS_248, WGMMA_SUM4(124)

// The operands after the accumulators: descriptors of A and B and whether to add to the sums are the
// first three of six; where A comes from registers (wgmma_registers.cuh), its four, B and whether.
#define WGMMA_INPUTS_8 "%4", "%5", "%6", "%7", "%8", "%9"
#define WGMMA_INPUTS_16 "%8", "%9", "%10", "%11", "%12", "%13"
#define WGMMA_INPUTS_24 "%12", "%13", "%14", "%15", "%16", "%17"
#define WGMMA_INPUTS_32 "%16", "%17", "%18", "%19", "%20", "%21"
#define WGMMA_INPUTS_40 "%20", "%21", "%22", "%23", "%24", "%25"
#define WGMMA_INPUTS_48 "%24", "%25", "%26", "%27", "%28", "%29"
#define WGMMA_INPUTS_56 "%28", "%29", "%30", "%31", "%32", "%33"
#define WGMMA_INPUTS_64 "%32", "%33", "%34", "%35", "%36", "%37"
#define WGMMA_INPUTS_72 "%36", "%37", "%38", "%39", "%40", "%41"
#define WGMMA_INPUTS_80 "%40", "%41", "%42", "%43", "%44", "%45"
#define WGMMA_INPUTS_88 "%44", "%45", "%46", "%47", "%48", "%49"
#define WGMMA_INPUTS_96 "%48", "%49", "%50", "%51", "%52", "%53"
#define WGMMA_INPUTS_104 "%52", "%53", "%54", "%55", "%56", "%57"
#define WGMMA_INPUTS_112 "%56", "%57", "%58", "%59", "%60", "%61"
#define WGMMA_INPUTS_120 "%60", "%61", "%62", "%63", "%64", "%65"
#define WGMMA_INPUTS_128 "%64", "%65", "%66", "%67", "%68", "%69"
#define WGMMA_INPUTS_136 "%68", "%69", "%70", "%71", "%72", "%73"
#define WGMMA_INPUTS_144 "%72", "%73", "%74", "%75", "%76", "%77"
#define WGMMA_INPUTS_152 "%76", "%77", "%78", "%79", "%80", "%81"
#define WGMMA_INPUTS_160 "%80", "%81", "%82", "%83", "%84", "%85"
#define WGMMA_INPUTS_168 "%84", "%85", "%86", "%87", "%88", "%89"
#define WGMMA_INPUTS_176 "%88", "%89", "%90", "%91", "%92", "%93"
#define WGMMA_INPUTS_184 "%92", "%93", "%94", "%95", "%96", "%97"
#define WGMMA_INPUTS_192 "%96", "%97", "%98", "%99", "%100", "%101"
#define WGMMA_INPUTS_200 "%100", "%101", "%102", "%103", "%104", "%105"
#define WGMMA_INPUTS_208 "%104", "%105", "%106", "%107", "%108", "%109"
#define WGMMA_INPUTS_216 "%108", "%109", "%110", "%111", "%112", "%113"
#define WGMMA_INPUTS_224 "%112", "%113", "%114", "%115", "%116", "%117"
#define WGMMA_INPUTS_232 "%116", "%117", "%118", "%119", "%120", "%121"
#define WGMMA_INPUTS_240 "%120", "%121", "%122", "%123", "%124", "%125"
#define WGMMA_INPUTS_248 "%124", "%125", "%126", "%127", "%128", "%129"
#define WGMMA_INPUTS_256 "%128", "%129", "%130", "%131", "%132", "%133"

#define WGMMA_PASTE(a, b) a##b
#define WGMMA_NAME(a, b) WGMMA_PASTE(a, b)
#define WGMMA_QUOTE(a) #a
#define WGMMA_TEXT(a) WGMMA_QUOTE(a)

// The types of an instruction (k and operands), and how its operands lie: 1 = transposed, with m or
// n innermost, which 16-bit operands alone can be. LAYOUT_B: where A comes from registers.
#define WGMMA_FP16 "k16.f32.f16.f16"
#define WGMMA_BF16 "k16.f32.bf16.bf16"
#define WGMMA_E4M3 "k32.f32.e4m3.e4m3"
#define WGMMA_LAYOUT(transpose_a, transpose_b) \
	", " WGMMA_TEXT(transpose_a) ", " WGMMA_TEXT(transpose_b)
#define WGMMA_LAYOUT_B(transpose_b) ", " WGMMA_TEXT(transpose_b)
#define WGMMA_LAYOUT_ALONG_K ""

#define WGMMA_FORM_(n, type, layout, regs, a, b, add) \
	"{\n.reg .pred add;\nsetp.ne.b32 add, " add ", 0;\n" \
	"wgmma.mma_async.sync.aligned.m64n" WGMMA_TEXT(n) type " {" regs "}, " a ", " b \
	", add, 1, 1" layout ";\n}"
#define WGMMA_MEMORY_FORM_(n, type, layout, regs, a, b, add, ...) \
	WGMMA_FORM_(n, type, layout, regs, a, b, add)
#define WGMMA_MEMORY_FORM(...) WGMMA_MEMORY_FORM_(__VA_ARGS__)

// Defines a device function NAME(d, a, b, add): d = A * B, plus d where add is not 0. INTO: d is an
// array of `count`, of which the first n / 2 are the sums.
#define WGMMA_DEFINE_INTO(name, count, n, type, layout) \
	__device__ __forceinline__ void name(float (&d)[count], u64 a, u64 b, u32 add) \
	{ \
		asm volatile(WGMMA_MEMORY_FORM(n, type, layout, WGMMA_NAME(WGMMA_REGS_, n), \
			WGMMA_NAME(WGMMA_INPUTS_, n)) \
			: WGMMA_NAME(WGMMA_SUMS_, n) : "l"(a), "l"(b), "r"(add)); \
	}
#define WGMMA_DEFINE(name, n, type, layout) WGMMA_DEFINE_INTO(name, (n) / 2, n, type, layout)
