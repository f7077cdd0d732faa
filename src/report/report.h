/* SPDX-License-Identifier: MIT
 *
 * The data of a report: tuned files and journals, read together, so that the HTML page and the
 * terminal's table show the same problems under the same titles. The page compares the files.
 *
 * The journal next to a tuned file (X.json and X.journal.jsonl[.gz]) is read with it. Templates,
 * if they are found, tell which keys of a problem have default values; a report works without
 * them.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/format_text.h"
#include "family/catalogue.h"
#include "format/journal.h"
#include "format/tuned.h"

/* A file that the user named, with its journal. */
struct report_source {
	char *path;
	char *label; /* short name: the file's name without its endings */
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
	char *title;           /* the problem without keys that have default values */
	const struct run *run; /* NULL: not known */
	const struct gpu_model *device;
	const struct tuned_entry *tuned; /* NULL: the search did not end */
	bool predicted;
	/* The winner of the tuned file, or the best result so far of a search, borrowed; NULL: no
	 * candidate has a time. */
	const struct result *winner;
	char *configuration; /* of the winner: "BM=128,..." */
	double tflops;       /* of the winner; 0: not known */
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
	struct catalogue catalogue; /* empty if the templates were not read */
	char *notice;               /* why the templates were not read, or NULL */
};

struct report_options {
	const char *const *paths; /* paths of tuned files and journals */
	size_t path_count;
	const char *const *template_folders; /* NULL-terminated */
	bool shows_defaults;                 /* whether titles of problems name every key */
};

/* Reads the files. The caller releases the report in any case. Fails if a file cannot be read or
 * is of another kind, or if all files are empty. */
enum status report_open(
	const struct report_options *options, struct report *report, struct error *err);
void report_release(struct report *report);

/* The problem's text without keys that follow from others. Adds to entry->problem the keys that
 * the operation got after the file was written. The caller frees the text. */
char *report_title(const struct report *report, struct report_entry *entry);
/* The tile of a configuration: "128x256x64" for "BM=128,BN=256,BK=64". Empty if the
 * configuration names no tile. */
struct format_text report_tile(const char *configuration);

#endif
