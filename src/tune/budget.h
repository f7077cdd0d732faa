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
	bool is_strict;       /* planned candidates count as evaluations, too */
	size_t kept;          /* evaluations reserved for neighbours of the winner */
	double seconds;       /* time limit of the search; infinite: no limit */
	/* minimum of evaluations per family if several families compete (tune/shortlist.h) */
	size_t of_each_family;
	size_t stall;              /* evaluations without a gain; SIZE_MAX: never stop */
	double stall_ratio;        /* smallest reduction of the time that counts as a gain */
	bool measures;             /* false: predicted times decide */
	double give_up_ratio;      /* stop sampling a candidate beyond this ratio to the best */
	unsigned rounds;           /* rounds of the first look at a candidate */
	bool remeasures_shortlist; /* the final measurement times the whole shortlist */
	unsigned final_rounds;
};

extern const struct effort efforts[];
const struct effort *effort_find(const char *name); /* NULL: unknown */

void effort_limit(struct effort *effort, size_t evaluations, bool tries_neighbours);

/* Lets only the number of compiled kernels end the search, so that two predictions agree. */
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

/* seconds: for the whole problem (--budget); 0 selects the effort's limit plus the final
 * measurement. measures_again reserves time for another measurement. */
void budget_start(
	struct budget *budget, const struct effort *effort, double seconds, bool measures_again);
double budget_left_seconds(const struct budget *budget);
double budget_search_left_seconds(const struct budget *budget);
size_t effort_attempts(const struct effort *effort);
/* time_us is infinite after a failure. Failures do not count if nothing is measured, because the
 * compiler may reject all first choices of the model. */
void budget_count(struct budget *budget, double time_us);
/* Returns why the search must end (borrowed), or NULL. */
#define BUDGET_TIME_SPENT "the time budget is spent"
const char *budget_spent(const struct budget *budget);

#endif
