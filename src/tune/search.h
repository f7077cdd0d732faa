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
	const struct tune_options *options; /* options of the run */
	size_t number;                      /* index of the problem in the run's list */
	struct candidates pool;
	struct evaluator evaluator;
	const struct strategy *strategy;
	void *strategy_state;
	struct budget budget;
	struct evaluated_list evaluated;
	bool *known; /* per candidate: its result is in `evaluated` */
	bool *asked; /* per candidate: known or pending */
	/* Candidates that are tried with every strategy: the model's shortlist, the incumbent,
	 * and winners of similar problems. */
	size_t *planned;
	size_t planned_count, listed_count; /* the first listed_count are the model's shortlist */
	ptrdiff_t incumbent;                /* the candidate, or -1 */
	struct output_digest
		*bits;  /* only outputs with these digests may win (tune/bits.h); NULL: any */
	size_t resumed; /* number of evaluated results that come from an interrupted run */
	bool exhausted; /* the strategy has no more proposals */
	const char *stopped_because;
	size_t best;             /* index into evaluated */
	unsigned remeasure_pass; /* number of the last pass of the final measurement; 0 before the
				    first */
	double waited_seconds;   /* time spent waiting for candidates to be found and scored */
	double saved_us;         /* best time at the last attempt to save it; 0 before the first */
	double save_at_s;        /* clock_seconds() from which a better candidate may be saved */
};

/* Finds and scores the candidates and opens the strategy. This takes long and may run in a
 * thread while another search runs. The caller frees the search. */
enum status search_prepare(
	struct tune_run *run, size_t number, struct search **search, struct error *err);
/* Prepares the problem for the device, writes its journal line, finds the incumbent and takes the
 * results of an interrupted run. */
enum status search_open(struct search *search, struct error *err);
void search_free(struct search **search);

/* Runs a prepared search until its entry is written. */
enum status search_run(struct search *search, struct error *err);

/* Stores a result, counts it and tells the strategy. Takes ownership of the result's content. */
void search_add(struct search *search, size_t candidate, struct result *result);
/* Writes a result to the journal, adds it and shows the progress. Takes ownership of the
 * result's content. */
enum status search_take_result(
	struct search *search, size_t candidate, struct result *result, struct error *err);
/* Writes an "evaluation" or "final" line if there is a journal. */
enum status search_journal(const struct search *search, const char *event,
	const struct result *result, struct error *err);

/* The candidate with the family's default configuration, or SIZE_MAX if it is not in the pool. */
size_t search_default_candidate(const struct candidates *pool, size_t family);

/* Gives a candidate of the pool to the evaluator; trial may be NULL. */
enum status search_add_trial(struct search *search, size_t candidate, enum trial_stage goal,
	struct trial **trial, struct error *err);
void search_show(const struct search *search, bool remeasuring);

/* ---- the end of a search (tune/final.c). Two runs on one machine should select the same
 * winner, even if they tried other candidates, the GPU's clock differed or a binary was loaded
 * elsewhere. Therefore the fastest candidates are timed in turn and compared round by round,
 * neighbours of the winner are tried before it is selected, and the best are loaded several
 * times. A fixed order decides among tied candidates (tune/selection.h). ---- */
enum {
	FINAL_LOADS = 4 /* loads of each of the best, because loads of one binary differ in speed */
};
/* Times the fastest candidates, the best of each family and of the model's shortlist, and the
 * incumbent in turn. These times replace those of the search. If all of them fail, the next best
 * are timed. If the time is over, only the rounds of the first look are sampled. Does nothing on
 * a device that predicts. */
enum status final_measure(struct search *search, struct error *err);
/* Lists a few candidates near the current winner that were not tried: other launches of its
 * kernel, and kernels that differ in one parameter. The caller frees *candidates. */
size_t final_untried(const struct search *search, size_t **candidates);
/* If time is left, times the candidates that may win again, with the given number of loads of
 * each. It includes candidates evaluated from index `since` on, and launches of the winner's
 * kernel. The times of other candidates are corrected by the drift of the clock. Does nothing if
 * energy is the objective. */
enum status final_measure_again(
	struct search *search, size_t since, size_t loads, struct error *err);

#endif
