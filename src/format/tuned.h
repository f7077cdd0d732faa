/* SPDX-License-Identifier: MIT
 *
 * The tuned file: the best configurations of one GPU model, what other builds consume.
 *
 * Members that a newer version wrote, of the file, an entry or a row, survive a rewrite. This
 * module knows the rules: an entry is replaced only by its own canonical problem; predicted never
 * replaces measured; re-tuning some families replaces their rows, unless the old ones are better
 * and still hold, and selects the winner again; a file of another GPU model is refused.
 */
#ifndef FORMAT_TUNED_H
#define FORMAT_TUNED_H

#include "family/catalogue.h"
#include "format/run.h"
#include "format/tuned_entry.h"

/* Identifies a file and its last change: a file that another process wrote differs. */
struct tuned_version {
	uint64_t device, inode, size, seconds, nanoseconds;
};

struct tuned {
	char *path;                   /* for messages */
	struct tuned_version version; /* of the file as it was read or written; 0: there was none */
	struct gpu_model device;
	struct run *runs;
	size_t run_count;
	struct tuned_entry *entries;
	size_t entry_count;
	struct json *unknown; /* members that a newer version wrote; NULL: none */
};
RECORD_DECLARE(struct tuned, tuned_record);

/* An empty tuned file for this GPU model, which is taken. */
void tuned_init(struct tuned *tuned, const char *path, struct gpu_model device);
/* Errors: unreadable, not of the format, with file and JSON path. */
enum status tuned_load(const char *path, struct tuned *tuned, struct error *err);
/* As above, of the file's content. */
enum status tuned_parse(
	const struct text *content, const char *path, struct tuned *tuned, struct error *err);
/* Whether there is a regular file that is not empty; `mktemp` makes empty ones. */
bool tuned_exists(const char *path);
/* Entries that were written before their operation had all of its keys get the defaults of those
 * that they lack: they are then found by their canonical problem. */
void tuned_complete(struct tuned *tuned, const struct catalogue *catalogue);
/* Merges the entries that other processes have written to path since it was read. Of two entries of
 * one problem the caller's (run) stays, if it has one, else the file's; without run, the later
 * one. It gets the families that only the other one has. */
enum status tuned_refresh(
	struct tuned *tuned, const char *path, const char *run, struct error *err);
/* Writes it, refreshed: nothing comes between. */
enum status tuned_save(struct tuned *tuned, const char *path, const char *run, struct error *err);
/* Writes it; an existing file is replaced. */
enum status tuned_replace(struct tuned *tuned, const char *path, struct error *err);
/* The content of its file. */
void tuned_append(const struct tuned *tuned, struct text *text);
void tuned_release(struct tuned *tuned);

/* STATUS_BAD_INPUT if the file is for another GPU model. */
enum status tuned_expect_device(
	const struct tuned *tuned, const struct gpu_model *device, struct error *err);

/* The entry with this canonical problem and objective, or NULL. */
struct tuned_entry *tuned_find(const struct tuned *tuned, const char *operation,
	const struct named_values *problem, enum objective objective);
struct tuned_entry *tuned_find_problem(
	const struct tuned *tuned, const struct problem *problem, enum objective objective);
const struct run *tuned_run(const struct tuned *tuned, const char *id); /* or NULL */
/* The run that measured a row of an entry, or NULL. */
const struct run *tuned_row_run(
	const struct tuned *tuned, const struct tuned_entry *entry, const struct tuned_row *row);

/* Whether an old row of a family that was tuned again is still worth what it says: its kernel is
 * what the sources make today, and it was not tried again. */
struct tuned_judge {
	bool (*stands)(const struct tuned_row *row, void *context);
	void *context;
};
/* Adds or replaces (see above); takes what entry holds. Rows of families that the new run did not
 * tune stay and get "run", the run that they are of. A row of a family that was tuned again stays,
 * too, if it is measured and faster than the new one by more than both intervals and 1%, the runs
 * can be compared (driver, NVRTC, MIG and power limit; times relative to the anchor kernel's) and
 * the judge lets it stand; without a judge it is replaced. The fastest row wins, the new winner if
 * it ties with it (1%). Rows of the same run are replaced, or go. The entry's run must be listed
 * before. *kept says why the old winner stayed, or NULL. */
void tuned_put_entry(struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_judge *judge, const char **kept);
/* Adds a run or replaces the one with its id; takes what run holds. */
void tuned_put_run(struct tuned *tuned, struct run *run);
/* Adds a copy of a run that another file lists, unless it is there; id may be NULL. */
void tuned_copy_run(struct tuned *tuned, const struct tuned *from, const char *id);

#endif
