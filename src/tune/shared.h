/* SPDX-License-Identifier: MIT
 *
 * One configuration, or one class of configurations that give the same bits, for several problems:
 * each is searched on its own, then what may be best for all is timed for all.
 */
#ifndef TUNE_SHARED_H
#define TUNE_SHARED_H

#include "tune/session.h"

enum shared_goal {
	SHARED_MEAN, /* the best geometric mean of the times */
	SHARED_WORST /* the smallest largest loss */
};
extern const char *const shared_goal_names[]; /* NULL-terminated */

struct shared_member {
	char *family, *configuration;
};

struct shared_choice {
	char *family, *configuration;
	/* Of a class: the digests of the problem with the most rows, and its configurations; each
	 * is in it for some problem at least. NULL: a single configuration. */
	struct bits *bits;
	struct shared_member *members;
	size_t member_count, classes; /* classes: how many were compared */
	/* per problem of the session: its time, and the best one of those that were compared */
	double *us, *best_us;
	double mean_loss, largest_loss; /* of the geometric mean; of a problem: 0.02 is 2% slower */
	size_t compared;
};

/* Runs the session's problems, without its journal and tuned file; its observer hears of the
 * search. Times are those of the final measurement where they took part in it. Errors: those of
 * session_run(); no configuration serves all problems. */
enum status shared_choose(const struct session *session, enum shared_goal goal,
	struct shared_choice *shared, struct error *err);
/* As above, but a class of configurations with the best geometric mean: for each problem its
 * fastest one; on the rows that two problems have in common all give the same bits. */
enum status shared_choose_class(
	const struct session *session, struct shared_choice *shared, struct error *err);
void shared_choice_release(struct shared_choice *shared);

#endif
