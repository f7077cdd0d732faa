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
	bool *known; /* result in `evaluated` */
	bool *asked; /* known or pending */
	/* The model's shortlist, the incumbent, winners of similar problems. */
	size_t *planned;
	size_t planned_count, listed_count; /* the first listed_count are the shortlist */
	ptrdiff_t incumbent;                /* or -1 */
	struct output_digest *bits;         /* required digests (tune/bits.h); NULL: any */
	size_t resumed;
	bool exhausted;
	const char *stopped_because;
	size_t best;             /* index into evaluated */
	unsigned remeasure_pass; /* of the last final measurement; 0: none yet */
	double waited_seconds;   /* waiting for scored candidates */
	double saved_us;         /* best time of the last attempt to save; 0: none */
	double save_at_s;        /* clock_seconds() of the next */
};

/* May run in a thread while another search runs. The caller frees the search. */
enum status search_prepare(
	struct tune_run *run, size_t number, struct search **search, struct error *err);
/* Also writes the journal line and takes earlier results. */
enum status search_open(struct search *search, struct error *err);
void search_free(struct search **search);

enum status search_run(struct search *search, struct error *err);

/* Takes ownership of the result's content. */
void search_add(struct search *search, size_t candidate, struct result *result);
/* The same, with a line of the journal. */
enum status search_take_result(
	struct search *search, size_t candidate, struct result *result, struct error *err);
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
 * turn. If all fail, the next best are timed. Does nothing on a device that predicts. */
enum status final_measure(struct search *search, struct error *err);
/* Untried launches of the winner's kernel, and kernels that differ in one parameter. The caller
 * frees the list. */
size_t final_untried(const struct search *search, size_t **candidates);
/* If time is left, times what may win again, with this number of loads: also candidates evaluated
 * from index `since` on, and launches of the winner's kernel. Does nothing if energy is the
 * objective. */
enum status final_measure_again(
	struct search *search, size_t since, size_t loads, struct error *err);

/* ---- conclude.c: selects the winner and writes its entry ---- */
/* The candidate was timed in turn. Does nothing if the GPU reports no energy. */
enum status conclude_energy(struct search *search, struct evaluated *evaluated, struct error *err);

/* STATUS_FAILED if no candidate works. */
enum status search_conclude(struct search *search, struct error *err);
/* Writes only the tuned file, so that the search can be resumed. */
enum status search_save_best(struct search *search, struct error *err);
/* Saves after the first second, if a better candidate was found and no other run has an entry,
 * because the run may be killed. Saving takes at most a hundredth of the time. Failures are
 * reported at the end. */
void search_keep_best(struct search *search);

/* ---- resume.c: continues an interrupted run, and those that it resumed: keeps concluded entries,
 * reuses results, and repeats final measurements ---- */
/* Whether an interrupted run concluded this problem. */
bool resume_is_concluded(const struct tune_run *run, size_t number);
/* If so, saves its entry and sets *done. */
enum status resume_entry(struct tune_run *run, size_t number, bool *done, struct error *err);
/* All recorded results, the oldest run first. */
void resume_results(struct search *search);

#endif
