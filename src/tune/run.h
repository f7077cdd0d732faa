/* SPDX-License-Identifier: MIT
 *
 * A run consists of the user's request and its state. It tunes a list of problems one after the
 * other; each is a search (tune/search.h).
 */
#ifndef TUNE_RUN_H
#define TUNE_RUN_H

#include <signal.h>

#include "format/journal.h"
#include "format/tuned.h"
#include "tune/budget.h"
#include "engine/candidates.h"
#include "tune/known.h"
#include "tune/shortlist.h"
#include "engine/context.h"

struct bits_rule;
struct selection;

/* The result of one problem; borrowed by the observer during the call. */
struct problem_result {
	const struct candidates *pool;
	const struct evaluated_list *evaluated;
	size_t winner, runner_up;          /* indices into evaluated; runner_up may be SIZE_MAX */
	const struct selection *selection; /* tune/selection.h */
	size_t number, count;              /* index of the problem from 0, and number of problems */
	size_t outcomes[OUTCOME_COUNT];
	size_t resumed; /* results reused from an interrupted run */
	const char *stopped_because;
	double seconds;
	const struct tuned_entry *entry;
	const char *kept;      /* why an older entry was not replaced, or NULL */
	const char *undecided; /* lines with resources if there is no winner, or NULL */
};

struct tune_progress {
	size_t problem, problem_count; /* problem counts from 0 */
	size_t evaluated, total;       /* total: number of evaluations that the effort allows */
	size_t compiling;
	double seconds, seconds_left; /* seconds_left: of the budget; infinite: no limit */
	double best_us;               /* infinite until a candidate works */
	const char *best_family;
	const char *best_configuration;
	bool remeasuring;
};

/* Shows the run to a person. Each function may be NULL. */
struct tune_observer {
	void *context;
	void (*begin)(void *context, const struct candidates *pool, size_t problem, size_t count);
	void (*progress)(void *context, const struct tune_progress *progress);
	void (*end)(void *context, const struct problem_result *result);
	/* An interrupted run had concluded this problem; `entry` is as in the tuned file. */
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

/* The request of the user, which does not change during a run. */
struct tune_options {
	const struct effort *effort;
	enum objective objective;
	double budget_s; /* per problem; 0: the effort's */
	/* Used for each problem; the search sets device, compiler and interrupted. */
	struct candidates_options candidates;
	const char *strategy; /* NULL: the effort's */
	uint64_t seed;
	const struct bits_rule *bits;        /* tune/bits.h; NULL: any outputs may win */
	const struct tuned *known;           /* merged tuned files with similar problems, or NULL */
	const struct journal_record *record; /* the journal before the run; for resume */
	const struct journal_run *resume;    /* an unfinished run of the same signature, or NULL */
	const char *tuned_path; /* the file is saved after every problem; NULL: it is not saved */
	volatile sig_atomic_t *interrupted;
	struct tune_observer observer;
	struct result_sink sink;
	bool keep_going; /* a problem that cannot be tuned does not end the run */
	/* Ends without a winner if predictions do not distinguish the candidates:
	 * STATUS_INCONCLUSIVE, and the observer gets the candidates' resources. */
	bool only_decided;
};

/* The state of a run. The caller owns everything that pointers refer to. */
struct tune_run {
	const struct tune_options *options;
	struct context *context;
	const struct problem_list *problems;
	struct tuned *tuned;     /* gets the entries */
	struct journal *journal; /* NULL: no journal is written */
	const char *run_id;
	bool unsaved; /* saving the tuned file failed; the run gets no finish line, so that a
			 resumed run saves the file */
};

/* Tunes all problems. Returns STATUS_FAILED if all candidates of a problem failed. After
 * STATUS_INTERRUPTED the journal is intact. */
enum status tune_problems(struct tune_run *run, struct error *err);

/* ---- for the parts of a run ---- */
enum status tune_interrupted(struct error *err);
/* Gives the observer a notice. Does nothing if text is NULL. */
void tune_notice(const struct tune_run *run, const char *text);
/* Saves the tuned file, if it has a path. */
enum status tune_save(struct tune_run *run, struct error *err);
/* Puts an entry into the tuned file (tuned_put_entry()), together with the entries that other
 * processes have written meanwhile, and saves the file. */
enum status tune_put_entry(struct tune_run *run, struct tuned_entry *entry,
	const struct tuned_judge *judge, const char **kept, struct error *err);

#endif
