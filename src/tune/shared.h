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
extern const char *const shared_goal_names[]; /* without SHARED_BITS */

struct shared_member {
	char *family, *configuration;
};

/* A loss of 0.02 is 2% slower. */
struct shared_choice {
	struct shared_member *members; /* of a class, several */
	size_t member_count;
	struct output_digest *bits; /* of a class, for the problem with the most rows */
	double *us, *best_us;       /* per problem; best_us: of all compared */
	double mean_loss, largest_loss;
	size_t compared, classes;
};

/* Without the run's journal and tuned file. Errors: those of tune_problems(), or nothing serves all
 * problems. */
enum status shared_choose(const struct tune_run *run, enum shared_goal goal,
	struct shared_choice *shared, struct error *err);
void shared_choice_release(struct shared_choice *shared);

#endif
