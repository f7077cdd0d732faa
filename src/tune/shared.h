/* SPDX-License-Identifier: MIT
 *
 * Selects one configuration, or one class of configurations with equal bits, for several
 * problems. Each problem is searched separately; then the promising configurations are timed for
 * all problems.
 */
#ifndef TUNE_SHARED_H
#define TUNE_SHARED_H

#include "tune/run.h"

enum shared_goal {
	SHARED_MEAN, /* minimise the geometric mean of the times */
	SHARED_WORST /* minimise the largest loss */
};
extern const char *const shared_goal_names[]; /* NULL-terminated */

struct shared_member {
	char *family, *configuration;
};

struct shared_choice {
	char *family, *configuration;
	/* For a class, its digests for the problem with the most rows, and its configurations,
	 * each of which is used for at least one problem. NULL for a single configuration. */
	struct output_digest *bits;
	struct shared_member *members;
	size_t member_count, classes; /* classes: number of classes that were compared */
	/* per problem of the run: its time, and the best time among all configurations that were
	 * compared */
	double *us, *best_us;
	double mean_loss, largest_loss; /* loss of the geometric mean, and of the worst problem;
					   0.02 is 2% slower */
	size_t compared;
};

/* Tunes the run's problems without using its journal and tuned file. The run's observer sees the
 * searches. Times are those of the final measurement for configurations that took part in it.
 * Errors are those of tune_problems(), and an error if no configuration serves all problems. */
enum status shared_choose(const struct tune_run *run, enum shared_goal goal,
	struct shared_choice *shared, struct error *err);
void shared_choice_release(struct shared_choice *shared);

/* ---- the timing matrix: configurations by problems (also used by tune/bits.c) ---- */
/* The times of one configuration. */
struct config_times {
	char *family, *configuration;
	double *us;                  /* one per problem; 0: not timed */
	struct output_digest **bits; /* one per problem; NULL: not known */
	double score;
	bool has_won;
};

struct timing_matrix {
	const struct tune_run *run;
	struct config_times *rows;
	size_t count, capacity;
	bool is_search; /* whether new configurations get a row, and the observer is called */
};

static const double matrix_untimed_loss =
	0.3; /* logarithm that a problem without a time counts for */

/* Tunes the run's problems on this pool and records the times. Configurations without a row get
 * one only with is_search. */
enum status matrix_run(
	struct timing_matrix *matrix, const struct candidates_options *pool, struct error *err);
/* Times all rows for all problems, one family after the other. */
enum status matrix_compare(struct timing_matrix *matrix, struct error *err);
/* Keeps the rows that won a problem and the best others, at least `least` rows in total; clears
 * all times. */
void matrix_keep(struct timing_matrix *matrix, size_t least);
/* Whether a row has these digests for a problem; `bits` NULL matches any. */
bool matrix_has_bits(
	const struct config_times *row, const struct output_digest *bits, size_t problem);
/* Returns the fastest row with these digests for a problem, or NULL if no such row was timed. */
struct config_times *matrix_best(
	const struct timing_matrix *matrix, const struct output_digest *bits, size_t problem);
double matrix_best_us(
	const struct timing_matrix *matrix, size_t problem); /* infinite if no row was timed */
/* Fills in best_us and the number of rows that were compared; allocates us with zeros. */
void matrix_choice(const struct timing_matrix *matrix, struct shared_choice *shared);
void matrix_release(struct timing_matrix *matrix);

#endif
