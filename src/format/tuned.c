/* SPDX-License-Identifier: MIT */
#include "format/tuned.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "base/file.h"
#include "record/record_write.h"
#include "format/merge.h"

static const struct record_member tuned_members[] = {
	RECORD_CONSTANT("format", "tiletune.tuned/1"),
	RECORD_NESTED(struct tuned, device, gpu_model_record, "device"),
	RECORD_RECORDS(struct tuned, runs, run_count, run_record, "runs"),
	RECORD_RECORDS(struct tuned, entries, entry_count, tuned_entry_record, "entries"),
	RECORD_UNKNOWN(struct tuned, unknown),
};
RECORD_DEFINE(struct tuned, tuned_record, tuned_members, .name = "tuned", .open = true);

void tuned_init(struct tuned *tuned, const char *path, struct gpu_model device)
{
	*tuned = (struct tuned){.path = string_copy(path),
		.device = device,
		.runs = memory_zeroed(1, sizeof(*tuned->runs)),
		.entries = memory_zeroed(1, sizeof(*tuned->entries))};
}

/* Returns zeros if the path is not a regular file. */
static struct tuned_version tuned_version_of(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		return (struct tuned_version){0};
	return (struct tuned_version){info.st_dev, info.st_ino, (uint64_t)info.st_size,
		(uint64_t)info.st_mtim.tv_sec, (uint64_t)info.st_mtim.tv_nsec};
}

bool tuned_exists(const char *path)
{
	return tuned_version_of(path).size > 0;
}

/* Keeps at most `most` entries. */
static enum status read_list(
	struct json_list *list, size_t most, struct tuned *tuned, struct error *err)
{
	const char *found;
	size_t capacity = 0;
	struct json_at element;
	enum status status;

	/* check the format before members, which would give misleading errors */
	TRY(json_expect(&list->root, JSON_OBJECT, err));
	found = json_string_of(&list->root, "format");
	if (json_expect_format(&list->root, "tiletune.tuned/1", err) != STATUS_OK)
		return found && string_starts_with(found, "tiletune.own_kernel/")
			       ? error_hint(err, "tune this kernel: tiletune tune %s -o tuned.json",
					 list->file)
			       : STATUS_BAD_INPUT;
	TRY(record_from_json(&tuned_record, &list->root, tuned, NULL, err));
	while (json_list_next(list, &element, &status, err)) {
		struct tuned_entry entry = {0};

		TRY(record_from_json(&tuned_entry_record, &element, &entry, NULL, err));
		if (tuned->entry_count == most) {
			tuned_entry_release(&entry);
			continue;
		}
		ARRAY_GROW(tuned->entries, tuned->entry_count + 1, capacity);
		tuned->entries[tuned->entry_count++] = entry;
	}
	return status;
}

enum status tuned_check(struct json_list *list, struct error *err)
{
	CLEANUP(tuned_release) struct tuned tuned = {0};

	return read_list(list, 0, &tuned, err);
}

enum status tuned_parse(
	const struct text *content, const char *path, struct tuned *tuned, struct error *err)
{
	CLEANUP(json_list_release) struct json_list list = {0};
	CLEANUP(tuned_release) struct tuned read = {0};

	TRY(json_list_open(text_string(content), content->length, path, "entries", &list, err));
	TRY(read_list(&list, SIZE_MAX, &read, err));
	read.path = string_copy(path);
	*tuned = read;
	read = (struct tuned){0};
	return STATUS_OK;
}

enum status tuned_load(const char *path, struct tuned *tuned, struct error *err)
{
	const struct tuned_version version = tuned_version_of(path);
	CLEANUP(text_release) struct text content = {0};

	TRY(file_read(path, &content, err));
	TRY(tuned_parse(&content, path, tuned, err));
	tuned->version = version;
	return STATUS_OK;
}

void tuned_complete(struct tuned *tuned, const struct catalogue *catalogue)
{
	for (size_t i = 0; i < tuned->entry_count; i++) {
		struct tuned_entry *entry = &tuned->entries[i];
		const struct operation *operation;
		struct problem *problem;

		if (catalogue_operation(catalogue, entry->operation, &operation, NULL) !=
				STATUS_OK ||
			entry->problem.count >= operation->key_count ||
			problem_from_named_values(operation, &entry->problem, &problem, NULL) !=
				STATUS_OK)
			continue;
		named_values_release(&entry->problem);
		entry->problem = problem_named_values(problem);
		problem_free(problem);
	}
}

/* ---- writing: each member, run and entry has its own line ---- */
static void append_list(
	struct text *text, const struct record *record, const void *items, size_t count)
{
	text_append(text, "[");
	for (size_t i = 0; i < count; i++) {
		CLEANUP(json_release)
		struct json *json = record_to_json(record, (const char *)items + i * record->size);
		CLEANUP(memory_free) char *line = json_print(json, false);

		text_appendf(text, "%s\n%s", i ? "," : "", line);
	}
	text_append(text, count ? "\n]" : "]");
}

static void append_member(
	struct text *text, const struct tuned *tuned, const struct json_at *member)
{
	CLEANUP(memory_free) char *value = NULL;

	text_appendf(text, "\"%s\": ", member->key);
	if (strcmp(member->key, "runs") == 0) {
		append_list(text, &run_record, tuned->runs, tuned->run_count);
	} else if (strcmp(member->key, "entries") == 0) {
		append_list(text, &tuned_entry_record, tuned->entries, tuned->entry_count);
	} else {
		value = json_print(member->node, false);
		text_append(text, value);
	}
}

