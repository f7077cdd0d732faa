/* SPDX-License-Identifier: MIT
 *
 * A search is one problem in progress: the state of the loop in tune/session.c.
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
	/* Tried with every strategy: the model's shortlist, the incumbent, winners of similar
	 * problems. */
	size_t *planned;
	size_t planned_count, listed_count; /* listed: the first of them, the model's shortlist */
	ptrdiff_t incumbent;                /* candidate, or -1 */
	struct bits *bits; /* only outputs with these digests may win (tune/bits.h); NULL: any */
	size_t resumed;    /* results of an interrupted run, of evaluated */
	bool exhausted;    /* the strategy has nothing more */
	const char *stopped_because;
	size_t best;             /* index into evaluated */
	unsigned remeasure_pass; /* the last one of the final measurement; 0: none yet */
	double waited_seconds;   /* until its candidates were found and scored */
	double saved_us;         /* the best time that is in the tuned file; 0: none yet */
	double save_at_s;        /* when a better candidate may be saved, on clock_seconds() */
};

/* Finds and scores the candidates and opens the strategy. This takes long, and may run in another
 * thread than the search before it. The caller frees. */
enum status search_prepare(
	struct tune_run *run, size_t number, struct search **search, struct error *err);
/* Prepares the problem for the device, writes its journal line, finds the incumbent and takes the
 * results of an interrupted run. */
enum status search_open(struct search *search, struct error *err);
void search_free(struct search **search);

/* Runs a search that was prepared, up to its entry. */
enum status search_run(struct search *search, struct error *err);

/* Stores a result, counts it and tells the strategy. Takes what the result owns. */
void search_add(struct search *search, size_t candidate, struct result *result);
/* Journals a result, adds it and shows the progress. Takes what the result owns. */
enum status search_take_result(
	struct search *search, size_t candidate, struct result *result, struct error *err);
/* Writes a line of the journal, if there is one: "evaluation", or "final". */
enum status search_journal(const struct search *search, const char *event,
	const struct result *result, struct error *err);

/* The candidate with the family's default configuration; SIZE_MAX: it is not in the pool. */
size_t search_default_candidate(const struct candidates *pool, size_t family);

/* Gives a candidate of the pool to the evaluator; trial may be NULL. */
enum status search_add_trial(struct search *search, size_t candidate, enum trial_stage goal,
	struct trial **trial, struct error *err);
void search_show(const struct search *search, bool remeasuring);

/* ---- the end of a search (tune/final.c): the fastest candidates and their neighbours are timed in
 * turn. Two runs on one machine should name the same winner, even if they tried other
 * candidates, the GPU ran faster or a binary was loaded elsewhere. So candidates are
 * compared round by round, neighbours of the winner are tried before it is named, and the best are
 * loaded several times. A fixed order decides among tied candidates (tune/selection.h). ---- */
enum {
	FINAL_LOADS =
		4 /* loads of each of the best: two loads of one binary are not equally fast */
};
/* Times the fastest candidates, the best of each family and of the model's shortlist, and the
 * incumbent in turn; these times replace those of the search. If all of them fail, the next best
 * follow. If the time is over, only the rounds of the first look are sampled. Does nothing on a
 * device that predicts. */
enum status final_measure(struct search *search, struct error *err);
/* Lists a few candidates near the winner so far that were not tried: other launches of its kernel,
 * and kernels that differ in one parameter. The caller frees *candidates. */
size_t final_untried(const struct search *search, size_t **candidates);
/* If time is left, times the candidates that may win again, with this number of loads of each;
 * also those that were evaluated from index `since` on, and launches of the winner's kernel. The
 * times of other candidates are corrected by the drift of the clock. Does nothing if energy is the
 * objective. */
enum status final_measure_again(
	struct search *search, size_t since, size_t loads, struct error *err);

#endif
