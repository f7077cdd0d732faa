// The reference of attention: one row of the output per block, everything in fp64, one pass over
// the keys in chunks of 256 with a running maximum. unit = linear index of (batch, head, query).
//
//   scores     thread t computes the score of key t of the chunk
//   values     thread t adds up column t % width over every (256 / width)-th key of the chunk;
//              wider heads take several columns a thread. Columns lie side by side: coalesced.
#include "attention/element.cuh"

constexpr int threads = 256;
constexpr int widest = 512; // of head_dim and head_dim_v, see operation.json
constexpr int columns = widest / threads;

__device__ __forceinline__ double block_reduce(double value, double *scratch, bool maximum)
{
	__syncthreads();
	scratch[threadIdx.x] = value;
	__syncthreads();
	for (int half = threads / 2; half > 0; half /= 2) {
		if ((int)threadIdx.x < half) {
			double other = scratch[threadIdx.x + half];
			double mine = scratch[threadIdx.x];
			scratch[threadIdx.x] =
				maximum ? (other > mine ? other : mine) : mine + other;
		}
		__syncthreads();
	}
	return scratch[0];
}

// Where the keys of one sequence and head lie, in rows of K and of V.
struct key_places {
	const i32 *pages; // the sequence's; null: without pages
	i64 first;        // row of key 0, in a page that of its first key
	i64 step;         // rows from key to key
	int page;

	__device__ __forceinline__ i64 row(i64 key) const
	{
		if (!pages)
			return first + key;
		return first + (pages[key / page] * (i64)page + key % page) * step;
	}
};

extern "C" __global__ void __launch_bounds__(threads) attention_reference(const element_memory *Q,
	const element_memory *K, const element_memory *V, const i32 *block_table,
	const float *Q_scale, const float *K_scale, const float *V_scale, const i64 *units,
	int unit_count, double *expected, int seq_q, int seq_k, int heads, int kv_heads, int page,
	int head_dim_v)
{
	__shared__ double query[widest], weight[threads], scratch[threads];
	if ((int)blockIdx.x >= unit_count)
		return;
	i64 unit = units[blockIdx.x];
	i64 head = unit / seq_q;
	int row = (int)(unit - head * seq_q);
	i64 sequence = head / heads;
	int kv_head = (int)(head % heads / (heads / kv_heads));
	key_places places = {nullptr, (sequence * kv_heads + kv_head) * seq_k, 1, page};
	if (page > 0)
		places = {block_table + sequence * ceil_div(seq_k, page), kv_head, kv_heads, page};
	// only 8-bit tensors have scales
	double score_scale = (Q_scale ? (double)*Q_scale * *K_scale : 1.0) / sqrt((double)head_dim);
	double value_scale = V_scale ? *V_scale : 1.0;
	int thread = (int)threadIdx.x;
	for (int d = thread; d < head_dim; d += threads)
		query[d] = element::load(Q[unit * head_dim + d]);
	__syncthreads();

	i64 visible = seq_k;
	if (causal && (i64)row + seq_k - seq_q + 1 < visible)
		visible = (i64)row + seq_k - seq_q + 1;
	const double infinity = __longlong_as_double(0x7ff0000000000000ll);
	const int width = min(head_dim_v, threads), key_groups = threads / width;
	double top = -infinity, total = 0.0, sum[columns] = {};
	for (i64 first = 0; first < visible; first += threads) {
		double score = -infinity;
		if (first + thread < visible) {
			const element_memory *key = K + places.row(first + thread) * head_dim;
			double dot = 0.0;
			for (int d = 0; d < head_dim; d++)
				dot += query[d] * (double)element::load(key[d]);
			score = dot * score_scale;
		}
		double chunk_top = block_reduce(score, scratch, true);
		double now = top > chunk_top ? top : chunk_top;
		double factor = exp(top - now); // the first time exp(-inf) = 0
		double p = exp(score - now);
		total = total * factor + block_reduce(p, scratch, false);
		weight[thread] = p;
		__syncthreads();
		top = now;
		int count = visible - first < threads ? (int)(visible - first) : threads;
		for (int c = 0; c < columns; c++) {
			int column = thread % width + c * width;
			sum[c] *= factor;
			if (thread < key_groups * width && column < head_dim_v)
				for (int k = thread / width; k < count; k += key_groups) {
					i64 place = places.row(first + k) * head_dim_v + column;
					sum[c] += weight[k] * (double)element::load(V[place]);
				}
		}
	}
	for (int c = 0; c < columns; c++) {
		__syncthreads();
		scratch[thread] = sum[c];
		__syncthreads();
		int column = thread + c * width;
		if (thread < width && column < head_dim_v) {
			double value = 0.0;
			for (int group = 0; group < key_groups; group++)
				value += scratch[group * width + thread];
			expected[(i64)blockIdx.x * head_dim_v + column] =
				total > 0.0 ? value / total * value_scale : 0.0;
		}
	}
}
