/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_read.h"
#include "report/format.h"
#include "report/report_candidate.h"

/* ---- files ---- */
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
	CLEANUP(text_release) struct text content = {0};

	*journal = names_journal(path);
	if (*journal || string_ends_with(path, ".json"))
		return STATUS_OK;
	TRY(file_read(path, &content, err));
	if (content.length) {
		const char *newline = memchr(content.data, '\n', content.length);
		const char *event = strstr(content.data, "\"event\"");

		*journal = newline && event && event < newline;
	}
	return STATUS_OK;
}

static enum status read_source_journal(
	struct report_source *source, const char *path, struct error *err)
{
	TRY(journal_read(path, &source->journal, err));
	source->has_journal = true;
	return STATUS_OK;
}

static enum status source_open(const char *path, struct report_source *source, struct error *err)
{
	CLEANUP(memory_free) char *stem = path_stem(path);
	bool journal;

	*source = (struct report_source){
		.path = string_copy(path), .label = string_copy(path_name(stem))};
	TRY(is_journal(path, &journal, err));
	if (journal)
		return read_source_journal(source, path, err);
	TRY(tuned_load(path, &source->tuned, err));
	source->has_tuned = true;
	for (size_t i = 0; i < ARRAY_COUNT(journal_endings) && !source->has_journal; i++) {
		CLEANUP(memory_free) char *beside = string_format("%s%s", stem, journal_endings[i]);

		if (file_exists(beside))
			TRY(read_source_journal(source, beside, err));
	}
	return STATUS_OK;
}

static void source_release(struct report_source *source)
{
	if (source->has_tuned)
		tuned_release(&source->tuned);
	if (source->has_journal)
		journal_record_release(&source->journal);
	free(source->path);
	free(source->label);
}

/* ---- entries: those of a tuned file with the evaluations of the run that tuned them, and the
 * problems of a journal that was named itself ---- */
static struct report_entry *entry_add(struct report *report, const struct report_source *source)
{
	struct report_entry *entry;

	ARRAY_GROW(report->entries, report->entry_count, report->entry_capacity);
	entry = &report->entries[report->entry_count++];
	*entry = (struct report_entry){.source = source,
		.label = source->label,
		.best = SIZE_MAX,
		.winner_index = SIZE_MAX};
	return entry;
}

static void find_sheet(const struct report *report, struct report_entry *entry)
{
	if (entry->device && entry->device->sheet)
		device_spec_load(entry->device->sheet, report->config_folders, &entry->spec, NULL);
}

static struct report_result result_of(const struct tuned_row *row)
{
	return (struct report_result){.family = row->family,
		.configuration = tuned_row_configuration(row),
		.time_us = row->time.median,
		.low_us = row->time.ci95_low,
		.high_us = row->time.ci95_high,
		.samples = (int64_t)row->time.count,
		.tflops = row->tflops > 0 ? row->tflops : 0,
		.gb_per_s = row->gb_per_s > 0 ? row->gb_per_s : 0,
		.spill_bytes = row->spill_bytes > 0 ? row->spill_bytes : 0,
		.verified = row->verified,
		.score = row->score};
}

static void take_tuned(struct report_entry *entry, const struct tuned_entry *tuned)
{
	entry->tuned = tuned;
	entry->predicted = tuned->predicted;
	entry->winner = result_of(&tuned->winner);
	entry->has_winner = true;
	free(entry->problem);
	entry->problem = named_values_text(&tuned->problem);
	entry->flop = entry->winner.tflops * entry->winner.time_us * 1e6;
	entry->families = memory_zeroed(tuned->family_count + 1, sizeof(*entry->families));
	for (size_t i = 0; i < tuned->family_count; i++)
		entry->families[entry->family_count++] = result_of(&tuned->families[i]);
	entry->tied_count = tuned->tied_count;
	if (tuned->space) {
		entry->product = tuned->space->product;
		entry->legal = (double)tuned->space->legal;
	}
	if (tuned->model)
		entry->quality = *tuned->model;
}

