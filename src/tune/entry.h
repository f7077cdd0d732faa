/* SPDX-License-Identifier: MIT
 *
 * A tuned file's entry from what was evaluated.
 */
#ifndef TUNE_ENTRY_H
#define TUNE_ENTRY_H

#include "tune/session.h"

/* How the model ranked what was measured. */
struct model_quality {
	size_t measured;         /* candidates with outcome ok */
	double rank_correlation; /* Spearman, predicted against measured */
	size_t rank_of_best; /* of the measured best among the measured, by prediction; from 1 */
	double regret[4]; /* of the model's first 1, 4, 8, 16: slower than the best by this ratio */
	double shortlist_regret; /* of its shortlist of 8, one configuration per kernel */
};
extern const size_t model_quality_tops[4];

struct model_quality model_quality(
	const struct candidates *pool, const struct evaluated_list *evaluated);

/* The whole entry. winner and tied as selected; best_of_family[f]: index into evaluated, or
 * SIZE_MAX. */
enum status entry_new(const struct candidates *pool, const struct evaluated_list *evaluated,
	const struct picks *picks, size_t winner, const bool *tied, const size_t *best_of_family,
	const char *run_id, bool predicted, struct json **entry, struct error *err);

#endif
