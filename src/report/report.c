/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

static const char *const journal_endings[] = {".journal.jsonl", ".journal.jsonl.gz"};

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

/* The first line of a journal is a complete JSON object. */
static enum status is_journal(const char *path, bool *journal, struct error *err)
{
	CLEANUP(text_release) struct text content = {0};

	*journal = journal_is_named(path);
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
	source->journal_path = string_copy(path);
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
	for (size_t i = 0; i < ARRAY_COUNT(journal_endings) && !source->journal_path; i++) {
		CLEANUP(memory_free)
		char *journal_path = string_format("%s%s", stem, journal_endings[i]);

		if (file_is_regular(journal_path))
			TRY(read_source_journal(source, journal_path, err));
	}
	return STATUS_OK;
}

static void source_release(struct report_source *source)
{
	tuned_release(&source->tuned);
	journal_record_release(&source->journal);
	free(source->journal_path);
	free(source->path);
	free(source->label);
}

/* ---- the search of a problem: a run and the runs that it resumed ---- */
static void take_best_so_far(struct report_entry *entry, const struct result *best)
{
	const struct score *score = &best->score;

	entry->winner = best;
	entry->configuration = string_copy(best->configuration);
	if (score->launch_count && score->predicted_tflops > 0)
		entry->tflops =
			score->predicted_tflops * score->predicted_time_us / best->time.median;
	entry->predicted = best->predicted;
}

/* If a resumed run evaluated a candidate again, the newest result counts. */
static void take_candidates(struct report_entry *entry)
{
	CLEANUP(name_set_release) struct name_set seen = {0};
	const struct result *best = NULL;

	for (size_t i = 0; i < entry->search_count; i++) {
		const struct journal_problem *problem = entry->searches[i].problem;

		for (size_t k = 0; k < problem->result_count; k++) {
			const struct result *result = &problem->results[k];
			CLEANUP(memory_free)
			char *name = string_format("%s %s", result->family, result->configuration);

			if (name_set_has(&seen, name, strlen(name)))
				continue;
			name_set_add(&seen, name, strlen(name));
			entry->outcomes[result->outcome]++;
			if (result->outcome == OUTCOME_OK && result->time.count &&
				(!best || result->time.median < best->time.median))
				best = result;
		}
	}
	if (entry->legal <= 0 && entry->search_count) {
		const struct journal_problem *problem = entry->searches[0].problem;

		for (size_t i = 0; i < problem->family_count; i++)
			entry->legal += (double)problem->families[i].legal;
	}
	if (!entry->winner && best)
		take_best_so_far(entry, best);
}

static void take_searches(struct report_entry *entry, const struct journal_record *journal,
	const struct journal_run *run)
{
	entry->searches = memory_zeroed(journal->run_count + 1, sizeof(*entry->searches));
	for (; run; run = journal_previous(journal, run)) {
		const struct journal_problem *problem =
			journal_problem_find(run, entry->operation, entry->problem);

		if (problem)
			entry->searches[entry->search_count++] =
				(struct report_search){run, problem};
	}
	take_candidates(entry);
}

static struct report_entry *entry_add(struct report *report, const struct report_source *source)
{
	struct report_entry *entry;

	ARRAY_GROW(report->entries, report->entry_count, report->entry_capacity);
	entry = &report->entries[report->entry_count++];
	*entry = (struct report_entry){.source = source, .label = source->label};
	return entry;
}

static void take_tuned(struct report_entry *entry, const struct tuned_entry *tuned)
{
	const struct tuned_row *row = &tuned->winner;

	entry->tuned = tuned;
	entry->predicted = tuned->predicted;
	entry->winner = &row->result;
	entry->configuration = tuned_row_configuration(row);
	entry->tflops = row->tflops > 0 ? row->tflops : 0;
	free(entry->problem);
	entry->problem = named_values_text(&tuned->problem);
	entry->legal = tuned->space ? (double)tuned->space->legal : 0;
}

