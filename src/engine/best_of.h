/* SPDX-License-Identifier: MIT
 *
 * What a problem is worth: its fastest candidate among a few candidates, compiled, and on a
 * GPU measured, side by side with those of other problems.
 */
#ifndef ENGINE_BEST_OF_H
#define ENGINE_BEST_OF_H

#include "engine/evaluator.h"
#include "engine/seeds.h"

struct refusal;

struct best_of {
	const struct problem *problem; /* borrowed */
	struct candidate_list candidates;
	size_t next; /* of the candidates: the first that was not tried */
	size_t tried;
	struct refusal *refusals; /* what did not compile well; inside settling */
	size_t refusal_count, refusal_capacity;
	const struct trial *best; /* borrowed from the evaluator; NULL: nothing worked */
	double time_us;           /* of best; infinite: none */
};

/* Finds the best of each. On a device that predicts, candidates are compiled in their order
 * until what is left cannot be better; on one that measures, the first few of each and all that won
 * a search are timed, all problems interleaved. */
enum status bests_settle(
	struct evaluator *evaluator, struct best_of **bests, size_t count, struct error *err);

#endif
