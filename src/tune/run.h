/* SPDX-License-Identifier: MIT
 *
 * A run tunes a list of problems one after the other; each is a search (tune/search.h).
 */
#ifndef TUNE_RUN_H
#define TUNE_RUN_H

#include <signal.h>

#include "format/journal.h"
#include "tune/budget.h"
#include "tune/known.h"
#include "tune/shortlist.h"

struct bits_rule;
struct selection;

/* An observer may use this only during the call. */
struct problem_result {
	const struct candidates *pool;
	const struct evaluated_list *evaluated;
	size_t winner, runner_up;          /* indices into evaluated; runner_up may be SIZE_MAX */
	const struct selection *selection; /* tune/selection.h */
	size_t number, count;              /* number: from 0 */
	size_t outcomes[OUTCOME_COUNT];
	size_t resumed; /* number of results reused from an interrupted run */
	const char *stopped_because;
	double seconds;
	const struct tuned_entry *entry;
	const char *kept;      /* why an older winner was retained, or NULL */
	const char *undecided; /* why no winner was selected, or NULL */
};

struct tune_progress {
	size_t problem, problem_count; /* problem: from 0 */
	size_t evaluated, total;       /* total: number of evaluations that the effort allows */
	size_t compiling;
	double seconds, seconds_left; /* seconds_left is infinite without a limit */
	double best_us;
	const char *best_family;
	const char *best_configuration;
	bool remeasuring;
};

/* Each function may be NULL. */
struct tune_observer {
	void *context;
	void (*begin)(void *context, const struct candidates *pool, size_t problem, size_t count);
	void (*progress)(void *context, const struct tune_progress *progress);
	void (*end)(void *context, const struct problem_result *result);
	/* An interrupted run had concluded this problem. */
	void (*taken)(void *context, const struct problem *problem, size_t number, size_t count,
		const struct tuned_entry *entry);
	void (*failed)(void *context, const struct problem *problem, const struct error *err);
	void (*notice)(void *context, const char *text);
};

struct result_sink {
	void *context;
	void (*on_result)(void *context, const struct problem_result *result); /* may be NULL */
};

struct tune_options {
	const struct effort *effort;
	enum objective objective;
	double budget_s; /* time limit per problem; 0: the effort's limit */
	/* The search sets device, compiler and interrupted. */
	struct candidates_options candidates;
	const char *strategy; /* NULL: the effort's strategy */
	uint64_t seed;
	const struct bits_rule *bits; /* NULL: any outputs may win */
	const struct tuned *known;    /* merged files with similar problems, or NULL */
	const struct journal_record *record;
	const struct journal_run *resume; /* unfinished run with the same signature, or NULL */
	const char *tuned_path;           /* saved after every problem; NULL: not saved */
	volatile sig_atomic_t *interrupted;
	struct tune_observer observer;
	struct result_sink sink;
	bool keep_going;
	/* end with STATUS_INCONCLUSIVE if predictions do not distinguish the candidates */
	bool only_decided;
};

/* All pointers are borrowed. */
struct tune_run {
	const struct tune_options *options;
	struct context *context;
	const struct problem_list *problems;
	struct tuned *tuned;     /* gets the entries */
	struct journal *journal; /* NULL: no journal */
	const char *run_id;
	bool unsaved; /* saving failed; without a finish line, a resumed run saves the file */
};

/* STATUS_FAILED: no candidate of a problem works. The journal is always intact. */
enum status tune_problems(struct tune_run *run, struct error *err);

/* Compiles kernels into the cache on a machine without the GPU (`tune --compile-only`), including
 * helper kernels and references. */
enum status precompile_run(struct tune_run *run, struct error *err);

/* ---- shared by the parts of a run ---- */
enum status tune_interrupted(struct error *err);
/* text may be NULL. */
void tune_notice(const struct tune_run *run, const char *text);
enum status tune_save(struct tune_run *run, struct error *err);
/* Also merges entries that other processes wrote, and saves the file. */
enum status tune_put_entry(struct tune_run *run, struct tuned_entry *entry,
	const struct tuned_judge *judge, const char **kept, struct error *err);

#endif
