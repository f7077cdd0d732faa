/* SPDX-License-Identifier: MIT
 *
 * Configurations worth trying on problems that are alike: of each family the model's best for each
 * number of tiles and share of them that is used, found once on one problem. Trying these on a
 * neighbouring problem takes milliseconds, where scoring its whole space takes seconds.
 */
#ifndef ENGINE_SEEDS_H
#define ENGINE_SEEDS_H

#include "engine/candidates.h"
#include "engine/context.h"

struct seed {
	const struct family *family;
	char *configuration; /* canonical text */
	bool is_winner;      /* it won a search, not only the model's favour */
};

struct seeds {
	struct seed *items;
	size_t count, capacity;
};

/* One candidate for a problem. */
struct scored_candidate {
	size_t bound; /* index into scored_candidates.bounds */
	choice choices[SPACE_PARAMETERS_MAX];
	double predicted_us;        /* registers are estimated */
	double units, useful_ratio; /* of the longest launch */
	int regs_per_thread;        /* estimated, of the longest launch */
	bool is_winner;
};

struct scored_candidates {
	const struct problem *problem; /* borrowed */
	struct bound_family **bounds;  /* owned: families that apply */
	size_t bound_count;
	struct scored_candidate *items; /* fastest first */
	size_t count, capacity;
	char *left_out; /* families that do not apply and why, one a line; NULL: none */
};

void seeds_release(struct seeds *seeds);
/* Adds one, unless it is there. */
void seeds_add(struct seeds *seeds, const struct family *family, const char *configuration,
	bool is_winner);
/* Scores the spaces of all plain families that apply to the problem and adds their best. families:
 * names to keep to, NULL or empty: all. */
enum status seeds_scan(struct seeds *seeds, const struct context *bench,
	const struct problem *problem, const char *const *families, struct error *err);

/* Those seeds that are legal for this problem. A family that applies here and has no
 * seed yet is scanned on this problem first. No scored_candidate is no error. */
enum status scored_candidates_find(struct seeds *seeds, const struct context *bench,
	const struct problem *problem, const char *const *families,
	struct scored_candidates *scored_candidates, struct error *err);
void scored_candidates_release(struct scored_candidates *scored_candidates);

/* Scores one candidate: time and units of the longest launch. */
enum status scored_candidate_score(
	struct predictor *predictor, struct scored_candidate *scored_candidate, struct error *err);

#endif
