// Attention in one pass over the keys on Hopper: TMA, wgmma, scores and output in registers
// (FlashAttention-3: Shah et al., 2024, arXiv 2407.08608; online softmax: Milakov and Gimelshein,
// 2018, arXiv 1805.02867).
//
// A block takes BM query rows of one head at a time: a loading thread feeds rings of Q, K and V,
// and GROUPS warp groups have 64 rows each. Tiles of BN keys run from the last to the first, so
// that those which need masks come first. Per tile a group multiplies S = Q K^T, makes weights P of
// it and adds P V of the tile before to its output:
//   OVERLAP 1    both products are under way at once, and P V goes on beside the softmax of S
//           2    as 1, and the output is rescaled beside S of the next tile
//           3    as 1, and the output is rescaled only where a maximum of the warp's rows moved
//   OVERLAP 0    both are waited for before the softmax; another group has to fill the gap
//   BARRIER      groups take turns: 1 with issuing products, 2 with the softmax
// A cluster takes CLUSTER neighbouring tiles of rows of a head, whose K and V it shares by
// multicast. Parameters: flash_wgmma.json.
//
// A tile of rows with n tiles of keys, K[n-1] to K[0], over time:
//   loading thread   number  Q  K[n-1]  K[n-2] V[n-1]  K[n-3] V[n-2]  ...  K[0] V[1]  V[0]
//   group            number  S[n-1]  softmax  | S[n-2] PV[n-1] softmax |  ...  PV[0]  store
// and the barriers, each of a buffer of a ring:
//   units  full   the loading thread has stored the number    every other warp, before all else
//          empty  each of these warps has read it             the loading thread, 2 numbers later
//   q      full   TMA: the rows have landed                   each group, before S[n-1]
//          empty  each group, after the last softmax          the loading thread, Q_BUFFERS later
//   k      full   TMA, of all blocks of the cluster           each group, before S
//          empty  each group of all these blocks, S is done   the loading thread, STAGES later
//   v      full   TMA; fp8: each transposing warp             each group, before P V
//          empty  each group of all these blocks, PV is done  the loading thread; fp8: transposers
//   loaded full   fp8: TMA                                    each transposing warp
//          empty  fp8: each transposing warp                  the loading thread, 2 tiles later
// and the groups' turns (flash_wgmma_turns.cuh).
#include "attention/flash_wgmma_loader.cuh"
#include "attention/flash_wgmma_multiplier.cuh"
#include "hopper/roles.cuh"

constexpr int threads = 128 * (GROUPS + 1);
static_assert(PACK || PACKED_HEADS == 1, "rows of one head");

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS) flash_wgmma(
	const __grid_constant__ tensor_map map_q, const __grid_constant__ tensor_map map_k,
	const __grid_constant__ tensor_map map_v, output_memory *O, u32 *counter,
	const float *Q_scale, const float *K_scale, const float *V_scale, i32 seq_q, i32 seq_k,
	i32 heads, i32 kv_heads, i32 head_count, i32 row_units, i32 head_group)
{
	extern __shared__ __align__(1024) u8 shared[];
	const rings ring(shared_address(shared));
#if DTYPE_fp8_e4m3
	const float scale = score_scale() * *Q_scale * *K_scale, value_scale = *V_scale;
#else
	const float scale = score_scale(), value_scale = 1.0f;
#endif
	u32 block = CLUSTER > 1 ? cluster_rank() : 0;
	u32 group = same_in_lanes(threadIdx.x / 128);

	if (threadIdx.x == 0) {
		ring.init();
		mbarrier_init_fence();
		tensor_map_prefetch(map_q);
		tensor_map_prefetch(map_k);
		tensor_map_prefetch(map_v);
	}
	blocks_meet<CLUSTER>();

	schedule list = {seq_q, seq_k, heads, kv_heads, head_count, row_units,
		min(head_group, head_count), block};
	if (group == 0) {
		registers_for_loading<CONSUMER_REGISTERS != 0 ? PRODUCER_REGISTERS : 0>();
		if (threadIdx.x == 0) {
			loader load = {map_q, map_k, map_v, ring, block};
			load.run(list, counter);
		}
#if DTYPE_fp8_e4m3
		if (threadIdx.x >= 32) {
			transposer transpose = {ring, threadIdx.x / 32 - 1};
			transpose.run(list);
		}
#endif
		__syncwarp();
	} else {
		registers_for_multiplying<CONSUMER_REGISTERS>();
		group -= 1;
		multiplier multiply = {ring, ring.weights + group * weight_bytes, group,
			threadIdx.x % 128, scale, value_scale};
		multiply.run(list, O);
	}
	blocks_part<CLUSTER>();
}
