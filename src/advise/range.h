/* SPDX-License-Identifier: MIT
 *
 * Runs one configuration over a range of sizes, which shows tile and wave quantization.
 */
#ifndef ADVISE_RANGE_H
#define ADVISE_RANGE_H

#include "tune/run.h"

struct range {
	struct tune_run *run;
	const struct problem_list *problems; /* borrowed */
	char *family, *configuration;
	const struct tuned_entry **entries; /* one per problem, of the run's file; NULL: the
					       configuration is not legal, or fails */
	size_t missing;                     /* problems without an entry */
};

/* `run` is as for advise_run(). A problem in the middle selects the best predicted configuration,
 * or what the pool's config leaves open. Fails if it works for no size. */
enum status range_run(struct range *range, struct tune_run *run,
	const struct problem_list *problems, struct error *err);
void range_release(struct range *range);

/* The score of the longest launch; NULL without an entry. */
const struct launch_score *range_score(const struct range *range, size_t problem);
/* Returns whether the number of waves changes at this size. */
bool range_is_edge(const struct range *range, size_t problem);
/* The sizes that differ: "M=1792,N=1792". The caller frees the text. */
char *range_sizes(const struct range *range, size_t problem);

/* Adds the keys of the operation's example ("advise.sweep") that the text does not name. The
 * caller frees the text. */
char *range_complete(const struct operation *operation, const char *text);

#endif
