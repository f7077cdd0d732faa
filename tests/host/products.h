/* SPDX-License-Identifier: MIT
 *
 * wgmma products: the operands they read, the time of reading, and where their sums are in the
 * meantime; see hopper.h.
 */
#ifndef HOST_PRODUCTS_H
#define HOST_PRODUCTS_H

#include "copies.h"

namespace host
{

/* ---- wgmma ---- */
struct product_form {
	int columns, k, element_bytes; /* an instruction's k covers 32 bytes */
	float (*value)(const void *element);
	bool a_transposed, b_transposed, a_registers;
};
struct product {
	const product_form *form;
	uint64_t a, b;
	unsigned issued; /* number of warps that have issued the product */
	float *sums[128];
	uint32_t add[128], registers[128][4];
};
struct warp_group {
	std::deque<product> products;
	size_t executed = 0;   /* number of products executed since the start */
	size_t issued[4] = {}; /* number of products that each warp has issued */
	std::vector<size_t>
		commits[4]; /* number of products that the warp had issued at each commit */
};
static std::map<unsigned, warp_group> warp_groups;

/* Returns the current thread's warp group. The block's first group begins with its first thread. */
static warp_group &own_group()
{
	const unsigned thread = current % blockDim.x;

	return warp_groups[own_block() * 64 + thread / 128];
}
static unsigned own_warp()
{
	return current % blockDim.x / 32 % 4;
}
/* Pending sums, indexed by their registers. */
struct shadow {
	std::vector<float> values;
	unsigned products;
};
static std::map<float *, shadow> shadows;

static float value_of_half(const void *at)
{
	return of_half(*(const uint16_t *)at);
}
static float value_of_bfloat(const void *at)
{
	return of_bfloat(*(const uint16_t *)at);
}
static float value_of_fp8(const void *at)
{
	return (float)of_fp8(*(const unsigned char *)at);
}

/* Returns element (row, k) of an operand in shared memory. */
static float operand_value(
	const product_form &form, uint64_t descriptor, bool transposed, int row, int k)
{
	static const unsigned spans[] = {0, 128, 64, 32};
	const unsigned span = spans[descriptor >> 62];
	const uint32_t block_bytes = (uint32_t)(descriptor >> 16 & 0x3fff) << 4;
	const uint32_t group_bytes = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
	const uint32_t start =
		address_in((uint32_t)(descriptor & 0x3fff) << 4, own_block() % cluster_blocks);
	const int across = (int)span / form.element_bytes;
	uint32_t at = start;

	if (transposed)
		at += (uint32_t)(row / across) * block_bytes + (uint32_t)(k / 8) * group_bytes +
		      (uint32_t)(k % 8) * span + (uint32_t)(row % across * form.element_bytes);
	else
		at += (uint32_t)(row / 8) * group_bytes + (uint32_t)(row % 8) * span +
		      (uint32_t)(k * form.element_bytes);
	return form.value(shared_pointer(swizzled(at, span)));
}

static void product_execute(const product &one)
{
	const product_form &form = *one.form;
	std::vector<float> a((size_t)(64 * form.k)), b((size_t)(form.columns * form.k));

	for (int k = 0; k < form.k; k++) {
		for (int row = 0; row < 64; row++) {
			/* A in registers, as for mma.sync: each holds two (16 bits) or four
			 * elements */
			const int lane = row / 16 * 32 + row % 8 * 4 +
					 k % (form.k / 2) / (4 / form.element_bytes);
			const unsigned char *word =
				(const unsigned char *)&one
					.registers[lane][row % 16 / 8 + (k >= form.k / 2 ? 2 : 0)];

			a[(size_t)(row * form.k + k)] =
				form.a_registers
					? form.value(word + k % (4 / form.element_bytes) *
								    form.element_bytes)
					: operand_value(form, one.a, form.a_transposed, row, k);
		}
		for (int column = 0; column < form.columns; column++)
			b[(size_t)(column * form.k + k)] =
				operand_value(form, one.b, form.b_transposed, column, k);
	}
	for (int thread = 0; thread < 128; thread++) {
		shadow &its = shadows.at(one.sums[thread]);

		for (int i = 0; i < form.columns / 2; i++) {
			const int row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
			const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
			double sum = one.add[thread] ? its.values[(size_t)i] : 0;

			for (int k = 0; k < form.k; k++)
				sum += (double)a[(size_t)(row * form.k + k)] *
				       b[(size_t)(column * form.k + k)];
			its.values[(size_t)i] = (float)sum;
		}
		if (--its.products == 0) {
			memcpy(one.sums[thread], its.values.data(),
				its.values.size() * sizeof(float));
			shadows.erase(one.sums[thread]);
		}
	}
}

struct product_part {
	const product_form *form;
	float *sums;
	uint64_t a, b;
	uint32_t add, registers[4];
};

static void products_issue(void **lane, uint32_t living)
{
	warp_group &group = own_group();
	const unsigned warp = own_warp();
	const size_t number = group.issued[warp]++ - group.executed;

	if (living != 0xffffffffu)
		stop("wgmma needs whole warps");
	if (number == group.products.size())
		group.products.push_back({((product_part *)lane[0])->form,
			((product_part *)lane[0])->a, ((product_part *)lane[0])->b, 0, {}, {}, {}});
	product &one = group.products.at(number);
	for (unsigned i = 0; i < 32; i++) {
		const product_part &part = *(product_part *)lane[i];
		const size_t count = (size_t)part.form->columns / 2;
		auto found = shadows.find(part.sums);

		if (part.form != one.form || part.a != one.a || part.b != one.b)
			stop("threads of a warp group multiply different operands");
		if (found == shadows.end()) {
			found = shadows.insert({part.sums, {{part.sums, part.sums + count}, 0}})
					.first;
			std::fill(part.sums, part.sums + count, NAN);
		}
		found->second.products++;
		one.sums[warp * 32 + i] = part.sums;
		one.add[warp * 32 + i] = part.add;
		memcpy(one.registers[warp * 32 + i], part.registers, sizeof(part.registers));
	}
	one.issued |= 1u << warp;
	progress++;
}

/* The sums are an array. A is a descriptor or four registers. */
template <class ADD>
static void product_begin(const product_form &form, float *sums, uint64_t a, uint64_t b, ADD add)
{
	product_part part = {&form, sums, a, b, (uint32_t)add, {}};

	warp_meet(&part, products_issue);
}
template <class ADD>
static void product_begin(const product_form &form, float *sums, uint32_t a0, uint32_t a1,
	uint32_t a2, uint32_t a3, uint64_t b, ADD add)
{
	product_part part = {&form, sums, 0, b, (uint32_t)add, {a0, a1, a2, a3}};

	warp_meet(&part, products_issue);
}

static void products_wait(size_t open)
{
	warp_group &group = own_group();

	warp_meet(nullptr, [](void **, uint32_t) {});
	const std::vector<size_t> &commits = group.commits[own_warp()];
	const size_t target = commits.size() > open ? commits[commits.size() - open - 1] : 0;

	while (group.executed < target) {
		if (group.products.front().issued != 15) {
			give_way();
			continue;
		}
		product_execute(group.products.front());
		group.products.pop_front();
		group.executed++;
		progress++;
	}
	warp_meet(nullptr, [](void **, uint32_t) {});
}

} // namespace host

#endif
