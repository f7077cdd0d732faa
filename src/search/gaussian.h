/* SPDX-License-Identifier: MIT
 *
 * A Gaussian process over candidates, to which rows are added one by one: it gives the mean and the
 * variance of a candidate's value, given the known values of others.
 *
 * Rows are candidates that were asked for, in order; a row lowers the variance of its surroundings
 * from the moment it is added, so that several pending rows differ from each other; until its value
 * is known it does not change means. Adding a row costs O(rows) for each
 * candidate that is watched.
 *
 * How alike two candidates are is a sum of parts: one of each family; one that grows with the
 * prediction (a model may spread speeds too much, or mean nothing); one of the values that they
 * share, independent of the other parameters (additive); and one of the configuration, a Matern
 * function (nu 5/2) of the distance between two, in which each parameter has a weight of its own
 * ("automatic relevance determination"). The order of a parameter's values may mean little: of
 * block sizes 32, 48 and 64 the first and the last may be alike. So a part of each distance, the
 * jump, is between any two values, as if they had no order. Weights and jumps are those under which
 * the values known so far are most likely, with a prior that holds where little is known; all is
 * but for a factor, by which values scatter.
 *
 * Sources: C. Rasmussen, C. Williams, "Gaussian Processes for Machine Learning" (2006), algorithm
 * 2.1, with the Cholesky factor extended row by row, and sections 4.2 and 5.4; D. Duvenaud, H.
 * Nickisch, C. Rasmussen, "Additive Gaussian Processes" (2011).
 */
#ifndef SEARCH_GAUSSIAN_H
#define SEARCH_GAUSSIAN_H

#include "base/random.h"
#include "search/strategy.h"

struct gaussian {
	const struct search_view *view;
	struct axis {
		float step; /* between two values; ends, or any two without an order, are 1 apart */
		float share;  /* of the part of values; 0: it has one value */
		float weight; /* lengths of correlation in a distance of 1 */
		float jump;   /* least distance of two values; 1 or more: the order means nothing */
	} * axes;             /* [family * SPACE_PARAMETERS_MAX + parameter] */
	float *slopes;        /* [candidate]: 1 - predicted speed / best predicted speed */

	size_t row_count, row_max;
	size_t *row_points;
	double *factor; /* lower triangle, row r at r * row_max */

	size_t watched_count, watched_max;
	size_t *watched_points;
	double *watched_rows; /* factor^-1 covariance with the rows, of watched w at w * row_max */
	double *variances;    /* [watched] */
};

void gaussian_init(struct gaussian *gaussian, const struct search_view *view, size_t row_max,
	size_t watched_max);
void gaussian_release(struct gaussian *gaussian);

/* How alike two candidates are. */
double gaussian_covariance(const struct gaussian *gaussian, size_t a, size_t b);

/* Watches a candidate if there is room for one more. */
void gaussian_watch(struct gaussian *gaussian, size_t point);
/* Adds a row, if there is room. */
void gaussian_add(struct gaussian *gaussian, size_t point);
/* What is expected of each watched candidate, given values of the rows (NAN: not known); returns
 * the sum of the squares of what they are off, in standard deviations. */
double gaussian_means(const struct gaussian *gaussian, const double *values, double *means);
/* Learns weights and jumps from values of the rows and works all rows out again, in O(rows^3); none
 * is watched any more. Of many rows only some, drawn at random, are learned from, so that it costs
 * some hundredths of a second at most. */
void gaussian_learn(struct gaussian *gaussian, const double *values, struct random_state *random);

#endif
