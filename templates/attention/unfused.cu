// Attention as three kernels with the scores in device memory: what a fused kernel is to be
// compared with. Both products run on tensor cores (mma.sync) with a cp.async pipeline of 3 panels.
//
//   unfused_scores   S = Q K^T in fp32, rows of `pitch` floats (seq_k rounded up to 8)
//   unfused_softmax  P = softmax(S / sqrt(head_dim)) in 16 bits, over half of the row's own bytes
//   unfused_values   O = P V
//
// Under a causal mask tiles that no row sees are neither computed nor read.
#include "attention/panels.cuh"

constexpr int warps = 4;
constexpr int block_threads = warps * 32;
constexpr int depth = 32; // of a panel along k
constexpr int stages = 3;

typedef row_layout<depth, false> depth_layout;

// Keys that row `row` sees.
__device__ __forceinline__ int visible_keys(int row, int seq_q, int seq_k)
{
	return causal ? max(0, min(seq_k, row + seq_k - seq_q + 1)) : seq_k;
}

// Runs load(step, slot) and multiply(slot) over `steps` panels, loads `stages - 1` ahead.
template <class LOAD, class MULTIPLY>
__device__ __forceinline__ void pipeline(int steps, LOAD load, MULTIPLY multiply)
{
#pragma unroll
	for (int step = 0; step < stages - 1; step++) {
		if (step < steps)
			load(step, step);
		cp_async_commit();
	}
	int slot = 0;
	for (int step = 0; step < steps; step++) {
		cp_async_wait<stages - 2>();
		__syncthreads();
		int ahead = step + stages - 1;
		if (ahead < steps)
			load(ahead, slot == 0 ? stages - 1 : slot - 1);
		cp_async_commit();
		multiply(slot);
		slot = slot == stages - 1 ? 0 : slot + 1;
	}
}

template <int ROW_TILES, int COLUMN_TILES>
__device__ __forceinline__ void clear(float (&c)[ROW_TILES][COLUMN_TILES][4])
{
#pragma unroll
	for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
		for (int j = 0; j < COLUMN_TILES; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				c[r][j][i] = 0.0f;
}

// Tiles of QM x QN scores, warps 2 x 2.
extern "C" __global__ void __launch_bounds__(block_threads)
	unfused_scores(const element_memory *Q, const element_memory *K, float *S, int seq_q,
		int seq_k, int heads, int kv_heads, int row_blocks, int key_blocks)
{
	constexpr int row_tiles = QM / 32, column_tiles = QN / 16;
	constexpr int a_bytes = QM * depth_layout::pitch_bytes;
	constexpr int slot_bytes = (QM + QN) * depth_layout::pitch_bytes;
	static_assert(stages * slot_bytes == SCORES_SMEM, "unfused.json's smem_bytes");
	extern __shared__ __align__(128) u8 shared[];
	int head = (int)blockIdx.x / (row_blocks * key_blocks);
	int in_head = (int)blockIdx.x - head * row_blocks * key_blocks;
	int first_row = in_head / key_blocks * QM, first_key = in_head % key_blocks * QN;
	int valid_rows = min(QM, seq_q - first_row);
	if (first_key >= visible_keys(first_row + valid_rows - 1, seq_q, seq_k))
		return;
	int kv_head = head / heads * kv_heads + head % heads / (heads / kv_heads);
	i64 pitch = (i64)ceil_div(seq_k, 8) * 8;
	const element_memory *q = Q + ((i64)head * seq_q + first_row) * head_dim;
	const element_memory *k = K + ((i64)kv_head * seq_k + first_key) * head_dim;
	float *s = S + ((i64)head * seq_q + first_row) * pitch + first_key;
	int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	int warp_row = warp / 2 * (QM / 2), warp_column = warp % 2 * (QN / 2);
	u32 panels = shared_address(shared);

	float c[row_tiles][column_tiles][4];
	clear(c);
	pipeline((head_dim + depth - 1) / depth,
		[&](int step, int slot) {
			u32 to = panels + (u32)(slot * slot_bytes);
			panel_load<depth, QM, block_threads>(to, q + step * depth, head_dim,
				valid_rows, head_dim - step * depth);
			panel_load<depth, QN, block_threads>(to + a_bytes, k + step * depth,
				head_dim, seq_k - first_key, head_dim - step * depth);
		},
		[&](int slot) {
			u32 from = panels + (u32)(slot * slot_bytes);
			constexpr int row_bytes = depth_layout::pitch_bytes;
			panel_multiply<row_tiles, column_tiles, depth, true>(c,
				from + (u32)(warp_row * row_bytes), row_bytes,
				from + (u32)(a_bytes + warp_column * row_bytes), row_bytes);
		});
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int row = warp_row + r * 16 + half * 8 + lane / 4;
#pragma unroll
			for (int j = 0; j < column_tiles; j++) {
				// The pitch is even, so a pair of columns never straddles the row's
				// end.
				int column = warp_column + j * 8 + lane % 4 * 2;
				if (row < valid_rows && first_key + column < seq_k)
					*(vec8 *)(s + row * pitch + column) =
						vec8{{__float_as_uint(c[r][j][2 * half]),
							__float_as_uint(c[r][j][2 * half + 1])}};
			}
		}
}

