/* SPDX-License-Identifier: MIT
 *
 * Candidates that stand out before anything is measured: what the operation's selection rules pick,
 * the model's shortlist, the first of each family; and how far from the best they turned out to be.
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

/* ---- Model rank and measured rank side by side ---- */
/* How the model ranked what was measured. */
struct tuned_model model_quality(
	const struct candidates *pool, const struct evaluated_list *evaluated);

/* The model's shortlist among what was measured: the first SHORTLIST_COUNT kernels in the model's
 * order (search/order.h), each with the launch that is predicted to be the fastest. */
enum {
	SHORTLIST_COUNT = 8
};

struct shortlisted {
	size_t index;   /* into evaluated; SIZE_MAX: nothing worked */
	double time_us; /* median */
	double best_us; /* of all that were timed like it */
};

/* is_listed[i]: whether evaluated->items[i] is on the list. */
void shortlisted_mark(
	const struct candidates *pool, const struct evaluated_list *evaluated, bool *is_listed);
/* The one of them that was measured to be the fastest: after the re-measurement among those that
 * were in it, whose times compare with each other only. */
struct shortlisted shortlisted_fastest(
	const struct candidates *pool, const struct evaluated_list *evaluated);

/* ---- a quota of evaluations for each family: the search goes where the model and the measurements
 * point, and may leave a family with one or two candidates. These would be no fair account of what
 * the family can do, and every factor over them would be too large. ---- */
struct search;
/* The model's first kernels (search/order.h) of each family with fewer evaluations than the
 * effort's of_each_family, as many as lack; only what fits into the rest of the budget's time, by
 * prediction. The caller frees *candidates. None where there is one family, or nothing is measured.
 */
size_t family_quota_candidates(const struct search *search, size_t **candidates);

#endif
