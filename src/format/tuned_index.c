/* SPDX-License-Identifier: MIT */
#include "format/tuned_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/record_read.h"
#include "base/record_write.h"

/* The file: a line with a checksum of the rest; then for each file a line with tabs, its name,
 * inode, size and time, how many bytes its entries take, its GPU model (nothing: it is no tuned
 * file); after it a line for each entry. What is in JSON or a problem's text has no tabs and no
 * ends of lines. */
static const char format[] = "tiletune.index/1";

enum {
	FILE_FIELDS = 7,
	ENTRY_FIELDS = 5,
	FIELDS_MAX = FILE_FIELDS,
	HEADER_SIZE = 34 /* format, blank, 16 digits, end of the line */
};

void tuned_index_release(struct tuned_index *index)
{
	for (size_t i = 0; i < index->string_count; i++)
		free(index->strings[i]);
	free(index->strings);
	free(index->items);
	*index = (struct tuned_index){0};
}

char *tuned_index_keep(struct tuned_index *index, char *string)
{
	ARRAY_GROW(index->strings, index->string_count, index->string_capacity);
	index->strings[index->string_count++] = string;
	return string;
}

/* ---- lines ---- */
static void append_record(const struct record *record, const void *value, struct text *text)
{
	CLEANUP(json_release) struct json *json = record_to_json(record, value);
	CLEANUP(memory_free) char *printed = json_print(json, false);

	text_append(text, printed);
}

static void append_entries(const struct tuned *tuned, struct text *text)
{
	for (size_t i = 0; i < tuned->entry_count; i++) {
		const struct tuned_entry *entry = &tuned->entries[i];
		CLEANUP(memory_free) char *problem = named_values_text(&entry->problem);

		if (strpbrk(problem, "\t\n") || strpbrk(entry->operation, "\t\n"))
			continue;
		text_appendf(text, "%s\t%s\t%s\t%s\t", entry->predicted ? "predicted" : "measured",
			objective_names[entry->objective], entry->operation, problem);
		append_record(&tuned_choice_record, &entry->winner, text);
		text_append_char(text, '\n');
	}
}

/* Takes the next line apart, in place. False: it is not one. */
static bool take_line(char **at, const char *end, char *fields[FIELDS_MAX], size_t count)
{
	char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));

	if (!stop)
		return false;
	*stop = '\0';
	*at = stop + 1;
	for (size_t i = 0; i < count; i++) {
		fields[i] = line;
		line = strchr(line, '\t');
		if (!line != (i + 1 == count))
			return false;
		if (line)
			*line++ = '\0';
	}
	return true;
}

/* Adds the items of a file; false: these are no entries, and nothing was added. The bytes stay, and
 * end with a zero. */
static bool add_entries(struct tuned_index *index, const char *path, char *at, const char *end)
{
	const size_t count = index->count;

	while (at < end) {
		char *fields[FIELDS_MAX];
		int objective;

		if (!take_line(&at, end, fields, ENTRY_FIELDS) ||
			(objective = name_find(fields[1], objective_names)) < 0) {
			index->count = count;
			return false;
		}
		ARRAY_GROW(index->items, index->count, index->capacity);
		index->items[index->count++] = (struct tuned_index_item){.path = path,
			.predicted = strcmp(fields[0], "predicted") == 0,
			.objective = (enum objective)objective,
			.operation = fields[2],
			.problem = fields[3],
			.choice = fields[4]};
	}
	return true;
}

void tuned_index_add(struct tuned_index *index, const struct tuned *tuned)
{
	struct text text = {0};
	char *lines;

	append_entries(tuned, &text);
	if (!text.length)
		return;
	lines = tuned_index_keep(index, text_detach(&text));
	add_entries(index, tuned_index_keep(index, string_copy(tuned->path)), lines,
		lines + strlen(lines));
}

/* ---- files ---- */
struct block {
	char *name;
	struct tuned_version version;
	char *model; /* JSON; "": no tuned file */
	char *lines;
	size_t length;
};

struct folder {
	const char *path;
	struct text text;     /* the index as it was */
	struct block *blocks; /* of it, by name */
	size_t count, capacity, at;
	struct block *now; /* what is there */
	size_t now_count, now_capacity;
	struct tuned_index *index; /* keeps what is new */
	bool changed;
};

static void folder_release(struct folder *folder)
{
	text_release(&folder->text);
	free(folder->blocks);
	free(folder->now);
}

static bool parse_version(char *const fields[FILE_FIELDS], struct tuned_version *version)
{
	uint64_t *const members[] = {
		&version->inode, &version->size, &version->seconds, &version->nanoseconds};

	for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
		char *end;

		*members[i] = strtoull(fields[1 + i], &end, 10);
		if (end == fields[1 + i] || *end)
			return false;
	}
	return true;
}

static bool parse_blocks(struct folder *folder)
{
	char *at = folder->text.data + HEADER_SIZE;
	const char *end = folder->text.data + folder->text.length;

	while (at < end) {
		char *fields[FIELDS_MAX];
		struct block block = {0};

		if (!take_line(&at, end, fields, FILE_FIELDS) ||
			!parse_version(fields, &block.version))
			return false;
		block.name = fields[0];
		block.length = strtoull(fields[5], NULL, 10);
		block.model = fields[6];
		block.lines = at;
		if (block.length > (size_t)(end - at))
			return false;
		at += block.length;
		ARRAY_GROW(folder->blocks, folder->count, folder->capacity);
		folder->blocks[folder->count++] = block;
	}
	return true;
}

