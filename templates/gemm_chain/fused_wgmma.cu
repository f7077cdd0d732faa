// Y = act(A B) C on Hopper's wgmma: blocks of 64 GROUPS rows walk over n, the intermediate T stays
// in registers (sm_90a).
//
// One warp loads by TMA: the rows of A of a tile (two slots, so that the next tile's come while
// this one is computed), and the weights in steps of BN columns of B and as many rows of C, through
// a ring of STAGES slots; with RESIDENT the slots hold all of both weights and are filled once.
// Each warp group has 64 rows: T = A B by wgmma, its accumulators, rounded in pairs, are the
// operand of Y += T C. That product runs on while the next step's T is issued: what waits is the
// rounding alone, and there the other warp groups of the SM compute.
//
// The SPLIT_N blocks of a cluster share the n of a tile (of one tile only); they add their sums
// through distributed shared memory in the order of their ranks, each for its share of the columns.
#include "common/activation.cuh"
#include "common/ldmatrix.cuh"
#include "common/swizzle.cuh"
#include "common/tma.cuh"
#include "common/wgmma_registers.cuh"
#include "gemm_chain/store.cuh"
#include "hopper/ring.cuh"
#include "hopper/roles.cuh"

constexpr int consumers = 128 * GROUPS;
constexpr int block_rows = 64 * GROUPS;
constexpr int k_steps = K16 / 16;
constexpr int n_steps = BN / 16;
constexpr int line_bytes = 128; // of every tile in shared memory: 64 elements, swizzled
constexpr int a_bytes = (K16 + 63) / 64 * block_rows * line_bytes;
constexpr int b_bytes = (BN + 63) / 64 * K16 * line_bytes;
constexpr int c_bytes = (BP + 63) / 64 * BN * line_bytes;
constexpr int stage_bytes = b_bytes + c_bytes;
constexpr int own_columns8 =
	(BP / 8 + SPLIT_N - 1) / SPLIT_N; // that a block of a cluster completes
constexpr int exchange_bytes = SPLIT_N > 1 ? SPLIT_N *own_columns8 *consumers * 16 : 0;
typedef ring<STAGES, stage_bytes, GROUPS, 1>
	stage_ring;                           // of weights; a resident slot is filled once
typedef ring<2, a_bytes, GROUPS, 1> row_ring; // of A
static_assert(SMEM_BYTES == stage_ring::bytes + row_ring::bytes + exchange_bytes +
				    stage_ring::barrier_bytes + row_ring::barrier_bytes,
	"stages, rows, exchange, barriers: what the launch asks for");

#if DTYPE_bf16
WGMMA_DEFINE(t_multiply, BN, WGMMA_BF16, WGMMA_LAYOUT(0, 1))
WGMMA_DEFINE_REGISTERS(t_multiply_held, BN, WGMMA_BF16, WGMMA_LAYOUT_B(1))
WGMMA_DEFINE_REGISTERS(y_multiply, BP, WGMMA_BF16, WGMMA_LAYOUT_B(1))
#else
WGMMA_DEFINE(t_multiply, BN, WGMMA_FP16, WGMMA_LAYOUT(0, 1))
WGMMA_DEFINE_REGISTERS(t_multiply_held, BN, WGMMA_FP16, WGMMA_LAYOUT_B(1))
WGMMA_DEFINE_REGISTERS(y_multiply, BP, WGMMA_FP16, WGMMA_LAYOUT_B(1))
#endif

// Where things lie in shared memory.
struct places {
	stage_ring stages;
	row_ring rows;
	u32 exchange;

	__device__ __forceinline__ explicit places(u32 base)
	{
		stages.buffers = base;
		rows.buffers = base + stage_ring::bytes;
		exchange = rows.buffers + row_ring::bytes;
		stages.barriers = exchange + exchange_bytes;
		rows.barriers = stages.barriers + stage_ring::barrier_bytes;
	}
};

// Tiles of Y, those of the same rows side by side.
struct tiles {
	int count, columns;
	__device__ __forceinline__ tiles(int m, int p) : columns(ONE_COLUMN ? 1 : ceil_div(p, BP))
	{
		count = ceil_div(m, block_rows) * columns;
	}
	__device__ __forceinline__ int row(int unit) const
	{
		return (ONE_COLUMN ? unit : unit / columns) * block_rows;
	}
	__device__ __forceinline__ int column(int unit) const
	{
		return ONE_COLUMN ? 0 : unit % columns * BP;
	}
};

