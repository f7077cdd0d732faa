/* SPDX-License-Identifier: MIT
 *
 * Runs one configuration over a range of sizes and finds where the number of waves of tiles
 * changes. With all else constant, this shows tile and wave quantization.
 */
#ifndef ADVISE_RANGE_H
#define ADVISE_RANGE_H

#include "tune/run.h"

struct range {
	struct tune_run *run;
	const struct problem_list *problems; /* borrowed */
	char *family, *configuration;
	const struct tuned_entry **entries; /* entries of the run's file, one per problem; NULL: the
					       configuration is not legal, or fails */
	size_t missing;                     /* problems without an entry */
};

/* Runs the range. `run` is set up as for advise_run(). The pool's config is completed for a
 * problem in the middle, as `explain` does; without a config the best predicted configuration
 * there is used. Fails if there is no configuration, or if it works for no size. */
enum status range_run(struct range *range, struct tune_run *run,
	const struct problem_list *problems, struct error *err);
void range_release(struct range *range);

/* The score of the longest launch at a size; NULL if there is no entry. */
const struct launch_score *range_score(const struct range *range, size_t problem);
/* Whether the number of waves differs from that of the previous size. Both sizes must have an
 * entry. */
bool range_is_edge(const struct range *range, size_t problem);
/* The sizes that differ between problems, like "M=1792,N=1792,K=1792". The caller frees the
 * text. */
char *range_sizes(const struct range *range, size_t problem);

/* Completes a problem's text: keys that it does not name get the values of the operation's
 * example ("advise.sweep"). The caller frees the text. */
char *range_complete(const struct operation *operation, const char *text);

#endif
