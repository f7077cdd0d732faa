/* SPDX-License-Identifier: MIT
 *
 * Why digests of bits are taken on probe inputs: sums of products in another order, simulated by
 * the definition of split-K, always show in them, in ordinary numbers not.
 */
#include <string.h>

#include "unit/unit.h"
#include "format/bits.h"
#include "measure/helper_layout.h"

enum {
	SIZE = 4096, /* K and N; M is 1 */
	TRIALS = 200,
	ORDINARY_TRIALS = 8,
	COLUMNS_AT_ONCE = 64,
};

static uint64_t draw(uint64_t seed, uint64_t counter)
{
	uint64_t bits = seed * 0xd1342543de82ef95u + counter * 0x9e3779b97f4a7c15u;

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
	return bits ^ bits >> 31;
}

static float to_bf16(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Same formula as in templates/common/made.cuh. */
static float mixed(uint64_t bits)
{
	const double part = (double)(bits >> 40) / (1 << 24) / (1 << (bits >> 6 & 7));
	const double value = bits % 64 == 0 ? 32768 : part;

	return to_bf16((float)(bits & 512 ? -value : value));
}

static float uniform(uint64_t bits)
{
	return to_bf16((float)((double)(bits >> 40) / (1 << 23) - 1));
}

static float sum_in_parts(const float *a, const float *b, int parts)
{
	float total = 0;

	for (int part = 0; part < parts; part++) {
		float sum = 0;

		for (int k = SIZE / parts * part; k < SIZE / parts * (part + 1); k++)
			sum += a[k] * b[k];
		total += sum;
	}
	return to_bf16(total);
}

/* Returns whether any output of one row differs between `parts` and twice as many parts. With
 * `made` the second input is a probe input and the first holds ones. */
static bool shows(bool made, uint64_t seed, int parts)
{
	static float a[SIZE], b[SIZE];
	bool differs = false;

	for (uint64_t k = 0; k < SIZE; k++)
		a[k] = made ? 1 : uniform(draw(seed, k));
	for (uint64_t n = 0; n < SIZE && !differs; n++) {
		for (uint64_t k = 0; k < SIZE; k++) {
			const uint64_t bits = draw(~seed, n * SIZE + k);

			b[k] = made ? mixed(bits) : uniform(bits);
		}
		differs = sum_in_parts(a, b, parts) != sum_in_parts(a, b, 2 * parts);
	}
	return differs;
}

TEST(made_inputs_tell_orders_apart)
{
	int ordinary = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++)
		for (int parts = 1; parts <= 4; parts *= 2)
			assert_true(shows(true, seed, parts));
	for (uint64_t seed = 1; seed <= ORDINARY_TRIALS; seed++)
		ordinary += shows(false, seed, 1);
	assert_true(ordinary < ORDINARY_TRIALS); /* many ordinary inputs hide the difference */
}
