/* SPDX-License-Identifier: MIT
 *
 * The tuned file: the best configurations of one GPU model, what other builds consume.
 *
 * Kept as its JSON tree, so that members written by a newer version survive a re-write; this module
 * knows the order of keys and the rules: an entry is replaced only by its own canonical problem;
 * predicted never replaces measured; re-tuning some families replaces their rows, unless the old
 * ones are better and still hold, and decides the winner anew; a file of another GPU model is
 * refused.
 */
#ifndef FORMAT_TUNED_H
#define FORMAT_TUNED_H

#include <stdbool.h>

#include "base/json.h"
#include "base/statistics.h"
#include "spec/device_spec.h"

#define TUNED_FORMAT "tiletune.tuned/1"

struct tuned {
	struct json *root;
	char *path; /* for messages */
};

/* An empty tuned file for this device. device: the JSON of tuned_device_json(). Takes device. */
void tuned_init(struct tuned *tuned, const char *path, struct json *device);
/* Errors: unreadable, not of the format, with file and JSON path. */
enum status tuned_load(const char *path, struct tuned *tuned, struct error *err);
enum status tuned_save(const struct tuned *tuned, const char *path, struct error *err);
void tuned_release(struct tuned *tuned);

/* {name, title, compute_capability, sm_count, ...}. name: the driver's name of a real GPU or the
 * sheet's title. */
struct json *tuned_device_json(const struct device_spec *spec, const char *name);
/* STATUS_BAD_INPUT if the file is for another GPU model (compute capability, SM count, name). */
enum status tuned_same_device(
	const struct tuned *tuned, const struct json *device, struct error *err);

/* The entry with this canonical problem, or false. */
bool tuned_find(const struct tuned *tuned, const char *operation, const struct json *problem,
	struct json_at *entry);
/* Whether an old row of a family that was tuned again is still worth what it says: its kernel is
 * what the sources make today, and it was not tried again. */
struct tuned_judge {
	bool (*stands)(const struct json_at *row, void *context);
	void *context;
};
/* Adds or replaces (see above); takes entry. Rows of families that the new run did not tune stay
 * and get "run", the run that they are of. A row of a family that was tuned again stays, too, if it
 * is measured and faster than the new one by more than both intervals and 1%, the runs can be
 * compared (driver, NVRTC, MIG and power limit; times relative to the anchor kernel's) and the
 * judge lets it stand; without a judge it is replaced. The fastest row wins, the new winner if it
 * ties with it (1%). The entry's run must be listed before. *kept says why the old winner stayed,
 * or NULL. */
void tuned_put_entry(struct tuned *tuned, struct json *entry, const struct tuned_judge *judge,
	const char **kept);
void tuned_put_run(struct tuned *tuned, struct json *run); /* by its id; takes run */

/* Whether two canonical problems are the same: same members, same values. */
bool tuned_same_problem(const struct json *a, const struct json *b);

/* {median, ci95_low, ci95_high, samples} */
struct json *tuned_time_json(const struct summary *time);

#endif