// Combines (maximum, sum) of ROW_THREADS threads; all of them receive the result.
__device__ __forceinline__ void row_reduce(float &top, float &sum, float *scratch)
{
#pragma unroll
	for (int distance = 16; distance > 0; distance /= 2) {
		float other_top = __shfl_xor_sync(0xffffffffu, top, distance);
		float other_sum = __shfl_xor_sync(0xffffffffu, sum, distance);
		float now = fmaxf(top, other_top);
		float offset = now == masked_score() ? 0.0f : now;
		sum = sum * exp2_fast(top - offset) + other_sum * exp2_fast(other_top - offset);
		top = now;
	}
	if constexpr (ROW_THREADS > 32) {
		constexpr int parts = ROW_THREADS / 32;
		if (threadIdx.x % 32 == 0) {
			scratch[threadIdx.x / 32 * 2] = top;
			scratch[threadIdx.x / 32 * 2 + 1] = sum;
		}
		__syncthreads();
		top = masked_score();
		for (int part = 0; part < parts; part++)
			top = fmaxf(top, scratch[2 * part]);
		float offset = top == masked_score() ? 0.0f : top;
		sum = 0.0f;
		for (int part = 0; part < parts; part++)
			sum += scratch[2 * part + 1] * exp2_fast(scratch[2 * part] - offset);
	}
}

struct score_quad {
	float x[4];
};

// Four scores of a row, minus infinity from `visible` on. A row's pitch is a multiple of 8, so all
// four lie in the row's own memory.
__device__ __forceinline__ score_quad scores_read(const float *scores, int visible)
{
	vec16 raw = *(const vec16 *)scores;
	score_quad q;
#pragma unroll
	for (int i = 0; i < 4; i++)
		q.x[i] = i < visible ? __uint_as_float(raw.word[i]) : masked_score();
	return q;
}

// ROW_THREADS threads a row: 32 (four rows a block) or 128 (one). Two passes over the row: maximum
// and sum, then weights. A weight of 2 bytes lands where scores of 4 bytes lay that have been read:
// between the reads and the writes of one round stands a barrier of the row's threads.
extern "C" __global__ void __launch_bounds__(block_threads)
	unfused_softmax(float *S, int seq_q, int seq_k, int row_count, int row_tile)
{
	static_assert(
		ROW_THREADS == 32 || ROW_THREADS == block_threads, "a warp or a block per row");
	__shared__ float scratch[2 * warps];
	i64 index = (i64)blockIdx.x * (block_threads / ROW_THREADS) + threadIdx.x / ROW_THREADS;
	if (index >= row_count) // whole warps; with one row a block there is no such block
		return;
	int row = (int)(index % seq_q);
	i64 pitch = (i64)ceil_div(seq_k, 8) * 8;
	float *scores = S + index * pitch;
	vec8 *weights = (vec8 *)scores;
	int thread = (int)threadIdx.x % ROW_THREADS;
	int visible = visible_keys(row, seq_q, seq_k);
	// The product with V reads weights up to the last key that a row of its tile sees.
	int last = min(row / row_tile * row_tile + row_tile, seq_q) - 1;
	int written = ceil_div(max(visible_keys(last, seq_q, seq_k), 1), 8) * 8;
	float scale = score_scale();

	float top = masked_score(), sum = 0.0f;
	for (int j = 4 * thread; j < visible; j += 4 * ROW_THREADS) {
		score_quad q = scores_read(scores + j, visible - j);
		float now = fmaxf(top, fmaxf(fmaxf(q.x[0], q.x[1]), fmaxf(q.x[2], q.x[3])) * scale);
		sum *= exp2_fast(top - now);
#pragma unroll
		for (int i = 0; i < 4; i++)
			sum += exp2_fast(fmaf(q.x[i], scale, -now));
		top = now;
	}
	row_reduce(top, sum, scratch);
	float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
	for (int first = 0; first < written; first += 4 * ROW_THREADS) {
		int j = first + 4 * thread;
		float p[4] = {0.0f, 0.0f, 0.0f, 0.0f};
		if (j < visible) {
			score_quad q = scores_read(scores + j, visible - j);
#pragma unroll
			for (int i = 0; i < 4; i++)
				p[i] = exp2_fast(fmaf(q.x[i], scale, -top)) * inverse;
		}
		if constexpr (ROW_THREADS == 32)
			__syncwarp();
		else
			__syncthreads();
		if (j < written)
			weights[j / 4] =
				vec8{{element::store2(p[0], p[1]), element::store2(p[2], p[3])}};
	}
}

