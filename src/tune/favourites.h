/* SPDX-License-Identifier: MIT
 *
 * Configurations worth trying on problems that are alike: of each family the model's best for each
 * number of tiles and share of them that is used, found once on one problem. Trying these on a
 * neighbouring problem takes milliseconds, where scoring its whole space takes seconds.
 */
#ifndef TUNE_FAVOURITES_H
#define TUNE_FAVOURITES_H

#include "tune/candidates.h"
#include "tune/workbench.h"

struct favourite {
	const struct family *family;
	char *configuration; /* canonical text */
	bool is_winner;      /* it won a search, not only the model's favour */
};

struct favourites {
	struct favourite *items;
	size_t count, capacity;
};

/* One candidate for a problem. */
struct prospect {
	size_t bound; /* index into prospects.bounds */
	choice choices[SPACE_PARAMETERS_MAX];
	double predicted_us;        /* registers are estimated */
	double units, useful_ratio; /* of the longest launch */
	int regs_per_thread;        /* estimated, of the longest launch */
	bool is_winner;
};

struct prospects {
	const struct problem *problem; /* borrowed */
	struct bound_family **bounds;  /* owned: families that apply */
	size_t bound_count;
	struct prospect *items; /* fastest first */
	size_t count, capacity;
	char *left_out; /* families that do not apply and why, one a line; NULL: none */
};

void favourites_release(struct favourites *favourites);
/* Adds one, unless it is there. */
void favourites_add(struct favourites *favourites, const struct family *family,
	const char *configuration, bool is_winner);
/* Scores the spaces of all plain families that apply to the problem and adds their best. families:
 * names to keep to, NULL or empty: all. */
enum status favourites_scan(struct favourites *favourites, const struct workbench *bench,
	const struct problem *problem, const char *const *families, struct error *err);

/* Those favourites that are legal for this problem. A family that applies here and has no
 * favourite yet is scanned on this problem first. No prospect is no error. */
enum status prospects_find(struct favourites *favourites, const struct workbench *bench,
	const struct problem *problem, const char *const *families, struct prospects *prospects,
	struct error *err);
void prospects_release(struct prospects *prospects);

/* Scores one candidate: time and units of the longest launch. */
enum status prospect_score(
	const struct bound_family *bound, struct prospect *prospect, struct error *err);

#endif
