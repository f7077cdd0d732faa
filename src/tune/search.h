/* SPDX-License-Identifier: MIT
 *
 * One problem in progress: the state of the loop in tune/session.c.
 */
#ifndef TUNE_SEARCH_H
#define TUNE_SEARCH_H

#include "engine/evaluator.h"
#include "tune/run.h"

struct search {
	struct tune_run *run;
	const struct tune_options *options; /* of the run */
	size_t number;                      /* of the problem, in the list of the run */
	struct candidates pool;
	struct evaluator evaluator;
	const struct strategy *strategy;
	void *strategy_state;
	struct budget budget;
	struct evaluated_list evaluated;
	bool *known; /* per candidate: it is in evaluated */
	bool *asked; /* per candidate: known, or pending */
	/* Tried with every strategy: the model's shortlist, the incumbent, what is known of
	 * near problems. */
	size_t *planned;
	size_t planned_count, listed_count; /* listed: the first of them, the model's shortlist */
	ptrdiff_t incumbent;                /* candidate, or -1 */
	struct bits *bits; /* what may win has these (tune/bits.h); NULL: anything may */
	size_t resumed;    /* of evaluated: taken over from an interrupted run */
	bool exhausted;    /* the strategy has nothing more */
	const char *stopped_because;
	size_t best;             /* index into evaluated */
	unsigned remeasure_pass; /* the last one of the final measurement; 0: none yet */
	double waited_seconds;   /* for its candidates to be found and scored */
	double saved_us;         /* the best that is in the tuned file; 0: none is yet */
	double save_at_s;        /* when a better one may be saved, on clock_seconds() */
};

/* What the problem alone decides: candidates, strategy. It takes long, and touches nothing
 * that changes meanwhile. The caller frees. */
enum status search_prepare(
	struct tune_run *run, size_t number, struct search **search, struct error *err);
/* The rest: reference, incumbent; prepares the problem for the device and writes its journal line.
 */
enum status search_open(struct search *search, struct error *err);
void search_free(struct search **search);

/* One problem that was prepared: the loop of tune/session.c up to its entry. */
enum status search_run(struct search *search, struct error *err);

/* Stores a result, counts it and tells the strategy. Takes what the result owns. */
void search_add(struct search *search, size_t candidate, struct result *result);
/* Journals a result, adds it and shows the progress. Takes what the result owns. */
enum status search_take_result(
	struct search *search, size_t candidate, struct result *result, struct error *err);
/* Writes a line of the journal, if there is one: "evaluation", or "final". */
enum status search_journal(const struct search *search, const char *event,
	const struct result *result, struct error *err);

/* The family's own defaults, as a candidate; SIZE_MAX: not in the pool. */
size_t search_default_candidate(const struct candidates *pool, size_t family);

/* A candidate of the pool as a trial; *trial may be NULL. */
enum status search_add_trial(struct search *search, size_t candidate, enum trial_stage goal,
	struct trial **trial, struct error *err);
void search_show(const struct search *search, bool remeasuring);

/* ---- the end of a search (tune/final.c): the fastest and what is near them are timed in turn.
 * Two runs on one machine should name the same winner. What a search happens to try, how fast the
 * GPU ran just then and where a binary was loaded must not decide; so candidates are compared round
 * by round, neighbours of the winner are tried before it is named, and the best are loaded several
 * times. A fixed order decides among those that are tied then (tune/selection.h). ---- */
enum {
	FINAL_LOADS = 4 /* of each of the best: two loads of one binary are not equally fast */
};
/* Times the fastest candidates in turn, the best of each family and of the model's shortlist, and
 * the incumbent; these times replace those of the search. Where all of them fail, the next best
 * follow. Time that is over leaves each the rounds of the first look. Nothing on a device that
 * predicts. */
enum status final_measure(struct search *search, struct error *err);
/* What is near the winner so far and was not tried: other launches of its kernel, and kernels that
 * differ in one parameter; few. The caller frees *candidates. */
size_t final_untried(const struct search *search, size_t **candidates);
/* Those that may win once more, in that number of loads of each, where time is left; with them what
 * was evaluated from index `since` on, and launches of the winner's kernel. The times of others are
 * corrected by what the clock did in between. Nothing where the choice is by energy. */
enum status final_measure_again(
	struct search *search, size_t since, size_t loads, struct error *err);

#endif
