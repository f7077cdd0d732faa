/* SPDX-License-Identifier: MIT
 *
 * The data of a report: tuned files, each with the journal next to it (X.json and
 * X.journal.jsonl[.gz]), and other journals. Templates tell which keys of a problem have default
 * values; a report works without them.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/format_text.h"
#include "family/catalogue.h"
#include "format/journal.h"
#include "format/tuned.h"

struct report_source {
	char *path;
	char *label; /* the file's name without its endings */
	struct tuned tuned;
	bool has_tuned;
	char *journal_path; /* NULL if the file has no journal */
	struct journal_record journal;
};

struct report_search {
	const struct journal_run *run;
	const struct journal_problem *problem;
};

struct report_entry {
	const struct report_source *source;
	const char *label; /* label of the source, or of the journal's run */
	char *operation;
	char *problem;         /* canonical text */
	char *title;           /* problem without keys that have default values */
	const struct run *run; /* NULL: not known */
	const struct gpu_model *device;
	const struct tuned_entry *tuned; /* NULL: the search did not end */
	bool predicted;
	/* The best result so far if the search did not end; NULL: no candidate has a time. */
	const struct result *winner;
	char *configuration; /* the winner's configuration */
	double tflops;       /* the winner's speed; 0: not known */
	struct report_search
		*searches; /* newest first: a run, followed by the runs that it resumed */
	size_t search_count;
	size_t outcomes[OUTCOME_COUNT]; /* counts over all candidates of these runs */
	double legal;                   /* legal configurations of the space; 0: not known */
};

struct report {
	struct report_source *sources;
	size_t source_count;
	struct report_entry *entries;
	size_t entry_count, entry_capacity;
	const char *const *libraries; /* borrowed: comparisons with libraries (tiletune.versus/1),
					 set after report_open(); NULL-terminated, or NULL */
	struct catalogue catalogue;   /* empty if the templates were not read */
	char *notice;                 /* may be NULL */
};

struct report_options {
	const char *const *paths;
	size_t path_count;
	const char *const *template_folders; /* NULL-terminated */
	bool shows_defaults;                 /* whether titles of problems name every key */
};

/* The caller releases the report in any case. Fails if a file is of another kind, or if all files
 * are empty. */
enum status report_open(
	const struct report_options *options, struct report *report, struct error *err);
void report_release(struct report *report);

/* "128x256x64" for "BM=128,BN=256,BK=64"; empty if the configuration names no tile. */
struct format_text report_tile(const char *configuration);

#endif
