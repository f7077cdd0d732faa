/* SPDX-License-Identifier: MIT
 *
 * The entries of a report: those of a tuned file with the evaluations of the run that tuned them,
 * and the problems of a journal without one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/report_candidate.h"

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
	const char *sheet = report_string(&entry->device, "sheet");
	struct error ignored = {0};

	if (sheet && device_spec_load(sheet, (const char *const *)report->config_folders,
			     &entry->spec, &ignored) != STATUS_OK)
		entry->spec = NULL;
}

/* What "entry" of a journal or an element of "entries" says. */
static enum status entry_read(
	struct report_entry *entry, const struct json_at *at, struct error *err)
{
	struct json_at winner, families, tied, space, model, problem;
	const char *timing = report_string(at, "timing");

	entry->json = *at;
	entry->json.parent = NULL; /* the parents' cursors live on the caller's stack */
	entry->predicted = timing && strcmp(timing, "predicted") == 0;
	if (json_member(at, "problem", &problem, err) != STATUS_OK ||
		json_member(at, "winner", &winner, err) != STATUS_OK ||
		report_result_read(&winner, &entry->winner, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	entry->has_winner = true;
	free(entry->problem);
	entry->problem = report_members(&problem);
	entry->flop = entry->winner.tflops * entry->winner.time_us * 1e6;
	if (report_find(at, "families", &families)) {
		size_t count = json_count(&families);

		entry->families = memory_zeroed(count + 1, sizeof(*entry->families));
		for (size_t i = 0; i < count; i++) {
			struct json_at row = json_item(&families, i);

			if (report_result_read(&row, &entry->families[entry->family_count++],
				    err) != STATUS_OK)
				return STATUS_BAD_INPUT;
		}
	}
	if (report_find(at, "tied", &tied))
		entry->tied_count = json_count(&tied);
	if (report_find(at, "space", &space)) {
		entry->product = report_number(&space, "product");
		entry->legal = report_number(&space, "legal");
	}
	if (report_find(at, "model", &model)) {
		static const char *const regrets[REPORT_TOPS] = {
			"regret_top1", "regret_top4", "regret_top8", "regret_top16"};

		entry->quality.measured = (size_t)report_number(&model, "measured");
		entry->quality.rank_correlation = report_number(&model, "rank_correlation");
		entry->quality.rank_of_best = (size_t)report_number(&model, "rank_of_best");
		for (int i = 0; i < REPORT_TOPS; i++)
			entry->quality.regret[i] = report_number(&model, regrets[i]);
	}
	return STATUS_OK;
}

/* The run of the journal that tuned this entry; else the last one that has its problem. */
static const struct journal_run *entry_run(
	const struct journal_record *journal, const struct report_entry *entry)
{
	const char *id = report_string(&entry->json, "run");
	const struct journal_run *last = NULL;

	for (size_t i = 0; i < journal->run_count; i++) {
		const struct journal_run *run = &journal->runs[i];

		if (!journal_problem_find(run, entry->operation, entry->problem))
			continue;
		if (id && strcmp(run->id, id) == 0)
			return run;
		last = run;
	}
	return last;
}

static struct json_at run_of_tuned(const struct tuned *tuned, const char *id)
{
	struct json_at root = json_root(tuned->root, tuned->path), runs, none = {0};

	if (!json_find(&root, "runs", &runs))
		return none;
	for (size_t i = 0; id && i < json_count(&runs); i++) {
		struct json_at run = json_item(&runs, i);
		const char *own = report_string(&run, "id");

		run.parent = NULL;
		if (own && strcmp(own, id) == 0)
			return run;
	}
	return none;
}

static enum status add_tuned(
	struct report *report, const struct report_source *source, struct error *err)
{
	struct json_at root = json_root(source->tuned.root, source->path), entries, device;

	if (json_member(&root, "entries", &entries, err) != STATUS_OK ||
		json_member(&root, "device", &device, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	device.parent = NULL;
	for (size_t i = 0; i < json_count(&entries); i++) {
		struct json_at item = json_item(&entries, i);
		struct report_entry *entry = entry_add(report, source);

		entry->operation = string_copy(report_string(&item, "operation"));
		entry->device = device;
		if (entry_read(entry, &item, err) != STATUS_OK)
			return error_context(err, "%s", source->path);
		entry->run = run_of_tuned(&source->tuned, report_string(&item, "run"));
		find_sheet(report, entry);
		report_candidates_take(entry, &source->journal,
			source->has_journal ? entry_run(&source->journal, entry) : NULL);
	}
	return STATUS_OK;
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

static enum status add_problem(struct report *report, const struct report_source *source,
	const struct journal_run *run, const struct journal_problem *problem, struct error *err)
{
	struct report_entry *entry = entry_add(report, source);

	if (source->journal.run_count > 1)
		entry->label = run->id;
	entry->operation = string_copy(problem->operation);
	entry->problem = string_copy(problem->problem);
	entry->run = json_root(run->line, source->path);
	report_find(&entry->run, "device", &entry->device);
	entry->device.parent = NULL;
	find_sheet(report, entry);
	if (problem->entry) {
		struct json_at at = json_root(problem->entry, source->path);

		if (entry_read(entry, &at, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	report_candidates_take(entry, &source->journal, run);
	return STATUS_OK;
}

enum status report_entries_add(
	struct report *report, const struct report_source *source, struct error *err)
{
	enum status status = STATUS_OK;

	if (source->has_tuned)
		return add_tuned(report, source, err);
	for (size_t i = 0; i < source->journal.run_count; i++) {
		const struct journal_run *run = &source->journal.runs[i];

		for (size_t k = 0; k < run->problem_count && status == STATUS_OK; k++)
			if (!is_superseded(&source->journal, run, &run->problems[k]))
				status = add_problem(report, source, run, &run->problems[k], err);
	}
	return status;
}

void report_entry_release(struct report_entry *entry)
{
	report_result_release(&entry->winner);
	for (size_t i = 0; i < entry->family_count; i++)
		report_result_release(&entry->families[i]);
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
