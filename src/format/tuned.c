/* SPDX-License-Identifier: MIT */
#include "format/tuned.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

void tuned_init(struct tuned *tuned, const char *path, struct json *device)
{
	tuned->path = string_copy(path);
	tuned->root = json_new_object();
	json_put_string(tuned->root, "format", TUNED_FORMAT);
	json_put(tuned->root, "device", device);
	json_put(tuned->root, "runs", json_new_array());
	json_put(tuned->root, "entries", json_new_array());
}

/* What every consumer may rely on without asking again. */
static enum status check_entry(const struct json_at *entry, struct error *err)
{
	struct json_at problem, winner, configuration, time;
	const char *text;
	double median;

	if (json_member_string(entry, "operation", &text, err) != STATUS_OK ||
		json_member_string(entry, "timing", &text, err) != STATUS_OK ||
		json_member(entry, "problem", &problem, err) != STATUS_OK ||
		json_expect(&problem, JSON_OBJECT, err) != STATUS_OK ||
		json_member(entry, "winner", &winner, err) != STATUS_OK ||
		json_member_string(&winner, "family", &text, err) != STATUS_OK ||
		json_member(&winner, "configuration", &configuration, err) != STATUS_OK ||
		json_expect(&configuration, JSON_OBJECT, err) != STATUS_OK ||
		json_member(&winner, "time_us", &time, err) != STATUS_OK ||
		json_member_double(&time, "median", &median, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return STATUS_OK;
}

enum status tuned_load(const char *path, struct tuned *tuned, struct error *err)
{
	struct json_at root, device, entries, runs;
	enum status status;

	*tuned = (struct tuned){0};
	status = json_load(path, &tuned->root, err);
	if (status != STATUS_OK)
		return status;
	tuned->path = string_copy(path);
	root = json_root(tuned->root, tuned->path);
	if (json_expect(&root, JSON_OBJECT, err) != STATUS_OK ||
		json_expect_format(&root, TUNED_FORMAT, err) != STATUS_OK ||
		json_member(&root, "device", &device, err) != STATUS_OK ||
		json_expect(&device, JSON_OBJECT, err) != STATUS_OK ||
		json_member(&root, "runs", &runs, err) != STATUS_OK ||
		json_expect(&runs, JSON_ARRAY, err) != STATUS_OK ||
		json_member(&root, "entries", &entries, err) != STATUS_OK ||
		json_expect(&entries, JSON_ARRAY, err) != STATUS_OK)
		status = STATUS_BAD_INPUT;
	for (size_t i = 0; status == STATUS_OK && i < json_count(&entries); i++) {
		struct json_at entry = json_item(&entries, i);

		status = check_entry(&entry, err);
	}
	if (status != STATUS_OK)
		tuned_release(tuned);
	return status;
}

enum status tuned_save(const struct tuned *tuned, const char *path, struct error *err)
{
	char *printed = json_print(tuned->root, true);
	struct text text = {0};
	enum status status;

	text_appendf(&text, "%s\n", printed);
	status = file_write(path, text.data, text.length, err);
	text_release(&text);
	free(printed);
	return status;
}

void tuned_release(struct tuned *tuned)
{
	json_free(tuned->root);
	free(tuned->path);
	*tuned = (struct tuned){0};
}

struct json *tuned_device_json(const struct device_spec *spec, const char *name)
{
	struct json *device = json_new_object();

	json_put_string(device, "name", name);
	json_put_string(device, "sheet", spec->from_sheet ? spec->name : NULL);
	json_put_int(device, "compute_capability", spec->compute_capability);
	json_put_string(device, "arch", spec->arch);
	json_put_int(device, "sm_count", spec->sm_count);
	json_put_int(device, "l2_bytes", spec->l2_bytes);
	json_put_int(device, "dram_bytes", spec->dram_bytes);
	json_put_int(device, "smem_per_sm_bytes", spec->smem_per_sm_bytes);
	json_put_int(device, "smem_per_block_bytes", spec->smem_per_block_bytes);
	json_put_int(device, "regs_per_sm", spec->regs_per_sm);
	return device;
}

static bool has_text(const struct json_at *object, const char *key)
{
	struct json_at member;

	return json_find(object, key, &member) && json_type(&member) == JSON_STRING;
}

static bool same_member(const struct json_at *a, const struct json_at *b, const char *key)
{
	struct json_at x, y;

	return json_find(a, key, &x) && json_find(b, key, &y) && json_same(x.node, y.node);
}

enum status tuned_same_device(
	const struct tuned *tuned, const struct json *device, struct error *err)
{
	/* a sheet and the real GPU that it matches are one model, whatever the driver calls it */
	static const char *const identity[] = {"compute_capability", "sm_count"};
	struct json_at root = json_root(tuned->root, tuned->path), theirs;
	struct json_at ours = json_root(device, "this run");
	const char *their_name = "?", *our_name = "?";
	bool same;

	if (json_member(&root, "device", &theirs, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	same = (has_text(&ours, "sheet") && same_member(&theirs, &ours, "sheet")) ||
	       same_member(&theirs, &ours, "name");
	for (size_t i = 0; i < ARRAY_COUNT(identity); i++)
		same = same && same_member(&theirs, &ours, identity[i]);
	if (same)
		return STATUS_OK;
	json_member_string(&theirs, "name", &their_name, NULL);
	json_member_string(&ours, "name", &our_name, NULL);
	error_set(err, STATUS_BAD_INPUT,
		"%s: expected a tuned file of %s, found one of %s; it was not changed", tuned->path,
		our_name, their_name);
	return error_hint(err, "write to another file with -o");
}

bool tuned_same_problem(const struct json *a, const struct json *b)
{
	struct json_at x = json_root(a, ""), y = json_root(b, "");

	if (json_count(&x) != json_count(&y))
		return false;
	for (size_t i = 0; i < json_count(&x); i++) {
		struct json_at member = json_item(&x, i);

		if (!same_member(&x, &y, member.key))
			return false;
	}
	return true;
}

bool tuned_find(const struct tuned *tuned, const char *operation, const struct json *problem,
	struct json_at *found)
{
	/* cursors borrow their parents, and these end here: the path in later messages starts anew
	 */
	struct json_at root = json_root(tuned->root, tuned->path), entries;

	if (!json_find(&root, "entries", &entries))
		return false;
	for (size_t i = 0; i < json_count(&entries); i++) {
		struct json_at entry = json_item(&entries, i), at;
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

struct json *tuned_time_json(const struct summary *time)
{
	struct json *json = json_new_object();

	json_put_double(json, "median", time->median);
	json_put_double(json, "ci95_low", time->ci95_low);
	json_put_double(json, "ci95_high", time->ci95_high);
	json_put_int(json, "samples", (int64_t)time->count);
	return json;
}
