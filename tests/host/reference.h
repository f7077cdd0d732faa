/* SPDX-License-Identifier: MIT
 *
 * The correct results for kernels on the CPU: the operations of templates/ in plain fp64, and the
 * tensors that both work on.
 */
#ifndef HOST_REFERENCE_H
#define HOST_REFERENCE_H

#include <sys/mman.h>
#include <unistd.h>

#include "hopper.h"

namespace host
{

enum kind {
	FP32,
	TF32,
	FP16,
	BF16,
	I32,
	FP8
};

struct tensor {
	const char *name;
	long long rows, columns, ld;
	kind dtype;
	size_t bytes;
	bool is_input;
	long long last; /* maximum of an offset: the sum of all counts */
	bool is_counts;
	unsigned char *data = nullptr;
	size_t room = 0;

	size_t size() const
	{
		return dtype == FP8 ? 1 : dtype == FP16 || dtype == BF16 ? 2 : 4;
	}

	double get(long long at) const
	{
		if (dtype == FP8)
			return of_fp8(data[at]);
		if (dtype == I32)
			return ((int *)data)[at];
		if (dtype == FP16)
			return of_half(((uint16_t *)data)[at]);
		if (dtype == BF16)
			return of_bfloat(((uint16_t *)data)[at]);
		return ((float *)data)[at];
	}

	/* returns `count` rows of the tensor, from row `first` on */
	tensor part(long long first, long long count) const
	{
		tensor some = *this;

		some.data += first * ld *
			     (dtype == FP8                            ? 1
				     : dtype == FP16 || dtype == BF16 ? 2
								      : 4);
		some.rows = count;
		return some;
	}

	void set(long long at, float value)
	{
		if (dtype == FP8)
			data[at] = fp8_of(value);
		else if (dtype == FP16)
			((uint16_t *)data)[at] = half_of(value);
		else if (dtype == BF16)
			((uint16_t *)data)[at] = bfloat_of(value);
		else
			((uint32_t *)data)[at] = __float_as_uint(value) &
						 (dtype == TF32 ? 0xffffe000u : 0xffffffffu);
	}
};

static double draw()
{
	static uint64_t state = 88172645463325252u; /* xorshift64 */

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-52 - 1;
}

/* Fills in the offsets of groups, or their sizes. Some sizes are 0, and most do not fit tiles; the
 * last group gets the remaining rows. */
static void offsets_make(tensor &t)
{
	static const int sizes[] = {7, 0, 129, 1, 0, 33};
	long long at = 0;

	for (long long i = 0; i < t.columns; i++) {
		const long long left = std::max(t.last - at, 0ll);

		if (t.is_counts)
			((int *)t.data)[i] =
				(int)(i + 1 == t.columns ? left
							 : std::min(left, (long long)sizes[i % 6]));
		else
			((int *)t.data)[i] = (int)(i + 1 == t.columns || at > t.last ? t.last : at);
		at += sizes[i % 6];
	}
}

/* Fills all memory with NaN, then the inputs with values in [-1, 1]. The page behind the tensor
 * must not be touched. */
static void tensor_make(tensor &t)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *base;

	if (t.bytes == 0)
		return;
	t.room = (t.bytes + page - 1) / page * page;
	base = (unsigned char *)mmap(nullptr, t.room + 2 * page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED || mprotect(base, page, PROT_NONE) ||
		mprotect(base + page + t.room, page, PROT_NONE))
		stop("no memory");
	t.data = base + page;
	set_not_a_number(t.data, t.room);
	if (t.dtype == I32) {
		offsets_make(t);
		return;
	}
	for (long long row = 0; t.is_input && row < t.rows; row++)
		for (long long column = 0; column < t.columns; column++)
			t.set(row * t.ld + column, (float)draw());
}

/* Converts to a pointer of any type. */
struct argument {
	void *data;
	template <class T> operator T *() const
	{
		return (T *)data;
	}
};

/* Whether the bytes behind the tensor's end and between its rows are unchanged. */
static bool is_intact(const tensor &t)
{
	const size_t size = t.size();

	for (size_t i = 0; i < t.room; i++) {
		const long long at = (long long)(i / size);

		if (t.data[i] != 0xff && (i >= t.bytes || at % t.ld >= t.columns)) {
			printf("%s: written at byte %zu, which is not its own\n", t.name, i);
			return false;
		}
	}
	return true;
}

/* expected holds rows x columns elements */
static bool compare(const tensor &t, const std::vector<double> &expected, double abs, double rel)
{
	for (long long row = 0; row < t.rows; row++)
		for (long long column = 0; column < t.columns; column++) {
			const double wanted = expected[(size_t)(row * t.columns + column)];
			const double found = t.get(row * t.ld + column);

			/* a kernel must not write there */
			if (wanted != wanted
					? found == found
					: !(fabs(found - wanted) <= abs + rel * fabs(wanted))) {
				printf("%s: row %lld, column %lld: expected %.9g, found %.9g\n",
					t.name, row, column, wanted, found);
				return false;
			}
		}
	return is_intact(t);
}

/* Compares the results of a reference kernel, which also computes in fp64. */
static bool same(const std::vector<double> &wanted, const std::vector<double> &found)
{
	for (size_t i = 0; i < wanted.size(); i++)
		if (wanted[i] != wanted[i]
				? found[i] == found[i]
				: !(fabs(found[i] - wanted[i]) <= 1e-6 * (1 + fabs(wanted[i])))) {
			printf("element %zu: expected %.12g, found %.12g\n", i, wanted[i],
				found[i]);
			return false;
		}
	return true;
}

enum activation {
	ACT_none_,
	ACT_relu_,
	ACT_gelu_tanh_,
	ACT_silu_
};

