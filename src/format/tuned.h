/* SPDX-License-Identifier: MIT
 *
 * The tuned file stores the best configurations of one GPU model. Unknown members, which a newer
 * version wrote, survive a rewrite.
 */
#ifndef FORMAT_TUNED_H
#define FORMAT_TUNED_H

#include "base/json_list.h"
#include "family/catalogue.h"
#include "format/run.h"
#include "format/tuned_entry.h"

/* Identifies the last change of a file. */
struct tuned_version {
	uint64_t device, inode, size, seconds, nanoseconds;
};

struct tuned {
	char *path;                   /* file name for messages */
	struct tuned_version version; /* all 0: there was no file */
	struct gpu_model device;
	struct run *runs;
	size_t run_count;
	struct tuned_entry *entries;
	size_t entry_count;
	struct json *unknown; /* members of a newer version, or NULL */
};
RECORD_DECLARE(struct tuned, tuned_record);

/* Takes ownership of `device`. */
void tuned_init(struct tuned *tuned, const char *path, struct gpu_model device);
enum status tuned_load(const char *path, struct tuned *tuned, struct error *err);
/* Parses a file's content. Messages name `path`. */
enum status tuned_parse(
	const struct text *content, const char *path, struct tuned *tuned, struct error *err);
/* Checks a file while reading the list of its "entries". */
enum status tuned_check(struct json_list *list, struct error *err);
/* Returns whether this is a regular file that is not empty (`mktemp` creates empty files). */
bool tuned_exists(const char *path);
/* Adds keys that their operation did not have when entries were written. */
void tuned_complete(struct tuned *tuned, const struct catalogue *catalogue);
/* Merges what other processes wrote since the file was read. Retains entries of `run` and replaces
 * others; without `run` retains the later entry. */
enum status tuned_refresh(
	struct tuned *tuned, const char *path, const char *run, struct error *err);
/* Calls tuned_refresh() and writes the file, under a lock. */
enum status tuned_save(struct tuned *tuned, const char *path, const char *run, struct error *err);
enum status tuned_replace(struct tuned *tuned, const char *path, struct error *err);
void tuned_append(const struct tuned *tuned, struct text *text);
void tuned_release(struct tuned *tuned);

/* Fails with STATUS_BAD_INPUT if the file is for another GPU model. */
enum status tuned_expect_device(
	const struct tuned *tuned, const struct gpu_model *device, struct error *err);

struct tuned_entry *tuned_find(const struct tuned *tuned, const char *operation,
	const struct named_values *problem, enum objective objective);
struct tuned_entry *tuned_find_problem(
	const struct tuned *tuned, const struct problem *problem, enum objective objective);
const struct run *tuned_run(const struct tuned *tuned, const char *id);
/* Returns the run that measured the row, or NULL if the file does not list it. */
const struct run *tuned_row_run(
	const struct tuned *tuned, const struct tuned_entry *entry, const struct tuned_row *row);

/* An old row is valid if today's sources make its kernel and the new run did not try it. */
struct tuned_judge {
	bool (*is_still_valid)(const struct tuned_row *row, void *context);
	void *context;
};
/* Adds an entry, whose run is in the file, or merges it into the entry of the same problem. Takes
 * ownership. A prediction never replaces a measurement.
 *
 * Rows of families that the new run did not tune are retained and name the older run. A measured
 * row of another family is retained only if it is faster by more than both intervals and 1%, the
 * runs are comparable (driver, NVRTC, MIG, power limit; times are relative to the anchor kernel),
 * and the judge, which may be NULL, calls the row valid. The fastest row wins, or the new winner if
 * tied. *kept says why the old winner was retained, or is NULL. */
void tuned_put_entry(struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_judge *judge, const char **kept);
/* Adds a run, or replaces the run with the same id. Takes ownership. */
void tuned_put_run(struct tuned *tuned, struct run *run);
/* Copies the run unless `tuned` lists it; id may be NULL. */
void tuned_copy_run(struct tuned *tuned, const struct tuned *from, const char *id);

#endif