static void header(const char *rest, size_t length, char line[HEADER_SIZE + 1])
{
	snprintf(line, HEADER_SIZE + 1, "%s %016" PRIx64 "\n", format, hash_bytes(rest, length, 0));
}

/* What is no index is none. */
static void read_index(struct folder *folder, const char *path)
{
	char line[HEADER_SIZE + 1];

	if (file_read(path, &folder->text, NULL) != STATUS_OK || folder->text.length < HEADER_SIZE)
		return;
	header(folder->text.data + HEADER_SIZE, folder->text.length - HEADER_SIZE, line);
	if (memcmp(line, folder->text.data, HEADER_SIZE) != 0 || !parse_blocks(folder))
		folder->count = 0;
}

/* As all machines see it that share the folder. */
static struct tuned_version version_of(const char *path)
{
	struct tuned_version version = tuned_version_of(path);

	version.device = 0;
	return version;
}

static struct block read_file(struct folder *folder, const char *name, const char *path)
{
	struct block block = {.name = tuned_index_keep(folder->index, string_copy(name)),
		.version = version_of(path)};
	CLEANUP(tuned_release) struct tuned tuned = {0};
	struct text model = {0}, lines = {0};

	if (tuned_load(path, &tuned, NULL) == STATUS_OK) {
		append_record(&gpu_model_record, &tuned.device, &model);
		append_entries(&tuned, &lines);
	}
	block.length = lines.length;
	block.model = tuned_index_keep(folder->index, text_detach(&model));
	block.lines = tuned_index_keep(folder->index, text_detach(&lines));
	folder->changed = true;
	return block;
}

static enum status visit(const char *name, void *context, struct error *err)
{
	struct folder *folder = context;
	CLEANUP(memory_free) char *path = path_join(folder->path, name);
	const struct tuned_version version = version_of(path);
	const struct block *block;

	(void)err;
	if (!(string_ends_with(name, ".json") || string_ends_with(name, ".json.gz")) ||
		!version.inode || strpbrk(name, "\t\n") || access(path, R_OK) != 0)
		return STATUS_OK;
	while (folder->at < folder->count && strcmp(folder->blocks[folder->at].name, name) < 0) {
		folder->at++;
		folder->changed = true;
	}
	block = folder->at < folder->count ? &folder->blocks[folder->at] : NULL;
	ARRAY_GROW(folder->now, folder->now_count, folder->now_capacity);
	if (block && strcmp(block->name, name) == 0) {
		folder->at++;
		if (memcmp(&block->version, &version, sizeof(version)) == 0) {
			folder->now[folder->now_count++] = *block;
			return STATUS_OK;
		}
	}
	folder->now[folder->now_count++] = read_file(folder, name, path);
	return STATUS_OK;
}

static void write_index(const struct folder *folder, const char *path)
{
	CLEANUP(text_release) struct text text = {0};
	char line[HEADER_SIZE + 1];

	text_appendf(&text, "%*s", HEADER_SIZE, "");
	for (size_t i = 0; i < folder->now_count; i++) {
		const struct block *block = &folder->now[i];
		const struct tuned_version *version = &block->version;

		text_appendf(&text,
			"%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%zu\t%s\n",
			block->name, version->inode, version->size, version->seconds,
			version->nanoseconds, block->length, block->model);
		text_append_bytes(&text, block->lines, block->length);
	}
	header(text.data + HEADER_SIZE, text.length - HEADER_SIZE, line);
	memcpy(text.data, line, HEADER_SIZE);
	/* it is of use, and no more */
	(void)file_write(path, text.data, text.length, NULL);
}

static bool is_model(const char *json, const struct gpu_model *device)
{
	CLEANUP(json_release) struct json *tree = NULL;
	CLEANUP(gpu_model_release) struct gpu_model model = {0};
	struct json_at at;

	if (!*json || json_parse(json, strlen(json), "index", &tree, NULL) != STATUS_OK)
		return false;
	at = json_root(tree, "index");
	return record_from_json(&gpu_model_record, &at, &model, NULL, NULL) == STATUS_OK &&
	       gpu_model_same(&model, device);
}

enum status tuned_index_add_folder(struct tuned_index *index, const char *path,
	const struct gpu_model *device, struct error *err)
{
	CLEANUP(folder_release) struct folder folder = {.path = path, .index = index};
	CLEANUP(memory_free) char *file = path_join(path, ".tiletune.index");
	bool same = false;

	read_index(&folder, file);
	TRY(directory_list(path, visit, &folder, err));
	if (folder.changed || folder.at < folder.count)
		write_index(&folder, file);
	for (size_t i = 0; i < folder.now_count && device; i++) {
		const struct block *block = &folder.now[i];

		/* mostly the same as the file before */
		if (!i || strcmp(block->model, block[-1].model) != 0)
			same = is_model(block->model, device);
		if (same && block->length)
			add_entries(index, tuned_index_keep(index, path_join(path, block->name)),
				block->lines, block->lines + block->length);
	}
	if (folder.text.data)
		tuned_index_keep(index, text_detach(&folder.text));
	return STATUS_OK;
}
