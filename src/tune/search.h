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
	size_t number; /* index of the problem in the run's list */
	struct candidates pool;
	struct evaluator evaluator;
	const struct strategy *strategy;
	void *strategy_state;
	struct budget budget;
	struct evaluated_list evaluated;
	bool *known; /* per candidate: its result is in `evaluated` */
	bool *asked; /* per candidate: known or pending */
	/* the model's shortlist, the incumbent, and winners of similar problems */
	size_t *planned;
	size_t planned_count, listed_count; /* the first listed_count are the shortlist */
	ptrdiff_t incumbent;                /* candidate that won before, or -1 */
	struct output_digest *bits;         /* required digests (tune/bits.h); NULL: any */
	size_t resumed;
	bool exhausted;
	const char *stopped_because;
	size_t best;             /* index into evaluated */
	unsigned remeasure_pass; /* number of the last final measurement; 0: none yet */
	double waited_seconds;   /* time spent waiting for scored candidates */
	double saved_us;         /* best time at the last attempt to save; 0: no attempt */
	double save_at_s;        /* clock_seconds() of the next attempt */
};

/* May run in a thread while another search runs. The caller frees the search. */
enum status search_prepare(
	struct tune_run *run, size_t number, struct search **search, struct error *err);
/* Also writes the problem's journal line and reuses earlier results. */
enum status search_open(struct search *search, struct error *err);
void search_free(struct search **search);

enum status search_run(struct search *search, struct error *err);

/* Takes ownership of the result's content. */
void search_add(struct search *search, size_t candidate, struct result *result);
/* Does the same after writing the result to the journal. */
enum status search_take_result(
	struct search *search, size_t candidate, struct result *result, struct error *err);
enum status search_journal(const struct search *search, const char *event,
	const struct result *result, struct error *err);

/* Returns SIZE_MAX if the pool does not contain the family's default configuration. */
size_t search_default_candidate(const struct candidates *pool, size_t family);

/* trial may be NULL. */
enum status search_add_trial(struct search *search, size_t candidate, enum trial_stage goal,
	struct trial **trial, struct error *err);
void search_show(const struct search *search, bool remeasuring);

/* ---- final.c: all runs on one machine should select the same winner ---- */
enum {
	FINAL_LOADS = 4 /* loads of one binary differ in speed */
};
/* Times in turn the fastest candidates, the best of each family and of the shortlist, and the
 * incumbent. If all fail, the next best are timed. Does nothing on a device that predicts. */
enum status final_measure(struct search *search, struct error *err);
/* Lists untried launches of the winner's kernel, and kernels that differ from it in one parameter.
 * The caller frees the list. */
size_t final_untried(const struct search *search, size_t **candidates);
/* If time is left, times again, with `loads` loads each, candidates that may win, those evaluated
 * from index `since` on, and launches of the winner's kernel. Does nothing for energy. */
enum status final_measure_again(
	struct search *search, size_t since, size_t loads, struct error *err);

/* ---- conclude.c: selects the winner and writes its entry ---- */
/* Measures the energy of a candidate of the final measurement. Does nothing if the GPU does not
 * report energy. */
enum status conclude_energy(struct search *search, struct evaluated *evaluated, struct error *err);

/* STATUS_FAILED if no candidate works. */
enum status search_conclude(struct search *search, struct error *err);
/* Writes only the tuned file, so that the search can be resumed. */
enum status search_save_best(struct search *search, struct error *err);
/* Saves a better candidate after the first second, as the run may be killed, unless another run has
 * an entry. Saving takes at most 1% of the time. Failures are reported at the end. */
void search_keep_best(struct search *search);

/* ---- resume.c: continues an interrupted run and the runs that it resumed. Concluded entries and
 * results are reused, and final measurements are repeated ---- */
bool resume_is_concluded(const struct tune_run *run, size_t number);
/* If an interrupted run concluded the problem, saves its entry and sets *done. */
enum status resume_entry(struct tune_run *run, size_t number, bool *done, struct error *err);
/* Adds all recorded results, beginning with the oldest run. */
void resume_results(struct search *search);

#endif
