/* SPDX-License-Identifier: MIT
 *
 * One configuration, or one class of configurations that give the same bits, for several problems:
 * each is searched on its own, then what may be best for all is timed for all.
 */
#ifndef TUNE_SHARED_H
#define TUNE_SHARED_H

#include "tune/run.h"

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
	/* per problem of the run: its time, and the best one of those that were compared */
	double *us, *best_us;
	double mean_loss, largest_loss; /* of the geometric mean; of a problem: 0.02 is 2% slower */
	size_t compared;
};

/* Tunes the run's problems, without its journal and tuned file; its observer hears of the
 * search. Times are those of the final measurement where they took part in it. Errors: those of
 * tune_problems(); no configuration serves all problems. */
enum status shared_choose(const struct tune_run *run, enum shared_goal goal,
	struct shared_choice *shared, struct error *err);
void shared_choice_release(struct shared_choice *shared);

/* ---- what was timed of the run's problems (also tune/bits.c) ---- */
/* The times of one configuration. */
struct config_times {
	char *family, *configuration;
	double *us;         /* per problem; 0: none */
	struct bits **bits; /* per problem; NULL: not known */
	double score;
	bool has_won;
};

struct timing_matrix {
	const struct tune_run *run;
	struct config_times *rows;
	size_t count, capacity;
	bool is_search; /* new rows are taken, the observer is told */
};

static const double matrix_untimed_loss =
	0.3; /* logarithm that a problem without a time counts for */

/* Tunes the run's problems on this pool and adds to the rows; without is_search only to those
 * that exist. */
enum status matrix_run(
	struct timing_matrix *matrix, const struct candidates_options *pool, struct error *err);
/* Times all rows for all problems, family by family. */
enum status matrix_compare(struct timing_matrix *matrix, struct error *err);
/* Leaves the rows that have won and the best others, `least` rows at least; forgets times. */
void matrix_keep(struct timing_matrix *matrix, size_t least);
/* A row with these bits (NULL: any) for a problem. */
bool matrix_has_bits(const struct config_times *row, const struct bits *bits, size_t problem);
/* The fastest of those; NULL: none. */
struct config_times *matrix_best(
	const struct timing_matrix *matrix, const struct bits *bits, size_t problem);
double matrix_best_us(const struct timing_matrix *matrix, size_t problem); /* infinite: none */
/* Fills in best_us and how many were compared; us is zeroed. */
void matrix_choice(const struct timing_matrix *matrix, struct shared_choice *shared);
void matrix_release(struct timing_matrix *matrix);

#endif
