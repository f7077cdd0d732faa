/* SPDX-License-Identifier: MIT
 *
 * Problems of --known files. An entry is reused, with its run, if the tuning was finished on this
 * GPU model with this NVRTC, and today's sources still make the winner's kernel. Winners of
 * similar problems are tried first.
 */
#ifndef TUNE_KNOWN_H
#define TUNE_KNOWN_H

#include "engine/candidates.h"
#include "engine/context.h"

/* `known` may be empty. Fails for another GPU model. */
enum status known_load(
	struct tuned *known, const char *path, const struct context *context, struct error *err);

/* Moves known problems from `problems` to `taken` and copies their entries, which must have been
 * verified as this run would verify them. */
void known_take(const struct tuned *known, const struct context *context, enum objective objective,
	uint64_t seed, struct problem_list *problems, struct problem_list *taken,
	struct tuned *tuned);

enum {
	KNOWN_NEAR_MAX = 8
};
/* Finds the winners of the most similar problems and returns their number. `known` and `also` may
 * be NULL. */
size_t known_near(const struct tuned *known, const struct tuned *also,
	const struct candidates *pool, enum objective objective, size_t candidates[KNOWN_NEAR_MAX]);

/* ---- validity of old rows ----
 * A row is valid if today's sources make the same kernel and the run did not try this kernel. */
struct row_validity {
	const struct context *context;
	const struct problem *problem;
	const struct evaluated_list *evaluated; /* may be NULL */
	const struct result *recorded;          /* results in a journal; may be NULL */
	size_t recorded_count;
};

/* The context is a struct row_validity. */
bool row_is_still_valid(const struct tuned_row *row, void *row_validity);

#endif
