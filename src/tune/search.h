/* SPDX-License-Identifier: MIT
 *
 * The state of the search of one problem (tune/session.c).
 */
#ifndef TUNE_SEARCH_H
#define TUNE_SEARCH_H

#include "engine/evaluator.h"
#include "tune/run.h"

struct search {
	struct tune_run *run;
	const struct tune_options *options;
	size_t number; /* in the run's list */
	struct candidates pool;
	struct evaluator evaluator;
	const struct strategy *strategy;
	void *strategy_state;
	struct budget budget;
	struct evaluated_list evaluated;
	bool *known; /* per candidate: its result is in `evaluated` */
	bool *asked; /* per candidate: known or pending */
	/* The model's shortlist, the incumbent, winners of similar problems. */
	size_t *planned;
	size_t planned_count, listed_count; /* the first listed_count are the shortlist */
	ptrdiff_t incumbent;                /* or -1 */
	struct output_digest *bits;         /* required digests (tune/bits.h); NULL: any */
	size_t resumed;                     /* results from an interrupted run */
	bool exhausted;                     /* the strategy has no more proposals */
	const char *stopped_because;
	size_t best;             /* index into evaluated */
	unsigned remeasure_pass; /* of the last final measurement; 0: none yet */
	double waited_seconds;   /* for candidates to be found and scored */
	double saved_us;         /* when it was saved; 0: never */
	double save_at_s;        /* clock_seconds() of the next attempt */
};

/* May run in a thread while another search runs. The caller frees the search. */
enum status search_prepare(
	struct tune_run *run, size_t number, struct search **search, struct error *err);
/* Prepares the device, writes the journal line and takes earlier results. */
enum status search_open(struct search *search, struct error *err);
void search_free(struct search **search);

enum status search_run(struct search *search, struct error *err);

/* Takes ownership of the result's content. */
void search_add(struct search *search, size_t candidate, struct result *result);
/* The same, with a line of the journal. */
enum status search_take_result(
	struct search *search, size_t candidate, struct result *result, struct error *err);
/* event: "evaluation" or "final". */
enum status search_journal(const struct search *search, const char *event,
	const struct result *result, struct error *err);

/* SIZE_MAX: not in the pool. */
size_t search_default_candidate(const struct candidates *pool, size_t family);

/* trial may be NULL. */
enum status search_add_trial(struct search *search, size_t candidate, enum trial_stage goal,
	struct trial **trial, struct error *err);
void search_show(const struct search *search, bool remeasuring);

/* ---- the end of a search (tune/final.c): two runs on one machine should select the same winner
 * ---- */
enum {
	FINAL_LOADS = 4 /* loads of one binary differ in speed */
};
/* Times the fastest candidates, the best of each family and of the shortlist, and the incumbent in
 * turn, which replaces their times. If all fail, the next best are timed. Does nothing on a device
 * that predicts. */
enum status final_measure(struct search *search, struct error *err);
/* Untried launches of the winner's kernel, and kernels that differ in one parameter. The caller
 * frees *candidates. */
size_t final_untried(const struct search *search, size_t **candidates);
/* If time is left, times what may win again, with this number of loads: also candidates evaluated
 * from index `since` on, and launches of the winner's kernel. Does nothing if energy is the
 * objective. */
enum status final_measure_again(
	struct search *search, size_t since, size_t loads, struct error *err);

#endif