// What a block of a cluster does: tiles `unit`, unit + unit_step, ..., of each the steps of n from
// first_step to last_step - 1.
struct share {
	tiles all;
	int unit, unit_step, first_step, last_step;
	u32 rank;
};

// The loading thread.
__device__ __forceinline__ void load_all(const places &at, const tensor_map &map_a,
	const tensor_map &map_b, const tensor_map &map_c, const share &work)
{
	row_ring::position row;
	stage_ring::position stage;
	bool first = true;
	for (int unit = work.unit; unit < work.all.count; unit += work.unit_step) {
		at.rows.claim_for_copies(row);
#pragma unroll
		for (int column = 0; column < K16; column += 64)
			tma_load(at.rows.at(row) + (u32)(column / 64 * block_rows * line_bytes),
				map_a, at.rows.full(row), column, work.all.row(unit));
		row.next();
		if (RESIDENT && !first)
			continue;
		first = false;
		for (int step = work.first_step; step < work.last_step; step++) {
			u32 full = at.stages.full(stage), to = at.stages.at(stage);
			if (!RESIDENT)
				at.stages.claim(stage);
			at.stages.expect(stage);
#pragma unroll
			for (int column = 0; column < BN; column += 64)
				tma_load(to + (u32)(column / 64 * K16 * line_bytes), map_b, full,
					step * BN + column, 0);
#pragma unroll
			for (int column = 0; column < BP; column += 64)
				tma_load(to + (u32)(b_bytes + column / 64 * BN * line_bytes), map_c,
					full, work.all.column(unit) + column, step * BN);
			stage.next();
		}
	}
}

// T's sums, activated and rounded, as operands of the second product.
__device__ __forceinline__ void t_round(u32 (&operand)[n_steps][4], const float (&t)[BN / 2])
{
#pragma unroll
	for (int step = 0; step < n_steps; step++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			operand[step][i] = element::store2(
				activate(t[8 * step + 2 * i]), activate(t[8 * step + 2 * i + 1]));
}

// COLUMNS8 * 8 columns of the warp's 16 rows, from column `column` of Y on.
template <int COLUMNS8>
__device__ __forceinline__ void y_store(element_memory *Y, const float (&y)[COLUMNS8][4],
	int first_row, int m, int p, int column, int lane)
{
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int row = first_row + half * 8 + lane / 4;
		row_store(Y + (i64)row * p + column, y, half, lane, row < m, p - column);
	}
}

// Every block of the cluster gets its share of the columns from all of them.
__device__ __forceinline__ void y_exchange(float (&own)[own_columns8][4],
	const float (&y)[BP / 8][4], u32 buffer, u32 rank, u32 thread)
{
#pragma unroll
	for (int block = 0; block < SPLIT_N; block++) {
		u32 to = cluster_address(
			buffer + (rank * own_columns8 * consumers + thread) * 16, (u32)block);
#pragma unroll
		for (int j = 0; j < own_columns8; j++) {
			constexpr int last = BP / 8 - 1;
			int from = block * own_columns8 + j;
			if (from <= last)
				cluster_store4(to + (u32)(j * consumers * 16),
					y[from < last ? from : last][0],
					y[from < last ? from : last][1],
					y[from < last ? from : last][2],
					y[from < last ? from : last][3]);
		}
	}
	cluster_sync();
#pragma unroll
	for (int j = 0; j < own_columns8; j++)
#pragma unroll
		for (int sender = 0; sender < SPLIT_N; sender++) {
			float part[4];
			asm volatile(
				"ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
				: "=f"(part[0]), "=f"(part[1]), "=f"(part[2]), "=f"(part[3])
				: "r"(buffer +
					((sender * own_columns8 + j) * consumers + thread) * 16)
				: "memory");
#pragma unroll
			for (int i = 0; i < 4; i++)
				own[j][i] = sender == 0 ? part[i] : own[j][i] + part[i];
		}
}

