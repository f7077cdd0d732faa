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
	size_t evaluations;   /* maximum per problem; SIZE_MAX: the whole space */
	bool is_strict;       /* planned candidates count, too, because the number is the user's */
	size_t kept;          /* evaluations that are reserved for neighbours of the best */
	double seconds;       /* limit of the search, per problem; infinite: no limit */
	/* Minimum number of evaluations of each family if several families compete
	 * (tune/shortlist.h). */
	size_t of_each_family;
	size_t stall; /* stop after this number of evaluations without a gain; SIZE_MAX: never */
	double stall_ratio;        /* smallest reduction of the time that counts as a gain */
	bool measures;             /* false: the model's time is the answer */
	double give_up_ratio;      /* stop sampling a candidate this much slower than the best */
	unsigned rounds;           /* sample batches of the first look at a candidate */
	bool remeasures_shortlist; /* the final measurement includes the model's whole shortlist,
				      not only its fastest candidate */
	unsigned final_rounds;     /* limit of the final measurement */
};

extern const struct effort efforts[];               /* ends with a NULL name */
const struct effort *effort_find(const char *name); /* NULL if unknown */

/* Sets the number of evaluations to the user's. */
void effort_limit(struct effort *effort, size_t evaluations, bool tries_neighbours);

/* Adapts an effort to a device that predicts: only kernels that the model prefers are compiled, and
 * their number rather than the time ends the search, so that two runs agree. */
void effort_predict(struct effort *effort);

struct budget {
	const struct effort *effort;
	double seconds;        /* time for the whole problem */
	double search_seconds; /* the part for the search; the rest is for the final measurement */
	double started;        /* clock_seconds() */
	size_t evaluations;    /* if nothing is measured, only candidates that can run count; see
				  budget_count() */
	size_t attempts;
	size_t kept; /* evaluations of the effort that are reserved for neighbours of the best */
	size_t since_gain;
	double best_us; /* infinite until a candidate works */
};

/* Starts the clock. `seconds` is the time for the whole problem (--budget). 0 selects the
 * effort's time for the search plus the time of the final measurement. With measures_again the
 * search leaves time for the final measurement. */
void budget_start(
	struct budget *budget, const struct effort *effort, double seconds, bool measures_again);
/* The time that is left for the whole problem, and for its search; at least 0. */
double budget_left_seconds(const struct budget *budget);
double budget_search_left_seconds(const struct budget *budget);
/* The largest number of candidates that may be tried. */
size_t effort_attempts(const struct effort *effort);
/* Counts an evaluation; time_us is infinite if it failed. If the effort does not measure,
 * failures do not count, because the model's first choices are similar and the compiler may
 * reject all of them. */
void budget_count(struct budget *budget, double time_us);
/* Why the search should end, or NULL. Borrowed. */
#define BUDGET_TIME_SPENT "the time budget is spent"
const char *budget_spent(const struct budget *budget);

#endif
