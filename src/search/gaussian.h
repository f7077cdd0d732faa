/* SPDX-License-Identifier: MIT
 *
 * A Gaussian process over candidates. Rows, which are evaluated or pending candidates, are added
 * one by one; the process gives the mean and the variance of a candidate's value, given the
 * values of the rows.
 *
 * A row lowers the variance near it as soon as it is added, so that several pending rows spread
 * out. It changes means only when its value is known. Adding a row costs O(rows) for each
 * watched candidate.
 *
 * The covariance of two candidates is a sum of four parts. The first is shared by candidates of
 * one family. The second grows with the predicted speed, because a model may exaggerate
 * differences in speed or be useless. The third counts the parameter values that both share,
 * independently of the other parameters (additive). The fourth is a Matern function (nu 5/2) of
 * the distance between the configurations, in which each parameter has its own weight
 * ("automatic relevance determination"). The order of a parameter's values may mean little:
 * block sizes 32 and 64 may be alike, and 48 different. Therefore each distance has a part, the
 * jump, that applies to any two different values. Learning finds the weights and jumps that make
 * the known values most likely; a prior decides where little is known. Covariances have no unit:
 * a common factor, the scatter of the values, is left out.
 *
 * Sources: C. Rasmussen, C. Williams, "Gaussian Processes for Machine Learning" (2006),
 * algorithm 2.1, with the Cholesky factor extended row by row, and sections 4.2 and 5.4; D.
 * Duvenaud, H. Nickisch, C. Rasmussen, "Additive Gaussian Processes" (2011).
 */
#ifndef SEARCH_GAUSSIAN_H
#define SEARCH_GAUSSIAN_H

#include "base/random.h"
#include "search/strategy.h"

struct gaussian {
	const struct search_view *view;
	struct axis {
		float step;  /* distance between adjacent values; the two ends, or any two unordered
				values, are 1 apart */
		float share; /* this parameter's share of the additive part; 0 if the parameter has
				a single value */
		float weight; /* number of correlation lengths in a distance of 1 */
		float jump; /* minimum distance of two different values; from 1 on, the order has no
			       effect */
		/* By the difference of two values' places, from step, share, weight and jump: the
		 * parameter's parts of the squared distance and of the additive part. Owned. */
		float *squares, *alikes;
	} * axes;      /* [family * SPACE_PARAMETERS_MAX + parameter] */
	float *slopes; /* [candidate]: 1 - predicted speed / best predicted speed */

	size_t row_count, row_max;
	size_t *row_points;
	double *factor; /* lower triangle, row r at r * row_max */

	size_t pool_count, pool_max;
	size_t *pool_points;
	double *pool_rows; /* factor^-1 times the covariance with the rows; of the candidate of the
			      pool w at w * row_max */
	double *variances; /* one per watched candidate */
};

void gaussian_init(
	struct gaussian *gaussian, const struct search_view *view, size_t row_max, size_t pool_max);
void gaussian_release(struct gaussian *gaussian);

/* The covariance of two candidates, without the common factor. */
double gaussian_covariance(const struct gaussian *gaussian, size_t a, size_t b);

/* Watches a candidate. Does nothing if pool_max candidates are watched already. */
void gaussian_pool_add(struct gaussian *gaussian, size_t point);
/* Adds a row. Does nothing if there are row_max rows already. */
void gaussian_add(struct gaussian *gaussian, size_t point);
/* Computes the mean of each candidate of the acquisition pool from the rows' values; NAN marks a
 * value that is not known yet. Returns the sum of the squared deviations of the known values in
 * standard deviations. */
double gaussian_means(const struct gaussian *gaussian, const double *values, double *means);
/* Learns weights and jumps from the rows' values and recomputes all rows in O(rows^3).
 * Afterwards no candidate is watched. If there are many rows, a random sample of them is used,
 * which limits the time to some hundredths of a second. */
void gaussian_learn(struct gaussian *gaussian, const double *values, struct random_state *random);

#endif
