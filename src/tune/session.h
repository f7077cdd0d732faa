/* SPDX-License-Identifier: MIT
 *
 * The loop:
 *
 *	ask strategy -> constrain -> score (prune) -> compile -> score again -> verify -> measure
 *	-> append to journal -> tell strategy
 *
 * over a list of problems, asynchronous: compilers run ahead of the device. The same loop runs on
 * a real GPU, on a device model and on a recorded journal.
 */
#ifndef TUNE_SESSION_H
#define TUNE_SESSION_H

#include <signal.h>

#include "format/journal.h"
#include "format/tuned.h"
#include "tune/budget.h"
#include "engine/candidates.h"
#include "tune/known.h"
#include "tune/shortlist.h"
#include "engine/context.h"

/* What became of one problem; borrowed by the observer for the call. */
struct bits_rule;
struct selection;
struct problem_result {
	const struct candidates *pool;
	const struct evaluated_list *evaluated;
	size_t winner, runner_up;          /* indices into evaluated; runner_up SIZE_MAX: none */
	const struct selection *selection; /* tune/selection.h */
	size_t number, count;              /* of the problem, from 0, and of all */
	size_t outcomes[OUTCOME_COUNT];
	size_t resumed; /* taken over from an earlier run */
	const char *stopped_because;
	double seconds;
	const struct tuned_entry *entry;
	const char *kept;      /* why an older entry stayed instead, or NULL */
	const char *undecided; /* lines: resources, where there is no winner, or NULL */
};

struct session_progress {
	size_t problem, problem_count; /* from 0 */
	size_t evaluated, total;       /* total: as far as the effort goes */
	size_t compiling;
	double seconds, seconds_left; /* left: of the budget; infinite: open end */
	double best_us;               /* infinite: none yet */
	const char *best_family;
	const char *best_configuration;
	bool remeasuring;
};

struct session_observer {
	void *context;
	void (*begin)(void *context, const struct candidates *pool, size_t problem, size_t count);
	void (*progress)(void *context, const struct session_progress *progress);
	void (*end)(void *context, const struct problem_result *result);
	/* The interrupted run had concluded this problem; entry as in the tuned file. */
	void (*taken)(void *context, const struct problem *problem, size_t number, size_t count,
		const struct tuned_entry *entry);
	void (*failed)(void *context, const struct problem *problem, const struct error *err);
	void (*notice)(void *context, const char *text);
};

/* Gets everything that was measured for each problem. */
struct result_sink {
	void *context;
	void (*on_result)(void *context, const struct problem_result *result); /* may be NULL */
};

struct session {
	struct context *context;
	struct problem_list *problems;
	const struct effort *effort;
	enum objective objective;
	double budget_s; /* per problem; 0: the effort's */
	struct candidates_options pool;
	const char *strategy; /* NULL: the effort's */
	uint64_t seed;
	const struct bits_rule *bits;        /* tune/bits.h; NULL: any bits may win */
	const struct known *known;           /* near problems, or NULL */
	struct journal *journal;             /* NULL: none */
	const struct journal_record *record; /* what stood in the journal; of resume */
	const struct journal_run *resume;    /* an unfinished run of the same signature, or NULL */
	struct tuned *tuned;                 /* entries are put here */
	const char *tuned_path;              /* saved after every problem; NULL: not at all */
	bool unsaved; /* set when that failed: the run is not finished, a resumed one saves again */
	const char *run_id;
	volatile sig_atomic_t *interrupted;
	struct session_observer observer;
	struct result_sink sink;
	bool keep_going; /* a problem that cannot be served does not end a suite */
	/* No winner where predictions do not tell the candidates apart: STATUS_INCONCLUSIVE, and
	 * the observer gets their resources. */
	bool only_decided;
};

enum status session_interrupted(struct error *err);
/* To the observer, if it takes notices; text may be NULL: nothing. */
void session_notice(const struct session *session, const char *text);
/* Saves the tuned file, where it has a path. */
enum status session_save(struct session *session, struct error *err);
/* Puts an entry into it (tuned_put_entry()), together with what others have written meanwhile, and
 * saves.
 */
enum status session_put(struct session *session, struct tuned_entry *entry,
	const struct tuned_judge *judge, const char **kept, struct error *err);
struct search;
/* One problem of the list, that was prepared (tune/search.h). */
enum status session_search(struct search *search, struct error *err);
/* Runs all problems. STATUS_FAILED if all candidates of some problem failed; STATUS_INTERRUPTED
 * with the journal intact. */
enum status session_run(struct session *session, struct error *err);

#endif
