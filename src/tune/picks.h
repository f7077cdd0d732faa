/* SPDX-License-Identifier: MIT
 *
 * What an operation's selection rules pick among the candidates of a problem, and how far from the
 * best each pick lies.
 */
#ifndef TUNE_PICKS_H
#define TUNE_PICKS_H

#include "engine/candidates.h"
#include "format/tuned_entry.h"

struct picks {
	struct search_pick *items; /* rule names are borrowed from the operation */
	size_t count, capacity;
};

/* Every rule for every family that it applies to. Shared memory and blocks per SM, as far as a rule
 * reads them, follow from the model's estimates. */
enum status picks_find(const struct candidates *pool, struct picks *picks, struct error *err);
void picks_release(struct picks *picks);

/* Whether the operation has a rule of this name. Error: STATUS_BAD_INPUT with the names that it
 * has. */
enum status picks_check_name(
	const struct operation *operation, const char *rule, struct error *err);

struct evaluated_list;
/* One pick against the best: time_us is measured (in the search, as best_us is to be) where
 * evaluated holds it, else the model's. */
struct pick_distance {
	const struct search_pick *pick;
	ptrdiff_t evaluated; /* index, or -1: it was not tried */
	double time_us;      /* infinite: it failed, or cannot run */
	double regret_ratio; /* time / best of all - 1 */
	double regret_in_family_ratio;
};
struct pick_distance pick_distance(const struct candidates *pool,
	const struct evaluated_list *evaluated, const struct search_pick *pick, double best_us);
/* entry->rules. */
void picks_describe(const struct candidates *pool, const struct evaluated_list *evaluated,
	const struct picks *picks, double best_us, struct tuned_entry *entry);

#endif
