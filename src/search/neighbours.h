/* SPDX-License-Identifier: MIT
 *
 * Neighbours of a candidate: legal configurations that differ in one parameter, or in two. Along a
 * parameter whose values are numbers a neighbour is the next legal value up or down; any other
 * value otherwise. Pairs matter: constraints such as `BM % WM == 0` often forbid single moves.
 */
#ifndef SEARCH_NEIGHBOURS_H
#define SEARCH_NEIGHBOURS_H

#include "search/strategy.h"

/* Levels of each family's parameters: the largest choice in use and one. */
struct neighbourhood {
	const struct search_view *view;
	choice **levels; /* [family][parameter] */
};

void neighbourhood_init(struct neighbourhood *neighbourhood, const struct search_view *view);
void neighbourhood_release(struct neighbourhood *neighbourhood);

/* Appends up to `limit` neighbours that can run to found (room for limit), fastest prediction
 * first; returns how many. No duplicates, not the candidate itself. */
size_t neighbourhood_list(
	const struct neighbourhood *neighbourhood, size_t candidate, size_t *found, size_t limit);
/* The same of those that differ in one parameter. */
size_t neighbourhood_nearest(
	const struct neighbourhood *neighbourhood, size_t candidate, size_t *found, size_t limit);

/* ---- how alike two candidates are, as a covariance: of the error that the model makes on one with
 * the error that it makes on the other (both as the logarithm of measured / predicted time).
 *
 * A sum of parts, because a model is wrong in several ways at once: everywhere by a factor; for a
 * family; more the slower a candidate is; for a value of one parameter, whatever the others are;
 * and in the neighbourhood of a configuration. ---- */
struct similarity {
	const struct search_view *view;
	/* [family][parameter][distance in choices]: covariance of one parameter's part, and factor
	 * of the neighbourhood's part */
	float ***value_part, ***place_factor;
	float *slope; /* [candidate]: log of prediction / best prediction */
};

void similarity_init(struct similarity *similarity, const struct neighbourhood *neighbourhood);
void similarity_release(struct similarity *similarity, const struct neighbourhood *neighbourhood);

double similarity_covariance(const void *similarity, size_t a, size_t b);
/* The same without the neighbourhood's part, as sums over tables: for whole spaces. For rows of
 * candidates with weights, sum over rows of weight * covariance(row, any candidate):
 *	similarity_tables() once, then similarity_sum() for each candidate. */
struct similarity_tables {
	float everywhere; /* constant, and times slope: */
	float slope;
	float *family;  /* [family] */
	float ***value; /* [family][parameter][choice] */
};
void similarity_tables_init(struct similarity_tables *tables, const struct similarity *similarity,
	const struct neighbourhood *neighbourhood, const size_t *rows, const double *weights,
	size_t row_count);
void similarity_tables_release(struct similarity_tables *tables, const struct search_view *view);
double similarity_sum(const struct similarity_tables *tables, const struct similarity *similarity,
	size_t candidate);

#endif