/* The run of the journal that tuned this entry; else the last one that has its problem. */
static const struct journal_run *entry_run(
	const struct journal_record *journal, const struct report_entry *entry)
{
	const char *id = entry->tuned->run;
	const struct journal_run *last = NULL;

	for (size_t i = 0; i < journal->run_count; i++) {
		const struct journal_run *run = &journal->runs[i];

		if (!journal_problem_find(run, entry->operation, entry->problem))
			continue;
		if (strcmp(run->run.id, id) == 0)
			return run;
		last = run;
	}
	return last;
}

static void add_tuned(struct report *report, const struct report_source *source)
{
	for (size_t i = 0; i < source->tuned.entry_count; i++) {
		const struct tuned_entry *tuned = &source->tuned.entries[i];
		struct report_entry *entry = entry_add(report, source);

		entry->operation = string_copy(tuned->operation);
		entry->device = &source->tuned.device;
		entry->run = tuned_run(&source->tuned, tuned->run);
		take_tuned(entry, tuned);
		find_sheet(report, entry);
		report_candidates_take(entry, &source->journal,
			source->has_journal ? entry_run(&source->journal, entry) : NULL);
	}
}

/* Every problem of every run, but of a run that was resumed only what its successor lacks. */
static bool is_superseded(const struct journal_record *journal, const struct journal_run *run,
	const struct journal_problem *problem)
{
	for (size_t i = 0; i < journal->run_count; i++)
		if (journal_previous(journal, &journal->runs[i]) == run &&
			journal_problem_find(
				&journal->runs[i], problem->operation, problem->problem))
			return true;
	return false;
}

static void add_problem(struct report *report, const struct report_source *source,
	const struct journal_run *run, const struct journal_problem *problem)
{
	struct report_entry *entry = entry_add(report, source);

	if (source->journal.run_count > 1)
		entry->label = run->run.id;
	entry->operation = string_copy(problem->operation);
	entry->problem = string_copy(problem->problem);
	entry->run = &run->run;
	entry->device = &run->device;
	find_sheet(report, entry);
	if (problem->entry)
		take_tuned(entry, problem->entry);
	report_candidates_take(entry, &source->journal, run);
}

/* Appends the entries of a source. */
static void add_entries(struct report *report, const struct report_source *source)
{
	if (source->has_tuned)
		add_tuned(report, source);
	for (size_t i = 0; !source->has_tuned && i < source->journal.run_count; i++) {
		const struct journal_run *run = &source->journal.runs[i];

		for (size_t k = 0; k < run->problem_count; k++)
			if (!is_superseded(&source->journal, run, &run->problems[k]))
				add_problem(report, source, run, &run->problems[k]);
	}
}

static void entry_release(struct report_entry *entry)
{
	free(entry->winner.configuration);
	for (size_t i = 0; i < entry->family_count; i++)
		free(entry->families[i].configuration);
	for (size_t i = 0; i < entry->family_name_count; i++)
		free(entry->family_names[i]);
	free(entry->families);
	free(entry->family_names);
	free(entry->candidates);
	free(entry->operation);
	free(entry->problem);
	free(entry->title);
	free(entry->slug);
	device_spec_free(entry->spec);
}

/* ---- short names: a problem without the keys that follow from the others, and file names ---- */
/* list without its pair number `left_out`. */
static char *without(const char *list, size_t left_out)
{
	struct text text = {0};
	struct pair pair;

	for (size_t i = 0; pair_next(&list, &pair); i++)
		if (i != left_out)
			text_appendf(&text, "%s%.*s=%.*s", text.length ? "," : "", pair.name_length,
				pair.name, pair.value_length, pair.value);
	return text_detach(&text);
}

/* A key may go if the problem without it is the same problem. Keys that the operation got after the
 * file was written stand for their defaults. */