void tuned_append(const struct tuned *tuned, struct text *text)
{
	struct tuned around = *tuned;
	CLEANUP(json_release) struct json *tree = NULL;
	struct json_at root, member = {0};

	around.run_count = around.entry_count = 0;
	tree = record_to_json(&tuned_record, &around);
	root = json_root(tree, NULL);
	while (json_next(&root, &member)) {
		text_append(text, member.index ? ",\n" : "{\n");
		append_member(text, tuned, &member);
	}
	text_append(text, "\n}\n");
}

enum status tuned_replace(struct tuned *tuned, const char *path, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	tuned_append(tuned, &text);
	TRY(file_write(path, text.data, text.length, err));
	tuned->version = tuned_version_of(path);
	return STATUS_OK;
}

enum status tuned_refresh(struct tuned *tuned, const char *path, const char *run, struct error *err)
{
	CLEANUP(tuned_release) struct tuned theirs = {0};
	struct merge_summary ignored = {0};
	const struct tuned_version now = tuned_version_of(path);

	if (!now.size || memcmp(&now, &tuned->version, sizeof(now)) == 0)
		return STATUS_OK;
	TRY(tuned_load(path, &theirs, err));
	TRY(tuned_merge(tuned, &theirs, run, &ignored, err));
	tuned->version = theirs.version;
	return STATUS_OK;
}

enum status tuned_save(struct tuned *tuned, const char *path, const char *run, struct error *err)
{
	CLEANUP(file_unlock) struct file_lock lock = {.fd = -1};

	TRY(file_lock(path, &lock, err));
	TRY(tuned_refresh(tuned, path, run, err));
	return tuned_replace(tuned, path, err);
}

void tuned_release(struct tuned *tuned)
{
	record_release(&tuned_record, tuned);
	free(tuned->path);
	*tuned = (struct tuned){0};
}

enum status tuned_expect_device(
	const struct tuned *tuned, const struct gpu_model *device, struct error *err)
{
	if (gpu_model_same(&tuned->device, device))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT,
		"%s: the file is for %s with %" PRId64 " SMs, not for %s with %" PRId64
		" SMs; it was not changed",
		tuned->path, tuned->device.name, tuned->device.sm_count, device->name,
		device->sm_count);
	if (tuned->device.sheet)
		return error_hint(err,
			"write to another file with -o FILE, or tune for the file's GPU with "
			"--device model:%s",
			tuned->device.sheet);
	return error_hint(
		err, "write to another file with -o FILE, or tune on the file's GPU with --device");
}

struct tuned_entry *tuned_find(const struct tuned *tuned, const char *operation,
	const struct named_values *problem, enum objective objective)
{
	for (size_t i = 0; i < tuned->entry_count; i++) {
		struct tuned_entry *entry = &tuned->entries[i];

		if (entry->objective == objective && strcmp(entry->operation, operation) == 0 &&
			named_values_equal(&entry->problem, problem))
			return entry;
	}
	return NULL;
}

struct tuned_entry *tuned_find_problem(
	const struct tuned *tuned, const struct problem *problem, enum objective objective)
{
	CLEANUP(named_values_release) struct named_values values = problem_named_values(problem);

	return tuned_find(tuned, problem->operation->name, &values, objective);
}

const struct run *tuned_run(const struct tuned *tuned, const char *id)
{
	for (size_t i = 0; i < tuned->run_count; i++)
		if (strcmp(tuned->runs[i].id, id) == 0)
			return &tuned->runs[i];
	return NULL;
}

const struct run *tuned_row_run(
	const struct tuned *tuned, const struct tuned_entry *entry, const struct tuned_row *row)
{
	return tuned_run(tuned, row->run ? row->run : entry->run);
}

void tuned_put_entry(struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_judge *judge, const char **kept)
{
	struct tuned_entry *old =
		tuned_find(tuned, entry->operation, &entry->problem, entry->objective);

	*kept = NULL;
	if (old && !old->predicted && entry->predicted) {
		*kept = "a measured entry is not replaced by a predicted one";
		tuned_entry_release(entry);
		return;
	}
	if (old && old->predicted == entry->predicted)
		tuned_rows_merge(tuned, entry, old, judge, kept);
	if (old) {
		tuned_entry_release(old);
	} else {
		tuned->entries = memory_resize(
			tuned->entries, tuned->entry_count + 2, sizeof(*tuned->entries));
		old = &tuned->entries[tuned->entry_count++];
	}
	*old = *entry;
	*entry = (struct tuned_entry){0};
}

void tuned_put_run(struct tuned *tuned, struct run *run)
{
	size_t kept = 0;

	for (size_t i = 0; i < tuned->run_count; i++) {
		if (strcmp(tuned->runs[i].id, run->id) == 0)
			run_release(&tuned->runs[i]);
		else
			tuned->runs[kept++] = tuned->runs[i];
	}
	tuned->runs = memory_resize(tuned->runs, kept + 2, sizeof(*tuned->runs));
	tuned->runs[kept++] = *run;
	tuned->run_count = kept;
	*run = (struct run){0};
}

void tuned_copy_run(struct tuned *tuned, const struct tuned *from, const char *id)
{
	const struct run *run = id ? tuned_run(from, id) : NULL;
	struct run copy = {0};

	if (!run || tuned_run(tuned, id))
		return;
	record_copy(&run_record, run, &copy);
	tuned_put_run(tuned, &copy);
}
