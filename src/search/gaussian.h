/* SPDX-License-Identifier: MIT
 *
 * A Gaussian process over candidates. Rows are evaluated or pending candidates; the pool holds the
 * candidates to predict. A new row lowers the variance near it at once. Until its value is known,
 * it has the mean that earlier rows predict ("kriging believer": D. Ginsbourger et al., 2010), so
 * adding a row changes no mean.
 *
 * The covariance, without a common factor, is a sum of parts for the same family, predicted speed,
 * equal parameter values, and distance (Matern, nu 5/2).
 *
 * Sources: C. Rasmussen, C. Williams, "Gaussian Processes for Machine Learning" (2006), algorithm
 * 2.1, with the factor extended row by row, and sections 4.2 and 5.4; D. Duvenaud, H. Nickisch, C.
 * Rasmussen, "Additive Gaussian Processes" (2011).
 */
#ifndef SEARCH_GAUSSIAN_H
#define SEARCH_GAUSSIAN_H

#include "base/random.h"
#include "search/strategy.h"

struct gaussian {
	const struct search_view *view;
	struct axis {
		float step;  /* distance of adjacent values; 1 if unordered */
		float share; /* share of the additive part */
		float weight;
		float jump; /* smallest distance of different values; from 1 on, order has no effect
			     */
		/* squared distance and additive part, by difference of choices; owned */
		float *squares, *alikes;
	} * axes;      /* [family * SPACE_PARAMETERS_MAX + parameter] */
	float *slopes; /* 1 - predicted speed / best predicted speed */

	size_t row_count, row_max;
	size_t *row_points;
	double *factor; /* lower triangular matrix, whose row r begins at r * row_max */

	size_t pool_count, pool_max;
	size_t *pool_points;
	double *pool_rows; /* factor^-1 times the covariances of a member with the rows, at member *
			      row_max */
	double *variances;
};

void gaussian_init(
	struct gaussian *gaussian, const struct search_view *view, size_t row_max, size_t pool_max);
void gaussian_release(struct gaussian *gaussian);

double gaussian_covariance(const struct gaussian *gaussian, size_t a, size_t b);

/* Does nothing if the pool is full. */
void gaussian_pool_add(struct gaussian *gaussian, size_t point);
/* Does nothing if there are row_max rows. */
void gaussian_add(struct gaussian *gaussian, size_t point);
/* Computes the means of the pool from the rows' values, which are NAN if unknown. Returns the sum
 * of the squared standardised deviations. */
double gaussian_means(const struct gaussian *gaussian, const double *values, double *means);
/* Fits weights and jumps to the values of the rows, or of a sample of the rows. Empties the
 * pool. */
void gaussian_learn(struct gaussian *gaussian, const double *values, struct random_state *random);

#endif
