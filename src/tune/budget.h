/* SPDX-License-Identifier: MIT
 *
 * An effort says how much of a space is tried and how carefully it is measured. Each effort is one
 * row of a table.
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
	size_t kept;    /* evaluations that are reserved for neighbours of the best */
	double seconds; /* limit of the search, per problem; infinite: no limit */
	/* Evaluations of each family, at least, if several families compete (tune/shortlist.h). */
	size_t of_each_family;
	size_t stall; /* stop after this number of evaluations without a gain; SIZE_MAX: never */
	double stall_ratio;        /* what counts as a gain */
	bool measures;             /* false: the model's time is the answer */
	double give_up_ratio;      /* stop sampling a candidate this much slower than the best */
	unsigned rounds;           /* sample batches of the first look at a candidate */
	bool remeasures_shortlist; /* the final measurement has all of the model's shortlist, not
				    * its fastest candidate only */
	unsigned final_rounds;     /* limit of the final measurement */
};

extern const struct effort efforts[];               /* ends with a NULL name */
const struct effort *effort_find(const char *name); /* NULL if unknown */

/* Sets the number of evaluations that a user gives. */
void effort_limit(struct effort *effort, size_t evaluations, bool tries_neighbours);

struct budget {
	const struct effort *effort;
	double seconds;        /* of the whole problem */
	double search_seconds; /* of these for the search; the rest is for the final measurement */
	double started;        /* clock_seconds() */
	size_t evaluations;    /* if nothing is measured, only of candidates that can run:
				* budget_count() */
	size_t attempts;
	size_t kept; /* evaluations of the effort that are reserved for neighbours of the best */
	size_t since_gain;
	double best_us; /* infinite: none yet */
};

/* seconds: for the whole problem (--budget); 0: the effort's time for the search, plus the time of
 * the final measurement. measures_again: the search leaves time for the final measurement. */
void budget_start(
	struct budget *budget, const struct effort *effort, double seconds, bool measures_again);
/* The time that is left for the whole problem, and for its search; at least 0. */
double budget_left_seconds(const struct budget *budget);
double budget_search_left_seconds(const struct budget *budget);
/* The largest number of candidates that may be tried. */
size_t effort_attempts(const struct effort *effort);
/* Counts an evaluation; time_us is infinite if it failed. Failures do not count in an effort that
 * does not measure: the model's first choices are alike, and the compiler may refuse all of them.
 */
void budget_count(struct budget *budget, double time_us);
/* Why the search should end, or NULL. Borrowed. */
#define BUDGET_TIME_SPENT "the time budget is spent"
const char *budget_spent(const struct budget *budget);

#endif
