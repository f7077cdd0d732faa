/* SPDX-License-Identifier: MIT
 *
 * One configuration over a range of sizes: where another number of waves of tiles begins. Tile and
 * wave quantization show where all else stays as it is.
 */
#ifndef ADVISE_RANGE_H
#define ADVISE_RANGE_H

#include "tune/run.h"

struct range {
	struct tune_run *run;
	const struct problem_list *problems; /* borrowed */
	char *family, *configuration;
	const struct tuned_entry **entries; /* of the run's file, per problem; NULL: not legal,
					     * or it does not work */
	size_t missing;                     /* problems without an entry */
};

/* run: as for advise_run(). Its pool's config is completed for the problem in the middle, as
 * `explain` does it; without one the best predicted configuration there is taken. Errors: there is
 * none; it works for no size. */
enum status range_run(struct range *range, struct tune_run *run,
	const struct problem_list *problems, struct error *err);
void range_release(struct range *range);

/* The longest launch's account at a size; NULL: no entry. */
const struct launch_score *range_score(const struct range *range, size_t problem);
/* Whether another number of waves begins at this size: with the one before it, both have an entry.
 */
bool range_is_edge(const struct range *range, size_t problem);
/* The sizes that differ between problems: "M=1792,N=1792,K=1792"; caller frees. */
char *range_sizes(const struct range *range, size_t problem);

/* The text with the operation's own example ("advise.sweep") for keys that it does not name; caller
 * frees. */
char *range_complete(const struct operation *operation, const char *text);

#endif
