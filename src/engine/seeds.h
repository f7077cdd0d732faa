/* SPDX-License-Identifier: MIT
 *
 * Configurations worth trying on problems that are alike, and the best of them for a problem: of
 * each family the model's best for each number of tiles and share of them that is used, found once
 * on one problem. Trying these on a neighbouring problem takes milliseconds, where scoring its
 * whole space takes seconds.
 */
#ifndef ENGINE_SEEDS_H
#define ENGINE_SEEDS_H

#include "engine/candidates.h"
#include "engine/evaluator.h"

struct seed {
	const struct family *family;
	char *configuration; /* canonical text */
	bool is_winner;      /* it won a search; else the model ranks it high */
};

struct seeds {
	struct seed *items;
	size_t count, capacity;
};

/* Candidates for one problem. */
struct candidate_list {
	const struct problem *problem; /* borrowed */
	struct bound_family **bounds;  /* owned: families that apply */
	size_t bound_count;
	struct candidate *items; /* fastest first */
	size_t count, capacity;
	char *left_out; /* families that do not apply and why, one a line; NULL: none */
};

void seeds_release(struct seeds *seeds);
/* Adds one, unless it is there. */
void seeds_add(struct seeds *seeds, const struct family *family, const char *configuration,
	bool is_winner);
/* Scores the spaces of all plain families that apply to the problem and adds their best. families:
 * names to keep to, NULL or empty: all. */
enum status seeds_scan(struct seeds *seeds, const struct context *context,
	const struct problem *problem, const char *const *families, struct error *err);

/* Those seeds that are legal for this problem. A family that applies here and has no seed yet is
 * scanned on this problem first. No candidate is no error. */
enum status seeds_candidates(struct seeds *seeds, const struct context *context,
	const struct problem *problem, const char *const *families, struct candidate_list *list,
	struct error *err);
void candidate_list_release(struct candidate_list *list);

/* ---- the best for a problem ---- */
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