static double activated(double x, activation act)
{
	if (act == ACT_relu_)
		return x > 0 ? x : 0;
	if (act == ACT_gelu_tanh_)
		return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
	return act == ACT_silu_ ? x / (1 + exp(-x)) : x;
}

/* Computes C = act(A B), where B is [N,K] (nk) or [K,N]. */
static std::vector<double> gemm(const tensor &a, const tensor &b, bool nk, activation act)
{
	const long long n = nk ? b.rows : b.columns;
	std::vector<double> c;

	for (long long i = 0; i < a.rows; i++)
		for (long long j = 0; j < n; j++) {
			double sum = 0;

			for (long long k = 0; k < a.columns; k++)
				sum += a.get(i * a.ld + k) *
				       b.get(nk ? j * b.ld + k : k * b.ld + j);
			c.push_back(activated(sum, act));
		}
	return c;
}

/* Computes a batch of products of M rows. Each begins rows_a rows (in B rows_b rows) after the
 * previous one. */
static std::vector<double> gemm_batch(const tensor &a, const tensor &b, bool nk, long long batch,
	long long m, long long rows_a, long long rows_b)
{
	std::vector<double> c;

	for (long long i = 0; i < batch; i++)
		for (double x : gemm(a.part(i * rows_a, m),
			     b.part(i * rows_b, b.rows - (batch - 1) * rows_b), nk, ACT_none_))
			c.push_back(x);
	return c;
}

/* Applies gemm's other keys to the product; absent tensors have 0 bytes. */
static std::vector<double> gemm_finished(std::vector<double> c, const tensor &scale_a,
	const tensor &scale_b, const tensor &bias, const tensor &c_in, const tensor &residual,
	double alpha, double beta, long long n, activation act)
{
	for (size_t at = 0; at < c.size(); at++) {
		const long long i = (long long)at / n, j = (long long)at % n;

		c[at] *= alpha;
		if (scale_a.bytes)
			c[at] *= scale_a.get(scale_a.columns > 1 ? i : 0) *
				 scale_b.get(scale_b.columns > 1 ? j : 0);
		if (c_in.bytes)
			c[at] += beta * c_in.get(i * c_in.ld + j);
		if (bias.bytes)
			c[at] += bias.get(j);
		c[at] = activated(c[at], act);
		if (residual.bytes)
			c[at] += residual.get(i * residual.ld + j);
	}
	return c;
}

/* Computes the rows of C of group g = rows of A times B[g], [N,K], with scales, and NaN behind the
 * last row of a group. Rows begin at offsets[g], or at g * room. */
static std::vector<double> gemm_grouped(const tensor &a, const tensor &b, const tensor &offsets,
	const tensor &counts, const tensor &scale_a, const tensor &scale_b, long long room)
{
	const long long groups = counts.bytes ? counts.columns : offsets.columns - 1;
	const long long n = b.rows / groups;
	std::vector<double> c((size_t)(a.rows * n), NAN);

	for (long long g = 0; g < groups; g++) {
		const long long first = counts.bytes ? g * room : (long long)offsets.get(g);
		const long long end = counts.bytes
					      ? first + std::min((long long)counts.get(g), room)
					      : (long long)offsets.get(g + 1);

		for (long long i = first; i < end; i++)
			for (long long j = 0; j < n; j++) {
				double sum = 0;

				for (long long k = 0; k < a.columns; k++)
					sum += a.get(i * a.ld + k) * b.get((g * n + j) * b.ld + k);
				if (scale_a.bytes)
					sum *= scale_a.get(scale_a.columns > 1 ? i : 0) *
					       scale_b.get(g * scale_b.ld +
							   (scale_b.columns > 1 ? j : 0));
				c[(size_t)(i * n + j)] = sum;
			}
	}
	return c;
}

/* Computes Y = act(A B) C; the intermediate is rounded to the element type. */
static std::vector<double> gemm_chain(
	const tensor &a, const tensor &b, const tensor &c, activation act)
{
	std::vector<double> middle = gemm(a, b, false, act), y;

	for (double &x : middle)
		x = a.dtype == FP16 ? of_half(half_of((float)x)) : of_bfloat(bfloat_of((float)x));
	for (long long i = 0; i < a.rows; i++)
		for (long long j = 0; j < c.columns; j++) {
			double sum = 0;

			for (long long k = 0; k < c.rows; k++)
				sum += middle[(size_t)(i * c.rows + k)] * c.get(k * c.ld + j);
			y.push_back(sum);
		}
	return y;
}

/* A row without visible keys is 0. */
static std::vector<double> attention(const tensor &q, const tensor &k, const tensor &v,
	long long batch, long long heads, long long kv_heads, long long seq_q, long long seq_k,
	bool causal)
{
	const long long d = q.columns;
	std::vector<double> o;

	for (long long at = 0; at < batch * heads * seq_q; at++) {
		const long long row = at % seq_q, head = at / seq_q % heads, b = at / seq_q / heads;
		const long long first = (b * kv_heads + head / (heads / kv_heads)) * seq_k;
		std::vector<double> sum((size_t)v.columns, 0.0);
		double total = 0;

		for (long long key = 0; key < seq_k; key++) {
			double dot = 0, weight;

			if (causal && key > row + seq_k - seq_q)
				break;
			for (long long i = 0; i < d; i++)
				dot += q.get(at * d + i) * k.get((first + key) * d + i);
			weight = exp(dot / sqrt((double)d));
			total += weight;
			for (long long i = 0; i < v.columns; i++)
				sum[(size_t)i] += weight * v.get((first + key) * v.columns + i);
		}
		for (double x : sum)
			o.push_back(total > 0 ? x / total : 0);
	}
	return o;
}

} // namespace host

#endif
