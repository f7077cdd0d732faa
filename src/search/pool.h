/* SPDX-License-Identifier: MIT
 *
 * The candidates that the guided strategy watches closely, out of a space that may be too large to
 * watch: the best by prediction (of all, of each family, with each value of each parameter), later
 * joined by what the measurements point at. Holds the Gaussian process over log(measured /
 * predicted) and says what time it expects of a watched candidate.
 */
#ifndef SEARCH_POOL_H
#define SEARCH_POOL_H

#include "search/gaussian.h"
#include "search/neighbours.h"

struct pool {
	const struct search_view *view;
	struct neighbourhood neighbourhood;
	struct similarity similarity;
	struct gaussian gaussian;
	size_t *order, order_count; /* by prediction, those that can run */
	uint32_t *slot_of, *row_of; /* per candidate; POOL_NONE */
	bool *asked;
	size_t asked_count;
};

enum {
	POOL_NONE = UINT32_MAX
};

void pool_init(struct pool *pool, const struct search_view *view);
void pool_release(struct pool *pool);

/* Watches a candidate if it is not watched yet and there is room, or a slot that was asked. */
bool pool_join(struct pool *pool, size_t candidate);
/* Looks over the whole space with what was learnt, and watches the `count` most promising that are
 * not watched; drops the least promising where room is short. */
void pool_refresh(struct pool *pool, size_t count);

void pool_ask(struct pool *pool, size_t candidate);
/* time_us infinite: it failed. */
void pool_tell(struct pool *pool, size_t candidate, double time_us);

/* log of the time that is expected, less `boldness` standard deviations; infinite if the candidate
 * is not watched. After pool_update(). */
double pool_expect(const struct pool *pool, size_t candidate, double boldness);
void pool_update(struct pool *pool);
/* The watched, not yet asked candidate with the smallest pool_expect(); false if there is none. */
bool pool_best(const struct pool *pool, double boldness, size_t *candidate);

#endif