/* The run that tuned this entry, else the last run with its problem. */
static const struct journal_run *entry_run(
	const struct journal_record *journal, const struct report_entry *entry)
{
	const struct journal_run *last = NULL;

	for (size_t i = 0; i < journal->run_count; i++) {
		const struct journal_run *run = &journal->runs[i];

		if (!journal_problem_find(run, entry->operation, entry->problem))
			continue;
		if (strcmp(run->run.id, entry->tuned->run) == 0)
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
		take_searches(entry, &source->journal, entry_run(&source->journal, entry));
	}
}

/* Returns whether a resumed run's problem is also in its successor, and so is shown there. */
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
	if (problem->entry)
		take_tuned(entry, problem->entry);
	take_searches(entry, &source->journal, run);
}

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
	free(entry->configuration);
	free(entry->operation);
	free(entry->problem);
	free(entry->title);
	free(entry->searches);
}

static char *shortened(const struct report *report, struct report_entry *entry)
{
	CLEANUP(problem_list_release) struct problem_list list = {0};
	const struct operation *operation;

	if (catalogue_operation(&report->catalogue, entry->operation, &operation, NULL) !=
			STATUS_OK ||
		problem_parse(operation, entry->problem, &list, NULL) != STATUS_OK ||
		list.count != 1)
		return string_copy(entry->problem);
	free(entry->problem);
	entry->problem = string_copy(list.items[0]->text);
	return string_copy(list.items[0]->title);
}

static char *entry_title(const struct report *report, struct report_entry *entry)
{
	char *title = shortened(report, entry), *whole;

	if (!entry->tuned || entry->tuned->objective == OBJECTIVE_TIME)
		return title;
	whole = string_format("%s (best %s)", title, objective_names[entry->tuned->objective]);
	free(title);
	return whole;
}

/* Returns whether this is the journal of a tuned file that is also named. */
static bool is_read_with_another(const struct report_options *options, size_t path)
{
	CLEANUP(memory_free) char *stem = path_stem(options->paths[path]);
	bool found = false;

	for (size_t i = 0; i < options->path_count && journal_is_named(options->paths[path]); i++) {
		CLEANUP(memory_free) char *other = path_stem(options->paths[i]);

		found |= i != path && !journal_is_named(options->paths[i]) &&
			 strcmp(stem, other) == 0;
	}
	return found;
}

/* Missing or broken templates are no error. */
static void open_catalogue(const struct report_options *options, struct report *report)
{
	struct error err = {0};

	if (catalogue_load(options->template_folders, NULL, &report->catalogue, &err) == STATUS_OK)
		catalogue_show_defaults(&report->catalogue, options->shows_defaults);
	else
		report->notice = string_format(
			"the templates cannot be read, so titles show every key: %s", err.message);
}

enum status report_open(
	const struct report_options *options, struct report *report, struct error *err)
{
	*report = (struct report){0};
	open_catalogue(options, report);
	/* entries point to their source, so the array must not move */
	report->sources = memory_zeroed(options->path_count + 1, sizeof(*report->sources));
	for (size_t i = 0; i < options->path_count; i++)
		if (!is_read_with_another(options, i))
			TRY(source_open(
				options->paths[i], &report->sources[report->source_count++], err));
	for (size_t i = 0; i < report->source_count; i++)
		add_entries(report, &report->sources[i]);
	if (!report->entry_count)
		return error_set(err, STATUS_BAD_INPUT, "%s: there is no tuned problem to report",
			options->path_count ? options->paths[0] : "report");
	for (size_t i = 0; i < report->entry_count; i++)
		report->entries[i].title = entry_title(report, &report->entries[i]);
	return STATUS_OK;
}

void report_release(struct report *report)
{
	for (size_t i = 0; i < report->entry_count; i++)
		entry_release(&report->entries[i]);
	free(report->entries);
	for (size_t i = 0; i < report->source_count; i++)
		source_release(&report->sources[i]);
	free(report->sources);
	catalogue_release(&report->catalogue);
	free(report->notice);
	*report = (struct report){0};
}
