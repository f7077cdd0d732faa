/* SPDX-License-Identifier: MIT */
#include "format/tuned.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "record/record_read.h"
#include "record/record_write.h"
#include "format/merge.h"

static const struct record_member tuned_members[] = {
	RECORD_CONSTANT("format", "tiletune.tuned/1"),
	RECORD_NESTED(struct tuned, device, gpu_model_record, "device"),
	RECORD_RECORDS(struct tuned, runs, run_count, run_record, "runs"),
	RECORD_RECORDS(struct tuned, entries, entry_count, tuned_entry_record, "entries"),
};
RECORD_DEFINE(struct tuned, tuned_record, tuned_members, .name = "tuned", .open = true);

void tuned_init(struct tuned *tuned, const char *path, struct gpu_model device)
{
	*tuned = (struct tuned){.path = string_copy(path),
		.device = device,
		.runs = memory_zeroed(1, sizeof(*tuned->runs)),
		.entries = memory_zeroed(1, sizeof(*tuned->entries)),
		.index = memory_zeroed(1, sizeof(*tuned->index))};
}

/* All members are 0 unless the path is a regular file. */
static struct tuned_version tuned_version_of(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		return (struct tuned_version){0};
	return (struct tuned_version){info.st_dev, info.st_ino, (uint64_t)info.st_size,
		(uint64_t)info.st_mtim.tv_sec, (uint64_t)info.st_mtim.tv_nsec};
}

/* Entries on their way into a file. */
struct loading {
	bool packs;
	struct tuned_entry *entries;
	size_t count, capacity;
	enum status status; /* of the first that is none */
	struct error err;
	bool (*wants)(const struct json_text *entry, void *context);
	void *context;
};

static bool wants_entry(const struct json_text *entry, void *context)
{
	const struct loading *loading = context;

	return !loading->wants || loading->wants(entry, loading->context);
}

static void load_entry(const struct json_at *at, void *context)
{
	struct loading *loading = context;

	if (loading->status != STATUS_OK)
		return;
	ARRAY_GROW(loading->entries, loading->count + 1, loading->capacity);
	loading->entries[loading->count] = loading->entries[loading->count + 1] =
		(struct tuned_entry){0};
	loading->status = record_from_json(
		&tuned_entry_record, at, &loading->entries[loading->count], NULL, &loading->err);
	if (loading->status == STATUS_OK && loading->packs)
		tuned_entry_pack(&loading->entries[loading->count]);
	loading->count += loading->status == STATUS_OK;
}

static void loading_release(struct loading *loading)
{
	for (size_t i = 0; i < loading->count; i++)
		tuned_entry_release(&loading->entries[i]);
	free(loading->entries);
}

static enum status load(
	const char *path, const struct loading *how, struct tuned *tuned, struct error *err)
{
	CLEANUP(loading_release) struct loading loading = *how;
	const struct json_elements elements = {
		.list = "entries", .wants = wants_entry, .visit = load_entry, .context = &loading};
	CLEANUP(json_release) struct json *tree = NULL;
	struct json_at root;

	*tuned = (struct tuned){.version = tuned_version_of(path)};
	TRY(json_load_elements(path, &elements, &tree, err));
	root = json_root(tree, path);
	/* another format says so before its members do */
	TRY(json_expect(&root, JSON_OBJECT, err));
	TRY(json_expect_format(&root, "tiletune.tuned/1", err));
	TRY(record_from_json(&tuned_record, &root, tuned, NULL, err));
	if (loading.status != STATUS_OK) {
		tuned_release(tuned);
		if (err)
			*err = loading.err;
		return loading.status;
	}
	if (loading.count) {
		free(tuned->entries);
		tuned->entries = loading.entries;
		tuned->entry_count = loading.count;
		loading = (struct loading){0};
	}
	tuned->path = string_copy(path);
	tuned->index = memory_zeroed(1, sizeof(*tuned->index));
	return STATUS_OK;
}

enum status tuned_load(const char *path, struct tuned *tuned, struct error *err)
{
	return load(path, &(struct loading){0}, tuned, err);
}

enum status tuned_load_packed(const char *path, struct tuned *tuned, struct error *err)
{
	return load(path, &(struct loading){.packs = true}, tuned, err);
}

enum status tuned_load_wanted(const char *path,
	bool (*wants)(const struct json_text *entry, void *context), void *context,
	struct tuned *tuned, struct error *err)
{
	return load(path, &(struct loading){.wants = wants, .context = context}, tuned, err);
}

struct tuned *tuned_open(struct tuned *tuned)
{
	for (size_t i = 0; i < tuned->entry_count; i++)
		tuned_entry_open(&tuned->entries[i]);
	return tuned;
}

static bool wants_none(const struct json_text *entry, void *context)
{
	(void)entry;
	(void)context;
	return false;
}

