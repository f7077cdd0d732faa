/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "report/report.h"

static const char *const journal_endings[] = {".journal.jsonl", ".journal.jsonl.gz"};

static bool names_journal(const char *path)
{
	return string_ends_with(path, ".jsonl") || string_ends_with(path, ".jsonl.gz");
}

/* "out/h200.journal.jsonl.gz" -> "out/h200" */
static char *path_stem(const char *path)
{
	static const char *const endings[] = {
		".journal.jsonl.gz", ".journal.jsonl", ".jsonl.gz", ".jsonl", ".json.gz", ".json"};

	for (size_t i = 0; i < ARRAY_COUNT(endings); i++)
		if (string_ends_with(path, endings[i]))
			return string_copy_bytes(path, strlen(path) - strlen(endings[i]));
	return string_copy(path);
}

/* A journal's first line is a JSON object of its own, a tuned file's is not. */
static enum status is_journal(const char *path, bool *journal, struct error *err)
{
	struct text content = {0};
	enum status status;

	*journal = names_journal(path);
	if (*journal || string_ends_with(path, ".json"))
		return STATUS_OK;
	status = file_read(path, &content, err);
	if (status == STATUS_OK && content.length) {
		const char *newline = memchr(content.data, '\n', content.length);
		const char *event = strstr(content.data, "\"event\"");

		*journal = newline && event && event < newline;
	}
	text_release(&content);
	return status;
}

enum status report_source_open(const char *path, struct report_source *source, struct error *err)
{
	char *stem = path_stem(path);
	bool journal;
	enum status status = is_journal(path, &journal, err);

	*source = (struct report_source){
		.path = string_copy(path), .label = string_copy(path_name(stem))};
	if (status == STATUS_OK && journal) {
		status = journal_read(path, &source->journal, err);
		source->has_journal = status == STATUS_OK;
	} else if (status == STATUS_OK) {
		status = tuned_load(path, &source->tuned, err);
		source->has_tuned = status == STATUS_OK;
		for (size_t i = 0; i < ARRAY_COUNT(journal_endings) && status == STATUS_OK &&
				   !source->has_journal;
			i++) {
			char *beside = string_format("%s%s", stem, journal_endings[i]);

			if (file_exists(beside)) {
				status = journal_read(beside, &source->journal, err);
				source->has_journal = status == STATUS_OK;
			}
			free(beside);
		}
	}
	free(stem);
	return status;
}

void report_source_release(struct report_source *source)
{
	if (source->has_tuned)
		tuned_release(&source->tuned);
	if (source->has_journal)
		journal_record_release(&source->journal);
	free(source->path);
	free(source->label);
}

/* Whether the journal was read with its tuned file, which is named too. */
static bool is_beside_another(const struct report_options *options, size_t path)
{
	char *stem = path_stem(options->paths[path]);
	bool found = false;

	for (size_t i = 0; i < options->path_count && names_journal(options->paths[path]); i++) {
		char *other = path_stem(options->paths[i]);

		found |= i != path && !names_journal(options->paths[i]) && strcmp(stem, other) == 0;
		free(other);
	}
	free(stem);
	return found;
}

/* Templates only add to a report: without them, or with broken ones, it is made all the same. */
static void open_catalogue(const struct report_options *options, struct report *report)
{
	struct error err = {0};

	if (!options->template_folders)
		return;
	report->has_catalogue = catalogue_load(options->template_folders, NULL, &report->catalogue,
					&err) == STATUS_OK;
	if (!report->has_catalogue)
		report->notice = string_format("the templates are not read, so that illegal tile "
					       "shapes look like untried ones: %s",
			err.message);
}

static void copy_folders(const struct report_options *options, struct report *report)
{
	size_t count = 0;

	while (options->config_folders && options->config_folders[count])
		count++;
	report->config_folders = memory_zeroed(count + 1, sizeof(*report->config_folders));
	for (size_t i = 0; i < count; i++)
		report->config_folders[i] = string_copy(options->config_folders[i]);
}

enum status report_open(
	const struct report_options *options, struct report *report, struct error *err)
{
	enum status status = STATUS_OK;

	*report = (struct report){0};
	copy_folders(options, report);
	open_catalogue(options, report);
	/* entries point to their source: the array does not move */
	report->sources = memory_zeroed(options->path_count + 1, sizeof(*report->sources));
	for (size_t i = 0; i < options->path_count && status == STATUS_OK; i++) {
		if (is_beside_another(options, i))
			continue;
		status = report_source_open(
			options->paths[i], &report->sources[report->source_count++], err);
	}
	for (size_t i = 0; i < report->source_count && status == STATUS_OK; i++)
		status = report_entries_add(report, &report->sources[i], err);
	if (status == STATUS_OK && !report->entry_count)
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected at least one tuned problem, found none",
			options->path_count ? options->paths[0] : "report");
	if (status == STATUS_OK)
		report_titles(report);
	else
		report_release(report);
	return status;
}

void report_release(struct report *report)
{
	for (size_t i = 0; i < report->entry_count; i++)
		report_entry_release(&report->entries[i]);
	free(report->entries);
	for (size_t i = 0; i < report->source_count; i++)
		report_source_release(&report->sources[i]);
	free(report->sources);
	if (report->has_catalogue)
		catalogue_release(&report->catalogue);
	for (size_t i = 0; report->config_folders && report->config_folders[i]; i++)
		free(report->config_folders[i]);
	free(report->config_folders);
	free(report->notice);
	*report = (struct report){0};
}

const struct launch_score *report_longest(const struct score *score)
{
	return score->launch_count ? &score->launches[score->longest] : NULL;
}

size_t report_family(const struct report_entry *entry, const char *family)
{
	for (size_t i = 0; i < entry->family_name_count; i++)
		if (strcmp(entry->family_names[i], family) == 0)
			return i;
	return SIZE_MAX;
}

size_t report_source_index(const struct report *report, const struct report_entry *entry)
{
	return (size_t)(entry->source - report->sources);
}
