/* SPDX-License-Identifier: MIT */
#include "format/tuned_tree.h"

#include <string.h>

#include "base/record_read.h"
#include "base/record_write.h"

void tuned_tree_refresh(struct tuned *tuned)
{
	json_free(tuned->root);
	tuned->root = record_to_json(&tuned_record, tuned);
}

static void read_it(const struct record *record, struct json *json, void *value)
{
	const struct json_at at = json_root(json, "");
	struct error err = {0};

	if (record_from_json(record, &at, value, NULL, &err) != STATUS_OK)
		BUG("%s", err.message);
	json_free(json);
}

void tuned_init_json(struct tuned *tuned, const char *path, struct json *device)
{
	struct gpu_model model = {0};

	read_it(&gpu_model_record, device, &model);
	tuned_init(tuned, path, model);
}

bool tuned_same_problem(const struct json *a, const struct json *b)
{
	const struct json_at x = json_root(a, ""), y = json_root(b, "");

	if (json_count(&x) != json_count(&y))
		return false;
	for (size_t i = 0; i < json_count(&x); i++) {
		const struct json_at member = json_item(&x, i);
		struct json_at other;

		if (!json_find(&y, member.key, &other) || !json_same(member.node, other.node))
			return false;
	}
	return true;
}

bool tuned_find_json(const struct tuned *tuned, const char *operation, const struct json *problem,
	struct json_at *found)
{
	const struct json_at root = json_root(tuned->root, tuned->path);
	struct json_at entries;

	if (!json_find(&root, "entries", &entries))
		return false;
	for (size_t i = 0; i < json_count(&entries); i++) {
		const struct json_at entry = json_item(&entries, i);
		struct json_at at;
		const char *name;

		if (json_member_string(&entry, "operation", &name, NULL) == STATUS_OK &&
			strcmp(name, operation) == 0 && json_find(&entry, "problem", &at) &&
			tuned_same_problem(at.node, problem)) {
			*found = json_root(entry.node, tuned->path);
			return true;
		}
	}
	return false;
}

void tuned_put_entry_json(
	struct tuned *tuned, struct json *json, const struct tuned_judge *judge, const char **kept)
{
	struct tuned_entry entry = {0};

	read_it(&tuned_entry_record, json, &entry);
	tuned_put_entry(tuned, &entry, judge, kept);
}

void tuned_put_run_json(struct tuned *tuned, struct json *json)
{
	struct run run = {0};

	read_it(&run_record, json, &run);
	tuned_put_run(tuned, &run);
}

struct json *tuned_device_json(const struct device_spec *spec, const char *name)
{
	struct gpu_model model = gpu_model_of(spec, name);
	struct json *json = record_to_json(&gpu_model_record, &model);

	gpu_model_release(&model);
	return json;
}

enum status tuned_same_device(
	const struct tuned *tuned, const struct json *device, struct error *err)
{
	struct gpu_model model = {0};
	enum status status;

	read_it(&gpu_model_record, json_copy(device), &model);
	status = tuned_expect_device(tuned, &model, err);
	gpu_model_release(&model);
	return status;
}

struct json *tuned_time_json(const struct summary *time)
{
	return record_to_json(&time_record, time);
}

struct json *tuned_row_json(const struct tuned_row *row)
{
	return record_to_json(&tuned_row_record, row);
}
