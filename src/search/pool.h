/* SPDX-License-Identifier: MIT
 *
 * The candidates that the guided strategy watches closely, out of a space that may be too large to
 * watch: the best by prediction (of all, of each family, with each value of each parameter), later
 * joined by what the measurements point at.
 *
 * What is known of a watched candidate: its predicted speed, corrected by a Gaussian process over
 * measured - predicted speed. Speeds are relative: to the best measured, and to the best predicted
 * times the share of it that was measured so far. A speed tells candidates near the best from each
 * other and hardly those that are far from it, which is what a search needs; a time would do the
 * reverse, and its logarithm treats both alike.
 */
#ifndef SEARCH_POOL_H
#define SEARCH_POOL_H

#include "search/gaussian.h"
#include "search/covariance.h"
#include "search/questions.h"

struct pool {
	const struct search_view *view;
	struct neighbourhood neighbourhood;
	struct covariance covariance;
	struct gaussian gaussian;
	struct questions questions;
	uint32_t *slot_of, *row_of; /* per candidate; POOL_NONE */
	double *times_us;           /* [row]: NAN: under way; infinite: failed */
	double best_us;             /* measured */
	double best_predicted_us;
	double share; /* measured / predicted speed, over all that are known */
	bool changed; /* since the last update */
};

enum {
	POOL_NONE = UINT32_MAX
};

void pool_init(struct pool *pool, const struct search_view *view);
void pool_release(struct pool *pool);

/* Watches a candidate if it is not watched yet and there is room, or a slot that was asked. */
bool pool_join(struct pool *pool, size_t candidate);
/* Looks over the rest of the space, or so much of it as is quick, and watches the `count` most
 * promising; drops the least promising where room is short. After pool_update(). */
void pool_refresh(struct pool *pool, size_t count);
/* Learns from what was told how the errors of candidates hang together. */
void pool_learn(struct pool *pool);

enum ask_result pool_ask(struct pool *pool, size_t candidate);
/* time_us infinite: it failed. Whether it was news. */
bool pool_tell(struct pool *pool, size_t candidate, double time_us);

void pool_update(struct pool *pool);
/* The watched, not yet asked candidate that promises the largest improvement of the best speed on
 * average ("expected improvement"), times the chance that it works; false if there is none. */
bool pool_best(const struct pool *pool, size_t *candidate);

#endif
