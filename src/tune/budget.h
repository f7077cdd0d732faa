/* SPDX-License-Identifier: MIT
 *
 * An effort says how much of a space is tried and how carefully it is measured.
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
	bool is_strict;       /* planned candidates count, too */
	size_t kept;
	double seconds; /* of the search; infinite: no limit */
	/* minimum if several families compete (tune/shortlist.h) */
	size_t of_each_family;
	size_t stall;              /* evaluations without a gain; SIZE_MAX: never stop */
	double stall_ratio;        /* smallest reduction of the time to count */
	bool measures;             /* false: the model's time counts */
	double give_up_ratio;      /* stop sampling beyond this ratio to the best */
	unsigned rounds;           /* of the first look at a candidate */
	bool remeasures_shortlist; /* all of the shortlist */
	unsigned final_rounds;
};

extern const struct effort efforts[];
const struct effort *effort_find(const char *name); /* NULL: unknown */

void effort_limit(struct effort *effort, size_t evaluations, bool tries_neighbours);

/* The number of compiled kernels ends the search, so that two predictions agree. */
void effort_predict(struct effort *effort);

struct budget {
	const struct effort *effort;
	double seconds;        /* for the whole problem */
	double search_seconds; /* without the final measurement */
	double started;        /* clock_seconds() */
	size_t evaluations;    /* see budget_count() */
	size_t attempts;
	size_t kept;
	size_t since_gain;
	double best_us;
};

/* seconds: for the whole problem (--budget); 0: the effort's, and that of the final measurement.
 * measures_again reserves time for it. */
void budget_start(
	struct budget *budget, const struct effort *effort, double seconds, bool measures_again);
/* At least 0. */
double budget_left_seconds(const struct budget *budget);
double budget_search_left_seconds(const struct budget *budget);
size_t effort_attempts(const struct effort *effort);
/* time_us is infinite after a failure, which does not count if nothing is measured: the compiler
 * may reject all first choices of the model. */
void budget_count(struct budget *budget, double time_us);
/* NULL: the search goes on. Borrowed. */
#define BUDGET_TIME_SPENT "the time budget is spent"
const char *budget_spent(const struct budget *budget);

#endif
