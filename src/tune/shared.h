/* SPDX-License-Identifier: MIT
 *
 * Selects one configuration, or one class with equal bits, for several problems. Each problem is
 * searched; then the promising configurations are timed for all.
 */
#ifndef TUNE_SHARED_H
#define TUNE_SHARED_H

#include "tune/run.h"

enum shared_goal {
	SHARED_MEAN,  /* smallest geometric mean of the times */
	SHARED_WORST, /* smallest loss of the worst problem */
	SHARED_BITS   /* a class of equal bits with the smallest mean */
};
extern const char *const shared_goal_names[]; /* all but SHARED_BITS */

struct shared_member {
	char *family, *configuration;
};

/* A loss of 0.02 means 2% slower. */
struct shared_choice {
	struct shared_member *members; /* a class may have several */
	size_t member_count;
	struct output_digest *bits; /* the class's digests for the problem with the most rows */
	double *us, *best_us;       /* per problem: time of the choice, and best time of all */
	double mean_loss, largest_loss;
	size_t compared, classes;
};

/* Does not use the run's journal and tuned file. Errors are those of tune_problems(), and that no
 * configuration works for all problems. */
enum status shared_choose(const struct tune_run *run, enum shared_goal goal,
	struct shared_choice *shared, struct error *err);
void shared_choice_release(struct shared_choice *shared);

#endif
