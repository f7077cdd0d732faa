/* SPDX-License-Identifier: MIT
 *
 * What the guided search believes: the Gaussian process, and how alike candidates are.
 */
#include <math.h>

#include "unit/unit.h"
#include "search/gaussian.h"

enum {
	LEVELS = 6,
	COUNT = LEVELS * LEVELS * LEVELS
};

/* Three parameters of as many values, nothing predicted. */
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

/* ---- the process against its textbook formula for one and two rows ---- */
enum {
	FIRST = 10,
	SECOND = 88,
	WATCHED = 16,
};

static double between(const struct gaussian *gaussian, size_t a, size_t b)
{
	return gaussian_covariance(gaussian, a, b);
}

TEST(test_gaussian)
{
	static struct cube cube;
	struct gaussian gaussian;
	double values[3] = {NAN, NAN, NAN}, means[2], own, cross, near, far, determinant, sum;

	cube_init(&cube);
	gaussian_init(&gaussian, &cube.view, 2, 2);
	near = between(&gaussian, WATCHED, FIRST);
	far = between(&gaussian, WATCHED, SECOND);
	cross = between(&gaussian, FIRST, SECOND);
	own = between(&gaussian, FIRST, FIRST);
	assert_true(own > near && near > far && far > cross && cross > 0);
	gaussian_watch(&gaussian, WATCHED);
	assert_true(fabs(gaussian.variances[0] - own) < 1e-12);
	gaussian_add(&gaussian, FIRST);
	/* what is left of a row's own variance is the noise */
	own = pow(gaussian.factor[0], 2);
	assert_true(own - between(&gaussian, FIRST, FIRST) > 1e-5);
	/* asked for, not known: surer, but no other mean */
	assert_true(gaussian_means(&gaussian, values, means) <= 0);
	assert_true(fabs(gaussian.variances[0] - (own - near * near / own)) < 1e-3);
	assert_true(fabs(means[0]) < 1e-12);
	values[0] = 2;
	assert_true(fabs(gaussian_means(&gaussian, values, means) - 4 / own) < 1e-9);
	assert_true(fabs(means[0] - near / own * 2) < 1e-12);
	/* a second row, and a candidate that is watched later: the same as one that was there */
	gaussian_add(&gaussian, SECOND);
	values[1] = -1;
	gaussian_watch(&gaussian, WATCHED);
	determinant = own * own - cross * cross;
	sum = gaussian_means(&gaussian, values, means);
	assert_true(fabs(sum - (4 * own + own + 4 * cross) / determinant) < 1e-9);
	assert_true(fabs(means[0] - ((own * 2 + cross) * near + (-own - cross * 2) * far) /
					    determinant) < 1e-9);
	assert_true(fabs(means[0] - means[1]) < 1e-12);
	assert_true(fabs(gaussian.variances[0] - gaussian.variances[1]) < 1e-12);
	/* there is no more room */
	gaussian_add(&gaussian, 0);
	gaussian_watch(&gaussian, 0);
	assert_int_equal(gaussian.row_count, 2);
	assert_int_equal(gaussian.watched_count, 2);
	gaussian_release(&gaussian);
}

/* ---- what is learned of how alike candidates are: how much each parameter counts ---- */
TEST(test_learns)
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
		/* the third parameter counts for nothing; a third is not known */
		cube.values[i] =
			i % 3 == 0 ? (double)NAN : sin(1.5 * x[0] + 0.7) * sin(1.5 * x[1] + 0.7);
	}
	gaussian_watch(&gaussian, 0);
	random_seed(&random, 5);
	for (int time = 0; time < 3; time++)
		gaussian_learn(&gaussian, cube.values, &random);
	assert_int_equal(gaussian.row_count, COUNT);
	assert_int_equal(gaussian.watched_count, 0);
	/* a step along the first leads further than one along the third */
	assert_true(own - gaussian_covariance(&gaussian, 0, LEVELS * LEVELS) >
		    2 * (own - gaussian_covariance(&gaussian, 0, 1)));
	/* and what was not known is expected */
	for (size_t i = 0; i < COUNT; i += 3) {
		const choice *x = cube.configurations[i];
		double mean;

		gaussian.watched_count = 0;
		gaussian_watch(&gaussian, i);
		gaussian_means(&gaussian, cube.values, &mean);
		off += pow(mean - sin(1.5 * x[0] + 0.7) * sin(1.5 * x[1] + 0.7), 2) * 3 / COUNT;
	}
	assert_true(off < 0.05);
	gaussian_release(&gaussian);
}

/* ---- and whether the order of a parameter's values means anything ---- */
TEST(test_learns_order)
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
