/* SPDX-License-Identifier: MIT
 *
 * Problems that this or another machine tuned before, from files named with --known. An entry is
 * reused, with its run, if the tuning was finished on this GPU model with this NVRTC, and
 * today's sources still make the winner's kernel. Winners of similar problems are among the
 * first candidates of a search.
 */
#ifndef TUNE_KNOWN_H
#define TUNE_KNOWN_H

#include "engine/candidates.h"
#include "engine/context.h"
#include "format/tuned.h"

/* Merges a file into `known`, which is empty before the first file. Fails if it is not a tuned
 * file, or if it is for another GPU model. */
enum status known_load(
	struct tuned *known, const char *path, const struct context *context, struct error *err);

/* Copies entries of known problems to `tuned`, and moves these problems from `problems` to
 * `taken`. Measured entries are known only if they were verified as this run would verify them. */
void known_take(const struct tuned *known, const struct context *context, enum objective objective,
	uint64_t seed, struct problem_list *problems, struct problem_list *taken,
	struct tuned *tuned);

enum {
	KNOWN_NEAR_MAX = 8
};
/* Finds the winners of the most similar problems among the candidates of this problem; returns
 * their number. `known` and `also` may be NULL. */
size_t known_near(const struct tuned *known, const struct tuned *also,
	const struct candidates *pool, enum objective objective, size_t candidates[KNOWN_NEAR_MAX]);

/* ---- validity of old rows. After a run over its family did not select it, a row of the tuned
 * file is still valid if today's sources make the same kernel, and if the run did not try it,
 * because that result would be newer ---- */
/* The trials of this run for the row's problem; the context of row_is_still_valid(). */
struct row_validity {
	const struct context *context;
	const struct problem *problem;
	const struct evaluated_list *evaluated; /* may be NULL */
	const struct result *recorded;          /* results in a journal; may be NULL */
	size_t recorded_count;
};

/* The callback for struct tuned_judge. */
bool row_is_still_valid(const struct tuned_row *row, void *row_validity);

#endif
