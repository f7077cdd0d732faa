/* SPDX-License-Identifier: MIT
 *
 * Effort: how much of a space is looked at, and how carefully. One row each; a new effort is a
 * new row.
 */
#ifndef TUNE_BUDGET_H
#define TUNE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct effort {
	const char *name;
	const char *summary;
	const char *strategy; /* search/strategy.h */
	size_t evaluations;   /* at most, per problem; SIZE_MAX: the whole space */
	bool is_strict; /* planned candidates count against evaluations: a user gave the number */
	size_t kept;    /* of evaluations, for neighbours of the best */
	double seconds; /* of the search at most, per problem; infinite: no limit */
	size_t of_each_family; /* at least, where several compete: tune/picks.h; 0: as it
				  comes */
	size_t stall; /* stop after this number of evaluations without a gain; SIZE_MAX: never */
	double stall_ratio;        /* what counts as a gain */
	bool measures;             /* false: the model's time is the answer */
	double give_up_ratio;      /* stop sampling a candidate this much slower than the best */
	unsigned rounds;           /* observations of the first look */
	bool remeasures_shortlist; /* all of the model's shortlist, not its fastest only */
	unsigned final_rounds;     /* of the final measurement, at most */
};

extern const struct effort efforts[];               /* ends with a NULL name */
const struct effort *effort_find(const char *name); /* NULL if unknown */

/* The number that a user gives. */
void effort_limit(struct effort *effort, size_t evaluations, bool tries_neighbours);

/* Keeps count while a problem is searched. */
struct budget {
	const struct effort *effort;
	double seconds;        /* of the whole problem */
	double search_seconds; /* of them; the rest is for measuring the best again */
	double started;        /* clock_seconds() */
	size_t evaluations;    /* where nothing is measured, only those that can run: see
				  budget_count() */
	size_t attempts;
	size_t kept; /* of the effort's evaluations, where neighbours of the best follow */
	size_t since_gain;
	double best_us; /* infinite: none yet */
};

/* seconds: for the whole problem (--budget); 0: the effort's for the search, and as much as the
 * rest takes. measures_again: the search leaves time for that. */
void budget_start(
	struct budget *budget, const struct effort *effort, double seconds, bool measures_again);
/* Of the whole, and of the search; 0 when they are over. */
double budget_left_seconds(const struct budget *budget);
double budget_search_left_seconds(const struct budget *budget);
/* How many candidates may be tried at most. */
size_t effort_attempts(const struct effort *effort);
/* Counts an evaluation; time_us is infinite if it failed. Failures do not count in an effort that
 * does not measure: the model's first choices are alike, and the compiler may refuse all of them.
 */
void budget_count(struct budget *budget, double time_us);
/* Why the search should end, or NULL. Borrowed. */
#define BUDGET_TIME_SPENT "the time budget is spent"
const char *budget_spent(const struct budget *budget);

#endif