bool tuned_is_file(const char *path)
{
	CLEANUP(json_release) struct json *around = NULL;
	const struct json_elements entries = {.list = "entries", .wants = wants_none};
	struct json_at root;

	if (!file_is_regular(path) ||
		json_load_elements(path, &entries, &around, NULL) != STATUS_OK)
		return false;
	root = json_root(around, path);
	return json_type(&root) == JSON_OBJECT &&
	       json_expect_format(&root, "tiletune.tuned/1", NULL) == STATUS_OK;
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
		tuned_entry_open(entry);
		named_values_release(&entry->problem);
		entry->problem = problem_named_values(problem);
		problem_free(problem);
		tuned_index_clear(tuned->index);
	}
}

/* As an element of the file's list, which begins two levels deep. */
static void append_entry(const struct tuned_entry *entry, struct text *text)
{
	CLEANUP(memory_free) char *printed = tuned_entry_text(entry);

	for (const char *line = printed; *line;) {
		const size_t length = strcspn(line, "\n");

		text_append_bytes(text, line, length);
		line += length;
		if (*line++ != '\n')
			return;
		text_append(text, "\n\t\t");
	}
}

/* An entry at a time: together their text would take more memory than they do. */
static enum status write_file(int fd, const void *context, struct error *err)
{
	static const char end[] = "]\n}\n";
	static const size_t piece = 1 << 20;
	struct tuned around = *(const struct tuned *)context;
	const size_t count = around.entry_count;
	CLEANUP(json_release) struct json *tree = NULL;
	CLEANUP(text_release) struct text text = {0};

	around.entry_count = 0;
	tree = record_to_json(&tuned_record, &around);
	json_append(tree, true, &text);
	text_cut(&text, text.length - strlen(end));
	for (size_t i = 0; i < count; i++) {
		text_append(&text, i ? ", " : "");
		append_entry(&around.entries[i], &text);
		if (text.length < piece)
			continue;
		TRY(file_write_all(fd, text.data, text.length, err));
		text_clear(&text);
	}
	text_append(&text, end);
	return file_write_all(fd, text.data, text.length, err);
}

enum status tuned_replace(struct tuned *tuned, const char *path, struct error *err)
{
	TRY(file_write_by(path, write_file, tuned, err));
	tuned->version = tuned_version_of(path);
	return STATUS_OK;
}

enum status tuned_refresh(struct tuned *tuned, const char *path, const char *run, struct error *err)
{
	CLEANUP(tuned_release) struct tuned theirs = {0};
	struct merge_summary ignored = {0};
	const struct tuned_version now = tuned_version_of(path);

	if (!now.inode || memcmp(&now, &tuned->version, sizeof(now)) == 0)
		return STATUS_OK;
	TRY(tuned_load_packed(path, &theirs, err));
	TRY(tuned_merge(tuned, &theirs, run, &ignored, err));
	tuned->version = theirs.version;
	return STATUS_OK;
}

enum status tuned_save(struct tuned *tuned, const char *path, const char *run, struct error *err)
{
	CLEANUP(file_unlock) int lock = -1;

	TRY(file_lock(path, &lock, err));
	TRY(tuned_refresh(tuned, path, run, err));
	return tuned_replace(tuned, path, err);
}

void tuned_release(struct tuned *tuned)
{
	record_release(&tuned_record, tuned);
	free(tuned->path);
	if (tuned->index)
		tuned_index_clear(tuned->index);
	free(tuned->index);
	*tuned = (struct tuned){0};
}

enum status tuned_expect_device(
	const struct tuned *tuned, const struct gpu_model *device, struct error *err)
{
	if (gpu_model_same(&tuned->device, device))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT,
		"%s: expected a tuned file of %s, found one of %s; it was not changed", tuned->path,
		device->name, tuned->device.name);
	if (tuned->device.sheet)
		return error_hint(err,
			"write to another file with -o; --device model:%s is the file's GPU",
			tuned->device.sheet);
	return error_hint(err, "write to another file with -o, or name the file's GPU by --device");
}

struct tuned_entry *tuned_find_packed(const struct tuned *tuned, const char *operation,
	const struct named_values *problem, enum objective objective)
{
	struct tuned_index own = {0};
	struct tuned_entry *found = tuned_index_find(tuned->index ? tuned->index : &own,
		tuned->entries, tuned->entry_count, operation, problem, objective);

	tuned_index_clear(&own);
	return found;
}

struct tuned_entry *tuned_find(const struct tuned *tuned, const char *operation,
	const struct named_values *problem, enum objective objective)
{
	struct tuned_entry *found = tuned_find_packed(tuned, operation, problem, objective);

	if (found)
		tuned_entry_open(found);
	return found;
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
	tuned_rows_margin(entry);
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
