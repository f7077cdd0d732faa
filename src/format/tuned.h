/* SPDX-License-Identifier: MIT
 *
 * The tuned file stores the best configurations of one GPU model. Other builds read it.
 *
 * Unknown members of the file, of an entry or of a row, which a newer version wrote, survive a
 * rewrite. This module enforces the rules of the file: an entry replaces only the entry with the
 * same canonical problem, and a prediction never replaces a measurement. Tuning some families
 * again replaces their rows, unless the old rows are faster and still valid, and selects the
 * winner again. A file of another GPU model is refused.
 */
#ifndef FORMAT_TUNED_H
#define FORMAT_TUNED_H

#include "family/catalogue.h"
#include "format/run.h"
#include "format/tuned_entry.h"

/* Identifies a file and its last change, to detect that another process wrote it. */
struct tuned_version {
	uint64_t device, inode, size, seconds, nanoseconds;
};

struct tuned {
	char *path; /* for messages */
	struct tuned_version
		version; /* of the file when it was read or written; all 0: there was no file */
	struct gpu_model device;
	struct run *runs;
	size_t run_count;
	struct tuned_entry *entries;
	size_t entry_count;
	struct json *unknown; /* members from a newer version, or NULL */
};
RECORD_DECLARE(struct tuned, tuned_record);

/* Makes an empty tuned file for this GPU model, and takes ownership of `device`. */
void tuned_init(struct tuned *tuned, const char *path, struct gpu_model device);
/* Fails if the file cannot be read or does not match the format; the message names the file and
 * the JSON path. */
enum status tuned_load(const char *path, struct tuned *tuned, struct error *err);
/* Parses the content of a tuned file; `path` is used in messages. */
enum status tuned_parse(
	const struct text *content, const char *path, struct tuned *tuned, struct error *err);
/* Whether path is a regular file that is not empty. Empty files count as absent, because
 * `mktemp` creates them. */
bool tuned_exists(const char *path);
/* Adds default values to entries that lack keys of their operation, because they were written
 * before it had these keys. They are then found by their canonical problem. */
void tuned_complete(struct tuned *tuned, const struct catalogue *catalogue);
/* Merges entries that other processes wrote to path since it was read. If both have an entry for
 * a problem, the entry of `run` stays, or else the file's; without `run` the later entry stays.
 * Families that only the other entry has are added to it. */
enum status tuned_refresh(
	struct tuned *tuned, const char *path, const char *run, struct error *err);
/* Merges as tuned_refresh() does and writes the file; no other process can write in between. */
enum status tuned_save(struct tuned *tuned, const char *path, const char *run, struct error *err);
/* Writes the file and replaces an existing one. */
enum status tuned_replace(struct tuned *tuned, const char *path, struct error *err);
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
/* Returns NULL if unknown. */
const struct run *tuned_run(const struct tuned *tuned, const char *id);
/* The run that measured a row of an entry. Returns NULL if it is not listed. */
const struct run *tuned_row_run(
	const struct tuned *tuned, const struct tuned_entry *entry, const struct tuned_row *row);

/* Decides whether the old row of a family that was tuned again is still valid: today's sources
 * make the same kernel, and the new run did not try it. */
struct tuned_judge {
	bool (*is_still_valid)(const struct tuned_row *row, void *context);
	void *context;
};
/* Adds an entry, or merges it into the entry with the same problem; takes ownership of its
 * content. The entry's run must be in the file already.
 *
 * Rows of families that the new run did not tune stay, and their "run" names the older run. A
 * measured row of a family that was tuned again stays only if three things hold: it is faster
 * than the new row by more than both intervals and 1%; the two runs are comparable (driver,
 * NVRTC, MIG and power limit; times are compared relative to the anchor kernel); and the judge
 * calls it valid. Without a judge, or if it is of the same run, it goes. The fastest row wins;
 * the new winner also wins if it ties with it (1%). *kept says why the old winner stayed, or is
 * NULL. */
void tuned_put_entry(struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_judge *judge, const char **kept);
/* Adds a run, or replaces the run with the same id; takes ownership of its content. */
void tuned_put_run(struct tuned *tuned, struct run *run);
/* Adds a copy of a run that another file lists, unless this file lists it; id may be NULL. */
void tuned_copy_run(struct tuned *tuned, const struct tuned *from, const char *id);

#endif
