/* SPDX-License-Identifier: MIT
 *
 * A Gaussian process that grows: what values are expected at some points, and how surely, given
 * the values known at others. Points are numbers; a covariance function compares two of them.
 *
 * Rows are points that were asked for, in order; a row counts as known (it lowers the variance of
 * its surroundings) from the moment it is added, so that several can be under way that
 * are not all alike; until its value is set it says nothing about values. Two values are known of a
 * row, of which the same covariance is assumed: what is sought, and whether it works at all. Slots
 * are points that are watched: adding a row costs O(rows) per slot. Source: C. Rasmussen, C.
 * Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1, with the Cholesky
 * factor extended row by row.
 */
#ifndef SEARCH_GAUSSIAN_H
#define SEARCH_GAUSSIAN_H

#include <stdbool.h>
#include <stddef.h>

typedef double gaussian_covariance(const void *context, size_t a, size_t b);

struct gaussian_values {
	double *of_rows;  /* NAN: under way */
	double *whitened; /* factor^-1 of_rows */
	float *means;     /* per slot, as of gaussian_update() */
};

struct gaussian {
	gaussian_covariance *covariance;
	const void *context;
	double noise; /* variance of one observation */

	size_t row_count, row_max;
	size_t *row_points;
	double *factor;                       /* lower triangle, row r at r * row_max */
	struct gaussian_values values, works; /* works: 1 or 0 */
	double works_rate;                    /* of the rows that are known */
	double *weights; /* what a row's covariance with a point adds to its mean */
	double scale;    /* by which values scatter more (or less) than the covariance says */
	bool changed;    /* since the last update */

	size_t slot_count, slot_max;
	size_t *slot_points;
	float *slot_rows; /* factor^-1 covariance with the rows, slot s at s * row_max */
	float *variances; /* per slot */
};

void gaussian_init(struct gaussian *gaussian, size_t row_max, size_t slot_max, double noise,
	gaussian_covariance *covariance, const void *context);
void gaussian_release(struct gaussian *gaussian);

/* Watches a point in a slot (slot <= slot_count; an old one is replaced). */
void gaussian_watch(struct gaussian *gaussian, size_t slot, size_t point);
/* Returns the row; row_count < row_max. */
size_t gaussian_add(struct gaussian *gaussian, size_t point);
void gaussian_set(struct gaussian *gaussian, size_t row, double value, bool works);
/* Brings scale and the means of the slots up to date. */
void gaussian_update(struct gaussian *gaussian);
/* -log of the density of the values that are known, but for a constant; updates. */
double gaussian_unlikeliness(struct gaussian *gaussian);
/* How likely the point of a slot works; after an update. */
double gaussian_chance(const struct gaussian *gaussian, size_t slot);
/* What is expected of any point, in O(rows); after an update. */
double gaussian_expect(const struct gaussian *gaussian, size_t point);
/* After the covariance function has changed its mind, or the noise: all is worked out again, in
 * O((rows + slots) rows^2). Then an update. */
void gaussian_renew(struct gaussian *gaussian);

#endif