// What a warp group does: its 64 rows of every tile.
__device__ __forceinline__ void tiles_compute(
	const places &at, const share &work, element_memory *Y, int m, int p, int warp)
{
	const int lane = (int)threadIdx.x % 32;
	const u32 group_thread = threadIdx.x % 128;
	const int group_row = warp / 4 * 64, warp_row = group_row + warp % 4 * 16;
	const int line = warp_row + lane % 16; // of A, for ldmatrix
	row_ring::position row;
	stage_ring::position stage;
#pragma unroll 1
	for (int unit = work.unit; unit < work.all.count; unit += work.unit_step) {
		float t[BN / 2], y[BP / 2];
		u32 held[A_REGS ? k_steps : 1][4], operand[n_steps][4];
		at.rows.wait(row);
		if constexpr (A_REGS != 0) {
#pragma unroll
			for (int i = 0; i < k_steps; i++)
				ldmatrix_x4(held[i],
					at.rows.at(row) +
						(u32)((i / 4 * block_rows + line) * line_bytes +
							((i % 4 * 2 + lane / 16) ^ swizzle<8>(line)) *
								16));
			__syncwarp();
		}
		const u64 a = wgmma_descriptor<128>(
			at.rows.at(row) + (u32)(group_row * line_bytes), 16, 8 * line_bytes);
		stage_ring::position used; // that of the step before
#pragma unroll 1
		for (int step = work.first_step; step < work.last_step; step++) {
			at.stages.wait(stage);
			const u64 b = wgmma_descriptor<128>(
				at.stages.at(stage), K16 * line_bytes, 8 * line_bytes);
			const u64 c = wgmma_descriptor<128>(
				at.stages.at(stage) + b_bytes, BN * line_bytes, 8 * line_bytes);
			wgmma_fence();
#pragma unroll
			for (int i = 0; i < k_steps; i++) {
				u64 from = wgmma_advance(b, (u32)(i * 16 * line_bytes));
				if constexpr (A_REGS != 0)
					t_multiply_held(t, held[i], from, i > 0);
				else
					t_multiply(t,
						wgmma_advance(
							a, (u32)(i / 4 * block_rows * line_bytes +
								   i % 4 * 32)),
						from, i > 0);
			}
			wgmma_commit();
			wgmma_wait<0>();
			wgmma_hold(t);
			// The product with C of the step before is complete, too.
			if (!RESIDENT && step > work.first_step)
				at.stages.release(used, group_thread);
			t_round(operand, t);
			wgmma_fence();
#pragma unroll
			for (int i = 0; i < n_steps; i++)
				y_multiply(y, operand[i],
					wgmma_advance(c, (u32)(i * 16 * line_bytes)),
					step > work.first_step || i > 0);
			wgmma_commit();
			used = stage;
			stage.next();
		}
		wgmma_wait<0>();
		wgmma_hold(y);
		if (!RESIDENT)
			at.stages.release(used, group_thread);
		at.rows.release(row, group_thread);
		row.next();
		if (RESIDENT)
			stage = {};

		const int first_row = work.all.row(unit) + warp_row;
		const int first_column = work.all.column(unit);
		const float(&sums)[BP / 8][4] = reinterpret_cast<const float(&)[BP / 8][4]>(y);
		if constexpr (SPLIT_N > 1) {
			float own[own_columns8][4];
			y_exchange(own, sums, at.exchange, work.rank, threadIdx.x);
			y_store<own_columns8>(Y, own, first_row, m, p,
				first_column + (int)work.rank * own_columns8 * 8, lane);
			cluster_sync();
		} else {
			y_store<BP / 8>(Y, sums, first_row, m, p, first_column, lane);
		}
	}
}

extern "C" __global__ void __launch_bounds__(consumers + 128, BLOCKS_PER_SM) gemm_chain_wgmma(
	const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b,
	const __grid_constant__ tensor_map map_c, element_memory *Y, int m, int n, int p)
{
	extern __shared__ __align__(1024) u8 shared[];
	const places at(shared_address(shared));
	const int warp = (int)same_in_lanes(threadIdx.x / 32);
	const u32 rank = SPLIT_N > 1 ? cluster_rank() : 0;
	const int steps = ceil_div(n, BN);
	const share work = {tiles(m, p), (int)blockIdx.x / SPLIT_N, (int)gridDim.x / SPLIT_N,
		(int)(rank * steps / SPLIT_N), (int)((rank + 1) * steps / SPLIT_N), rank};

	if (threadIdx.x == 0) {
		at.stages.init();
		at.rows.init();
		mbarrier_init_fence();
	}
	blocks_meet<SPLIT_N>();

	if (warp >= consumers / 32) {
		registers_for_loading<LOADER_REGS>();
		if (warp == consumers / 32 && elect()) // one lane: see elect()
			load_all(at, map_a, map_b, map_c, work);
		__syncwarp();
		if constexpr (SPLIT_N > 1) { // a cluster has one tile: these are its barriers
			cluster_sync();
			cluster_sync();
		}
	} else {
		registers_for_multiplying<GROUP_REGS>();
		tiles_compute(at, work, Y, m, p, warp);
	}
}
