/* SPDX-License-Identifier: MIT
 *
 * The tuned file as a JSON tree, for readers that are not typed yet: tuned->root.
 */
#ifndef FORMAT_TUNED_TREE_H
#define FORMAT_TUNED_TREE_H

#include "format/tuned.h"

void tuned_tree_refresh(struct tuned *tuned);
void tuned_init_json(struct tuned *tuned, const char *path, struct json *device);
bool tuned_find_json(const struct tuned *tuned, const char *operation, const struct json *problem,
	struct json_at *entry);
void tuned_put_entry_json(struct tuned *tuned, struct json *entry, const struct tuned_judge *judge,
	const char **kept);
void tuned_put_run_json(struct tuned *tuned, struct json *run);
struct json *tuned_device_json(const struct device_spec *spec, const char *name);
enum status tuned_same_device(
	const struct tuned *tuned, const struct json *device, struct error *err);
bool tuned_same_problem(const struct json *a, const struct json *b);
struct json *tuned_time_json(const struct summary *time);
struct json *tuned_row_json(const struct tuned_row *row);

#endif