static char *shortened(const struct report *report, struct report_entry *entry)
{
	const struct operation *operation;
	struct pair pair;
	size_t pairs = 0;
	const char *at;
	char *title;

	if (!report->has_catalogue || catalogue_operation(&report->catalogue, entry->operation,
					      &operation, NULL) != STATUS_OK)
		return string_copy(entry->problem);
	problem_text_complete(operation, &entry->problem);
	at = title = string_copy(entry->problem);
	while (pair_next(&at, &pair))
		pairs++;
	for (size_t i = pairs; i-- > 0;) {
		CLEANUP(problem_list_release) struct problem_list list = {0};
		char *shorter = without(title, i);
		const bool same = problem_parse(operation, shorter, &list, NULL) == STATUS_OK &&
				  list.count == 1 &&
				  strcmp(list.items[0]->text, entry->problem) == 0;

		free(same ? title : shorter);
		title = same ? shorter : title;
	}
	return title;
}

static char *slug_of(const struct report_entry *entry)
{
	struct text text = {0};

	text_appendf(&text, "%s-", entry->operation);
	for (const char *at = entry->title; *at; at++) {
		if (isalnum((unsigned char)*at))
			text_append_char(&text, *at);
		else if (*at == ',')
			text_append_char(&text, '-');
		else if (*at != '=' || !isdigit((unsigned char)at[1]))
			text_append_char(&text, '_'); /* "M4096", but "dtype_bf16" */
	}
	return text_detach(&text);
}

static void name_entries(struct report *report)
{
	CLEANUP(memory_free)
	char **keys = memory_zeroed(report->entry_count + 1, sizeof(*keys));
	CLEANUP(memory_free) struct same_name *same = NULL;

	for (size_t i = 0; i < report->entry_count; i++) {
		struct report_entry *entry = &report->entries[i];
		CLEANUP(memory_free) char *title = shortened(report, entry);

		/* the objective is part of what the entry is, as the problem is */
		entry->title = entry->tuned && entry->tuned->objective != OBJECTIVE_TIME
				       ? string_format("%s (best %s)", title,
						 objective_names[entry->tuned->objective])
				       : string_copy(title);
		keys[i] = string_format("%s %s", entry->operation, entry->title);
	}
	same = names_same(keys, report->entry_count);
	for (size_t i = 0; i < report->entry_count; i++) {
		char *slug = slug_of(&report->entries[i]);

		report->entries[i].slug =
			same[i].before ? string_format("%s-%zu", slug, same[i].before + 1)
				       : string_copy(slug);
		free(slug);
		free(keys[i]);
	}
}

/* ---- the report ---- */
/* Whether the journal was read with its tuned file, which is named too. */
static bool is_beside_another(const struct report_options *options, size_t path)
{
	CLEANUP(memory_free) char *stem = path_stem(options->paths[path]);
	bool found = false;

	for (size_t i = 0; i < options->path_count && names_journal(options->paths[path]); i++) {
		CLEANUP(memory_free) char *other = path_stem(options->paths[i]);

		found |= i != path && !names_journal(options->paths[i]) && strcmp(stem, other) == 0;
	}
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

static enum status fill(
	const struct report_options *options, struct report *report, struct error *err)
{
	open_catalogue(options, report);
	/* entries point to their source: the array does not move */
	report->sources = memory_zeroed(options->path_count + 1, sizeof(*report->sources));
	for (size_t i = 0; i < options->path_count; i++)
		if (!is_beside_another(options, i))
			TRY(source_open(
				options->paths[i], &report->sources[report->source_count++], err));
	for (size_t i = 0; i < report->source_count; i++)
		add_entries(report, &report->sources[i]);
	if (!report->entry_count)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected at least one tuned problem, found none",
			options->path_count ? options->paths[0] : "report");
	name_entries(report);
	return STATUS_OK;
}

enum status report_open(
	const struct report_options *options, struct report *report, struct error *err)
{
	enum status status;

	*report = (struct report){.config_folders = options->config_folders};
	status = fill(options, report, err);
	if (status != STATUS_OK)
		report_release(report);
	return status;
}

void report_release(struct report *report)
{
	for (size_t i = 0; i < report->entry_count; i++)
		entry_release(&report->entries[i]);
	free(report->entries);
	for (size_t i = 0; i < report->source_count; i++)
		source_release(&report->sources[i]);
	free(report->sources);
	if (report->has_catalogue)
		catalogue_release(&report->catalogue);
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

const char *report_device_name(const struct report_entry *entry)
{
	return entry->device && entry->device->name ? entry->device->name : "?";
}
