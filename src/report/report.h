/* SPDX-License-Identifier: MIT
 *
 * What a report is about: tuned files and journals, read and brought together, so that figures,
 * the HTML page and the terminal's table look at one structure.
 *
 * A journal that lies beside a tuned file (X.json, X.journal.jsonl[.gz]) is read with it. Templates
 * are used where they are found (which tile shapes are legal, which keys of a problem have their
 * defaults); a report works without them.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "family/catalogue.h"
#include "format/evaluation.h"
#include "format/journal.h"
#include "format/tuned.h"
#include "spec/device_spec.h"

/* One file that was named, with what lies beside it. */
struct report_source {
	char *path;
	char *label; /* what tells it from the others: the file's name without its endings */
	struct tuned tuned;
	bool has_tuned;
	struct journal_record journal;
	bool has_journal;
};

/* A configuration that a tuned file has, or the best so far of a search. */
struct report_result {
	const char *family;
	char *configuration; /* "BM=128,..."; of a composite family what serves its steps */
	double time_us, low_us, high_us;
	int64_t samples;
	double tflops, gb_per_s; /* 0: not known */
	int64_t spill_bytes;
	enum verified verified;
	struct score score; /* borrowed launches; launch_count 0: none */
};

/* One evaluation of the search. Times are those of the search, which compare with each other; the
 * best were timed again, interleaved. */
struct report_candidate {
	const struct evaluation *evaluation;
	const struct evaluation *remeasured; /* NULL: not among them */
	size_t family;                       /* index into the entry's family_names */
	size_t measured_rank, model_rank;    /* among those with a time, from 1; 0: no time */
};

struct report_entry {
	const struct report_source *source;
	const char *label; /* of the source, or the journal's run */
	char *operation;
	char *problem;         /* canonical text */
	char *title;           /* the same without keys that have their defaults */
	char *slug;            /* for file names and anchors; unique in the report */
	const struct run *run; /* NULL: not known */
	const struct gpu_model *device;
	const struct tuned_entry *tuned; /* NULL: the search did not end */
	struct device_spec *spec;        /* owned; NULL: no sheet */
	bool predicted;
	double flop; /* 0: not known */
	bool has_winner;
	struct report_result winner;
	struct report_result *families;
	size_t family_count;
	size_t tied_count;
	double product, legal;               /* of the space; 0: not known */
	const char *where;                   /* the sub-space that was searched, or NULL */
	struct report_candidate *candidates; /* in order of evaluation */
	size_t candidate_count;
	size_t ok_count;
	size_t best;         /* fastest candidate of the search; SIZE_MAX: none */
	size_t winner_index; /* among candidates; SIZE_MAX: not there */
	char **family_names; /* of candidates and families */
	size_t family_name_count;
	size_t outcomes[OUTCOME_COUNT];
	struct tuned_model quality; /* measured 0: not known */
};

struct report {
	struct report_source *sources;
	size_t source_count;
	struct report_entry *entries;
	size_t entry_count, entry_capacity;
	struct catalogue catalogue;
	bool has_catalogue;
	const char *const *config_folders; /* NULL-terminated; borrowed */
	char *notice;                      /* why the templates were not read, or NULL */
};

struct report_options {
	const char *const *paths; /* tuned files and journals */
	size_t path_count;
	const char *const *template_folders, *const *config_folders; /* NULL-terminated */
};

/* Errors: a file that cannot be read or is neither; nothing in any of them. */
enum status report_open(
	const struct report_options *options, struct report *report, struct error *err);
void report_release(struct report *report);

/* Index of a family among the entry's names; SIZE_MAX if it is not there. */
size_t report_family(const struct report_entry *entry, const char *family);
/* The longest launch's account, or NULL. */
const struct launch_score *report_longest(const struct score *score);
/* "?": not known. */
const char *report_device_name(const struct report_entry *entry);
/* Number of the path's entry that is a source, for colours and labels. */
size_t report_source_index(const struct report *report, const struct report_entry *entry);

#endif
