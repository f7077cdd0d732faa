// Attention in CUDA Tile C++: one pass over the keys with a running maximum and sum. A block has BM
// queries of one head; a step has BN keys. Rows are padded to the next power of two, DIM and DIM_V,
// with zeros, which change no score.
//
// Constants from the build: BM BN DIM DIM_V HEAD_DIM, SCORE_SCALE (log2(e) / sqrt(HEAD_DIM)), and
// the hints of common/tile_kernel.cuh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/tile_kernel.cuh"

#if DTYPE_bf16
typedef __nv_bfloat16 element;
#else
typedef __half element;
#endif

typedef ct::tile<float, ct::shape<BM, BN>> scores;
typedef ct::tile<float, ct::shape<BM, DIM_V>> outputs;
typedef ct::tile<float, ct::shape<BM, 1>> column;

// Below every score. A power of two, because its product with SCORE_SCALE is exact then: scores
// that are all lowest have differences of 0, not of a rounding error.
constexpr float lowest = -0x1p100f;

// 2^x; results below the normal numbers are 0, which saves three instructions an element.
template <typename TILE> __tile__ TILE power_of_two(TILE x)
{
	return ct::exp2<ct::subnormals_rounding_mode::round_subnormals_to_zero>(x);
}

// Scores of keys that a query does not see become lowest.
__tile__ scores masked(scores s, int first_query, int first_key, int seq_q, int seq_k)
{
	const auto key = ct::reshape(ct::iota<ct::tile<int, ct::shape<BN>>>(), ct::shape<1, BN>()) +
			 first_key;
#if causal
	const auto query =
		ct::reshape(ct::iota<ct::tile<int, ct::shape<BM>>>(), ct::shape<BM, 1>()) +
		first_query;
	const auto seen = (key < seq_k) & (key <= query + (seq_k - seq_q));
#else
	const auto seen = ct::broadcast(key < seq_k, ct::shape<BM, BN>());
#endif
	return ct::select(seen, s, ct::full<scores>(lowest));
}

// What the keys so far have given: sums of weighted values and of weights, relative to 2 to the
// largest score.
struct running {
	outputs output;
	column maximum, sum;
};

template <typename V_TILE> __tile__ running with_keys(running old, scores s, V_TILE v_tile)
{
	const auto higher = ct::max(old.maximum, ct::reduce_max<1>(s));
	const auto weights = power_of_two(s * (float)SCORE_SCALE - higher * (float)SCORE_SCALE);
	const auto kept = power_of_two((old.maximum - higher) * (float)SCORE_SCALE);

	return {ct::mma(ct::element_cast<element>(weights), v_tile, old.output * kept), higher,
		old.sum * kept + ct::sum<1>(weights)};
}

// Keys that every query of the block sees have a loop without a mask.
TILE_HINTS __tile_global__ void attention_tile(const element *__restrict__ q,
	const element *__restrict__ k, const element *__restrict__ v, element *__restrict__ o,
	int seq_q, int seq_k, int heads, int kv_heads, int head_dim_v)
{
	const int head = ct::bid().y;
	const int kv_head = head / heads * kv_heads + head % heads / (heads / kv_heads);
	// the last queries of a causal problem see the most keys, so they come first
	const int block = causal ? ct::num_blocks().x - 1 - ct::bid().x : ct::bid().x;
	const int first_query = block * BM;
	const auto q_tiles =
		tiles_of<BM, DIM, 8>(q + (long)head * seq_q * HEAD_DIM, seq_q, HEAD_DIM, HEAD_DIM);
	const auto k_tiles = tiles_of<BN, DIM, 8>(
		k + (long)kv_head * seq_k * HEAD_DIM, seq_k, HEAD_DIM, HEAD_DIM);
	const auto v_tiles = tiles_of<BN, DIM_V, 8>(
		v + (long)kv_head * seq_k * head_dim_v, seq_k, head_dim_v, head_dim_v);
	const auto o_tiles = tiles_of<BM, DIM_V, 8>(
		o + (long)head * seq_q * head_dim_v, seq_q, head_dim_v, head_dim_v);
	const auto q_tile = q_tiles.load_masked(block, 0);
	const auto no_scores = ct::full<scores>(0.0f);
	running r = {ct::full<outputs>(0.0f), ct::full<column>(lowest), ct::full<column>(0.0f)};
	int last = seq_k;       // keys from here on are seen by no query of the block
	int whole = seq_k / BN; // steps before this one need no mask

#if causal
	const int diagonal = first_query + (seq_k - seq_q);
	last = diagonal + BM < seq_k ? diagonal + BM : seq_k;
	last = last < 0 ? 0 : last;
	whole = diagonal + 1 < 0 ? 0 : ((diagonal + 1) / BN < whole ? (diagonal + 1) / BN : whole);
#endif
	for (auto step : ct::irange(0, whole)) {
		const auto s =
			ct::mma(q_tile, ct::transpose(k_tiles.load_masked(step, 0)), no_scores);

		r = with_keys(r, s, v_tiles.load_masked(step, 0));
	}
	for (auto step : ct::irange(whole, (last + BN - 1) / BN)) {
		const auto s =
			ct::mma(q_tile, ct::transpose(k_tiles.load_masked(step, 0)), no_scores);

		r = with_keys(r, masked(s, first_query, step * BN, seq_q, seq_k),
			v_tiles.load_masked(step, 0));
	}
	// a row that sees no key gives 0: its weights are 2^(lowest - lowest) = 1 or were never
	// added
	const auto none = r.maximum == lowest;
	const auto sum = ct::select(none, ct::full<column>(1.0f), r.sum);

	r.output =
		r.output * (ct::select(none, ct::full<column>(0.0f), ct::full<column>(1.0f)) / sum);
	o_tiles.store_masked(ct::element_cast<element>(r.output), block, 0);
}
