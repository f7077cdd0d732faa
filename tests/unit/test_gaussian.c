/* SPDX-License-Identifier: MIT
 *
 * The Gaussian process of the guided search, and the similarity of candidates.
 */
#include <math.h>

#include "unit/unit.h"
#include "search/gaussian.h"

enum {
	LEVELS = 6,
	COUNT = LEVELS * LEVELS * LEVELS
};

/* Three parameters with equal numbers of values, without predictions. */
struct cube {
	choice configurations[COUNT][3];
	double predicted_us[COUNT], values[COUNT];
	uint32_t family[COUNT];
	struct search_family of;
	struct search_view view;
};
static const struct search_parameter parameters[3] = {
	{LEVELS, true, false}, {LEVELS, true, false}, {LEVELS, true, false}};

static void cube_init(struct cube *cube)
{
	*cube = (struct cube){.of = {0, COUNT, 3, cube->configurations[0], parameters}};
	cube->view = (struct search_view){.count = COUNT,
		.predicted_us = cube->predicted_us,
		.family = cube->family,
		.family_count = 1,
		.families = &cube->of};
	for (size_t i = 0; i < COUNT; i++) {
		cube->configurations[i][0] = (choice)(i / LEVELS / LEVELS);
		cube->configurations[i][1] = (choice)(i / LEVELS % LEVELS);
		cube->configurations[i][2] = (choice)(i % LEVELS);
		cube->predicted_us[i] = 1;
	}
}

/* ---- learned similarity of candidates: the weight of each parameter ---- */
TEST(the_weight_of_each_parameter_is_learned)
{
	static struct cube cube;
	struct gaussian gaussian;
	struct random_state random;
	double own, off = 0;

	cube_init(&cube);
	gaussian_init(&gaussian, &cube.view, COUNT, 1);
	own = gaussian_covariance(&gaussian, 0, 0);
	assert_true(fabs(gaussian_covariance(&gaussian, 0, LEVELS * LEVELS) -
			    gaussian_covariance(&gaussian, 0, 1)) < 1e-7);
	for (size_t i = 0; i < COUNT; i++) {
		const choice *x = cube.configurations[i];

		gaussian_add(&gaussian, i);
		/* the third parameter has no effect, and a third of the values is unknown */
		cube.values[i] =
			i % 3 == 0 ? (double)NAN : sin(1.5 * x[0] + 0.7) * sin(1.5 * x[1] + 0.7);
	}
	gaussian_pool_add(&gaussian, 0);
	random_seed(&random, 5);
	for (int time = 0; time < 3; time++)
		gaussian_learn(&gaussian, cube.values, &random);
	assert_int_equal(gaussian.row_count, COUNT);
	assert_int_equal(gaussian.pool_count, 0);
	/* a step in the first parameter changes more than one in the third */
	assert_true(own - gaussian_covariance(&gaussian, 0, LEVELS * LEVELS) >
		    2 * (own - gaussian_covariance(&gaussian, 0, 1)));
	/* the unknown values are predicted */
	for (size_t i = 0; i < COUNT; i += 3) {
		const choice *x = cube.configurations[i];
		double mean;

		gaussian.pool_count = 0;
		gaussian_pool_add(&gaussian, i);
		gaussian_means(&gaussian, cube.values, &mean);
		off += pow(mean - sin(1.5 * x[0] + 0.7) * sin(1.5 * x[1] + 0.7), 2) * 3 / COUNT;
	}
	assert_true(off < 0.05);
	gaussian_release(&gaussian);
}

/* ---- learned order of a parameter's values ---- */
TEST(the_order_of_values_is_learned)
{
	static struct cube cube;
	struct gaussian gaussian;
	struct random_state random;

	cube_init(&cube);
	gaussian_init(&gaussian, &cube.view, COUNT, 1);
	for (size_t i = 0; i < COUNT; i++) {
		const choice *x = cube.configurations[i];

		gaussian_add(&gaussian, i);
		cube.values[i] = (x[0] % 2 ? 1 : -1) * sin(0.7 * x[1]);
	}
	random_seed(&random, 5);
	for (int time = 0; time < 3; time++)
		gaussian_learn(&gaussian, cube.values, &random);
	assert_true(gaussian.axes[0].jump > 2 * gaussian.axes[1].jump);
	gaussian_release(&gaussian);
}
