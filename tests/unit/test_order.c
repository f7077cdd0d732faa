/* SPDX-License-Identifier: MIT
 *
 * The order of candidates by prediction: the smallest keys, and a shortlist of one launch a kernel.
 */

#include "unit/unit.h"
#include "base/random.h"
#include "search/order.h"

TEST(test_order)
{
	enum {
		COUNT = 1000
	};
	double keys[COUNT];
	size_t sorted[COUNT], partly[COUNT];
	struct random_state random;

	random_seed(&random, 7);
	for (size_t i = 0; i < COUNT; i++) {
		keys[i] = (double)random_below(&random, 200); /* with ties */
		sorted[i] = partly[i] = i;
	}
	assert_int_equal(order_smallest(sorted, COUNT, keys, COUNT), COUNT);
	for (size_t i = 1; i < COUNT; i++)
		assert_true(keys[sorted[i - 1]] < keys[sorted[i]] ||
			    (keys[sorted[i - 1]] <= keys[sorted[i]] && sorted[i - 1] < sorted[i]));
	for (size_t wanted = 1; wanted < COUNT; wanted += 37) {
		assert_int_equal(order_smallest(partly, COUNT, keys, wanted), wanted);
		assert_memory_equal(partly, sorted, wanted * sizeof(size_t));
		random_shuffle(&random, partly, COUNT);
	}
	assert_int_equal(order_smallest(partly, COUNT, keys, 2 * COUNT), COUNT);
	assert_memory_equal(partly, sorted, sizeof(sorted));
	assert_int_equal(order_smallest(partly, 0, keys, 5), 0);
}

/* Three kernels of four launches each; the model's order mixes them. */
TEST(test_shortlist)
{
	static const choice configurations[12][2] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1},
		{1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 2}, {2, 3}};
	static const struct search_parameter parameters[2] = {{3, true, false}, {4, true, true}};
	static const struct search_parameter no_arguments[2] = {{3, true, false}, {4, true, false}};
	static const uint32_t of_family[12] = {0};
	const struct search_family family = {.count = 12,
		.parameter_count = 2,
		.configurations = &configurations[0][0],
		.parameters = parameters};
	struct search_family none = family;
	static const uint32_t others[12] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const struct search_family two[] = {family, family};
	struct search_view view = {
		.count = 12, .family = of_family, .family_count = 1, .families = &family};
	size_t order[] = {5, 4, 1, 7, 0, 6, 9, 2};

	assert_true(shortlist_same_kernel(&view, 0, 3));
	assert_false(shortlist_same_kernel(&view, 3, 4));
	assert_int_equal(shortlist_choose(&view, order, 8, 3), 3);
	assert_int_equal(order[0], 5);
	assert_int_equal(order[1], 1);
	assert_int_equal(order[2], 9);
	assert_int_equal(order[3], 4); /* the rest keeps its order */
	assert_int_equal(order[7], 2);
	assert_int_equal(shortlist_choose(&view, order, 8, 2), 2);
	assert_int_equal(shortlist_choose(&view, order, 8, 8), 3);
	view.families = two; /* the same values in another family are another kernel */
	view.family = others;
	assert_true(shortlist_same_kernel(&view, 0, 2));
	assert_false(shortlist_same_kernel(&view, 0, 3));
	view.family = of_family;
	none.parameters = no_arguments; /* every configuration is a kernel */
	view.families = &none;
	assert_false(shortlist_same_kernel(&view, 0, 3));
	assert_int_equal(shortlist_choose(&view, order, 8, 8), 8);
}