// Tiles of VM rows and DN columns of the output, warps one below the other.
extern "C" __global__ void __launch_bounds__(block_threads)
	unfused_values(const float *S, const element_memory *V, element_memory *O, int seq_q,
		int seq_k, int heads, int kv_heads, int row_blocks, int column_blocks)
{
	constexpr int row_tiles = VM / 64, column_tiles = DN / 8;
	typedef row_layout<DN, false> value_layout;
	constexpr int a_bytes = VM * depth_layout::pitch_bytes;
	constexpr int slot_bytes = a_bytes + depth * value_layout::pitch_bytes;
	static_assert(stages * slot_bytes == VALUES_SMEM, "unfused.json's smem_bytes");
	extern __shared__ __align__(128) u8 shared[];
	int head = (int)blockIdx.x / (row_blocks * column_blocks);
	int in_head = (int)blockIdx.x - head * row_blocks * column_blocks;
	int first_row = (row_blocks - 1 - in_head / column_blocks) * VM;
	int first_column = in_head % column_blocks * DN;
	int valid_rows = min(VM, seq_q - first_row);
	int kv_head = head / heads * kv_heads + head % heads / (heads / kv_heads);
	i64 pitch = (i64)ceil_div(seq_k, 8) * 16; // of weights: two in the place of one score
	const element_memory *p =
		(const element_memory *)S + ((i64)head * seq_q + first_row) * pitch;
	const element_memory *v = V + (i64)kv_head * seq_k * head_dim + first_column;
	element_memory *out = O + ((i64)head * seq_q + first_row) * head_dim + first_column;
	int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	int warp_row = warp * (VM / warps);
	int keys = visible_keys(first_row + valid_rows - 1, seq_q, seq_k);
	int columns = min(DN, head_dim - first_column);
	u32 panels = shared_address(shared);

	float c[row_tiles][column_tiles][4];
	clear(c);
	pipeline((keys + depth - 1) / depth,
		[&](int step, int slot) {
			u32 to = panels + (u32)(slot * slot_bytes);
			int key = step * depth;
			panel_load<depth, VM, block_threads>(
				to, p + key, pitch, valid_rows, keys - key);
			panel_load<DN, depth, block_threads>(to + a_bytes, v + (i64)key * head_dim,
				head_dim, seq_k - key, columns);
		},
		[&](int slot) {
			u32 from = panels + (u32)(slot * slot_bytes);
			constexpr int row_bytes = depth_layout::pitch_bytes;
			panel_multiply<row_tiles, column_tiles, depth, false>(c,
				from + (u32)(warp_row * row_bytes), row_bytes, from + a_bytes,
				value_layout::pitch_bytes);
		});
#pragma unroll
	for (int r = 0; r < row_tiles; r++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int row = warp_row + r * 16 + half * 8 + lane / 4;
#pragma unroll
			for (int j = 0; j < column_tiles; j++) {
				int column = j * 8 + lane % 4 * 2;
				if (row < valid_rows && column < columns)
					*(u32 *)(out + (i64)row * head_dim + column) =
						element::store2(
							c[r][j][2 * half], c[r][j][2 * half + 1]);
			}
		}
}
