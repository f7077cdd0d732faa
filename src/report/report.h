/* SPDX-License-Identifier: MIT
 *
 * What a report is about: tuned files and journals, read and paired, so that the HTML page and the
 * terminal's table have the same problems under the same titles.
 *
 * A journal next to a tuned file (X.json, X.journal.jsonl[.gz]) is read with it. Templates
 * are used where they are found (which keys of a problem have their defaults); a report works
 * without them.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/format_text.h"
#include "family/catalogue.h"
#include "format/journal.h"
#include "format/tuned.h"

/* One file that was named, with its journal. */
struct report_source {
	char *path;
	char *label; /* what tells it from the others: the file's name without its endings */
	struct tuned tuned;
	bool has_tuned;
	char *journal_path; /* NULL: none */
	struct journal_record journal;
};

/* The winner of a tuned file, or the best so far of a search. */
struct report_winner {
	const char *family;
	char *configuration; /* "BM=128,..." */
	double time_us;
	double low_us, high_us; /* 95% interval; 0: not known */
	double tflops;          /* 0: not known */
	enum verified verified;
	bool by_program;
	const struct score *score; /* launch_count 0: none */
};

/* A run that searched a problem. */
struct report_search {
	const struct journal_run *run;
	const struct journal_problem *problem;
};

struct report_entry {
	const struct report_source *source;
	const char *label; /* of the source, or the journal's run */
	char *operation;
	char *problem;         /* canonical text */
	char *title;           /* the same without keys that have their defaults */
	const struct run *run; /* NULL: not known */
	const struct gpu_model *device;
	const struct tuned_entry *tuned; /* NULL: the search did not end */
	bool predicted;
	bool has_winner;
	struct report_winner winner;
	struct report_search *searches; /* newest first: a run, and those that it resumed */
	size_t search_count;
	size_t outcomes[OUTCOME_COUNT]; /* of all candidates of these runs */
	double legal;                   /* of the space; 0: not known */
};

struct report {
	struct report_source *sources;
	size_t source_count;
	struct report_entry *entries;
	size_t entry_count, entry_capacity;
	struct catalogue catalogue; /* empty: the templates were not read */
	char *notice;               /* why the templates were not read, or NULL */
};

struct report_options {
	const char *const *paths; /* tuned files and journals */
	size_t path_count;
	const char *const *template_folders; /* NULL-terminated */
	bool shows_defaults;                 /* titles of problems name every key */
};

/* The caller releases it in any case. Errors: a file that cannot be read or is neither; nothing in
 * any of them. */
enum status report_open(
	const struct report_options *options, struct report *report, struct error *err);
void report_release(struct report *report);

/* A problem without the keys that follow from the others; completes entry->problem by keys that the
 * operation got after the file was written. The caller frees it. */
char *report_title(const struct report *report, struct report_entry *entry);
/* "128x256x64" of "BM=128,BN=256,BK=64"; empty where a configuration names no tile. */
struct format_text report_tile(const char *configuration);

/* ---- the same problem in several files ---- */
struct report_pair {
	const struct report_entry *first, *second; /* of different files or runs */
	double ratio;                              /* second's time / first's */
	const char *verdict;                       /* of the second: "faster", "slower", "same" */
};
/* Pairs each problem's first appearance with every later one; the caller frees it. */
struct report_pair *report_pairs(const struct report *report, size_t *count);

#endif
