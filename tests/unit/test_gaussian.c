/* layer: search */
/* SPDX-License-Identifier: MIT
 *
 * What the guided search believes: the Gaussian process, and how alike candidates are.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "search/covariance.h"
#include "search/gaussian.h"

/* ---- the Gaussian process against its textbook formula for one and two rows ---- */
static double covariance_exponential(const void *context, size_t a, size_t b)
{
	const double *scale = context;

	return *scale * exp(-fabs((double)a - (double)b) / 10);
}

/* Expected at 13 of two rows at 10 and 15. */
static double textbook(double scale, double noise, double first, double second)
{
	const double own = scale + noise, cross = scale * exp(-0.5);
	const double determinant = own * own - cross * cross;

	return (own * first - cross * second) / determinant * scale * exp(-0.3) +
	       (own * second - cross * first) / determinant * scale * exp(-0.2);
}

static void test_gaussian(void **state)
{
	const double noise = 0.01, near = 4 * exp(-0.3);
	double scale = 4;
	struct gaussian gaussian;

	(void)state;
	gaussian_init(&gaussian, 4, 3, noise, covariance_exponential, &scale);
	gaussian_watch(&gaussian, 0, 13);
	assert_true(fabs((double)gaussian.variances[0] - 4) < 1e-6);
	assert_int_equal(gaussian_add(&gaussian, 10), 0);
	/* asked for, not known: surer, but no other mean */
	gaussian_update(&gaussian);
	assert_true(fabs((double)gaussian.variances[0] - (4 - near * near / 4.01)) < 1e-5);
	assert_true(fabs((double)gaussian.values.means[0]) < 1e-9);
	gaussian_set(&gaussian, 0, 2, true);
	gaussian_update(&gaussian);
	assert_true(fabs((double)gaussian.values.means[0] - near / 4.01 * 2) < 1e-5);
	/* a second row, and a slot that joins late: the same as one that was there */
	gaussian_add(&gaussian, 15);
	gaussian_set(&gaussian, 1, -1, true);
	gaussian_watch(&gaussian, 1, 13);
	gaussian_update(&gaussian);
	assert_true(fabs((double)gaussian.values.means[0] - textbook(4, noise, 2, -1)) < 1e-4);
	assert_true(fabs((double)gaussian.values.means[0] - gaussian_expect(&gaussian, 13)) < 1e-5);
	assert_true(fabs((double)(gaussian.values.means[0] - gaussian.values.means[1])) < 1e-5);
	assert_true(fabs((double)(gaussian.variances[0] - gaussian.variances[1])) < 1e-5);
	/* all work, so does anything; then one of two fails: what is near it hardly does */
	assert_true(gaussian_chance(&gaussian, 0) >= 1);
	gaussian_set(&gaussian, 0, 2, false);
	gaussian_update(&gaussian);
	assert_true(fabs(gaussian_chance(&gaussian, 0) - 2.0 / 3 -
			    textbook(4, noise, -2.0 / 3, 1.0 / 3)) < 1e-4);
	gaussian_set(&gaussian, 0, 2, true);
	/* another covariance function, another noise: as if it had always been that */
	scale = 9;
	gaussian.noise = 1;
	gaussian_renew(&gaussian);
	gaussian_update(&gaussian);
	assert_true(fabs((double)gaussian.values.means[0] - textbook(9, 1, 2, -1)) < 1e-4);
	gaussian_release(&gaussian);
}

/* ---- what is learned of how alike candidates are: whether values count on their own, whatever the
 * others are, and how much each parameter counts ---- */
static void test_covariance_learns(void **state)
{
	enum {
		LEVELS = 6,
		COUNT = LEVELS * LEVELS * LEVELS
	};
	static choice configurations[COUNT][3];
	static const bool ordered[3] = {true, true, true};
	static double predicted[COUNT], errors[COUNT];
	static uint32_t family[COUNT];
	static size_t candidates[COUNT];
	const struct search_family families[] = {{0, COUNT, 3, configurations[0], ordered, NULL}};
	const struct search_view view = {.count = COUNT,
		.predicted_us = predicted,
		.family = family,
		.family_count = 1,
		.families = families};

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		configurations[i][0] = (choice)(i / LEVELS / LEVELS);
		configurations[i][1] = (choice)(i / LEVELS % LEVELS);
		configurations[i][2] = (choice)(i % LEVELS);
		predicted[i] = 1;
		candidates[i] = i;
	}
	for (int product = 0; product < 2; product++) {
		struct neighbourhood neighbourhood = {0};
		struct covariance covariance;
		struct random_state random;
		double own;

		/* the third parameter counts for nothing; a third is not known */
		for (size_t i = 0; i < COUNT; i++) {
			const double x = sin(1.5 * configurations[i][0] + 0.7);
			const double y = sin(1.5 * configurations[i][1] + 0.7);

			errors[i] = i % 3 == 0 ? (double)NAN : product ? x * y : x + y;
		}
		random_seed(&random, 5);
		neighbourhood_init(&neighbourhood, &view);
		covariance_init(&covariance, &neighbourhood);
		covariance_fit(&covariance, candidates, errors, COUNT, &random);
		own = covariance_between(&covariance, 0, 0);
		if (product) { /* a step along the first leads further than one along the third */
			assert_true(covariance.variances.place > covariance.variances.value);
			assert_true(own - covariance_between(&covariance, 0, LEVELS * LEVELS) >
				    2 * (own - covariance_between(&covariance, 0, 1)));
		} else
			assert_true(covariance.variances.value > 2 * covariance.variances.place);
		/* and there is hardly any noise */
		assert_true(sqrt(covariance_noise(&covariance)) < 0.1);
		covariance_release(&covariance);
		neighbourhood_release(&neighbourhood);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gaussian),
		cmocka_unit_test(test_covariance_learns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
