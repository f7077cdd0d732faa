/* SPDX-License-Identifier: MIT
 *
 * The entries of a report: those of a tuned file with the evaluations of the run that tuned them,
 * and the problems of a journal that stands alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/report.h"

static bool find(const struct json_at *object, const char *key, struct json_at *member)
{
	return object->node && json_find(object, key, member);
}

static double number_of(const struct json_at *object, const char *key)
{
	struct json_at member;
	double value = 0;

	if (find(object, key, &member) && json_type(&member) == JSON_NUMBER)
		json_get_double(&member, &value, NULL);
	return value;
}

static const char *string_of(const struct json_at *object, const char *key)
{
	struct json_at member;
	const char *value = NULL;

	if (find(object, key, &member) && json_type(&member) == JSON_STRING)
		json_get_string(&member, &value, NULL);
	return value;
}

/* {"M": 4096, "dtype": "bf16"} -> "M=4096,dtype=bf16" */
static char *members_text(const struct json_at *object)
{
	struct text text = {0};

	for (size_t i = 0; i < json_count(object); i++) {
		struct json_at member = json_item(object, i);
		const char *string = "";
		char *printed = NULL;

		if (json_type(&member) == JSON_STRING)
			json_get_string(&member, &string, NULL);
		else
			string = printed = json_print(member.node, false);
		text_appendf(&text, "%s%s=%s", i ? "," : "", member.key, string);
		free(printed);
	}
	return text_detach(&text);
}

/* "gemm/mma {BM=128,...} + gemm/mma {...}" */
static char *steps_text(const struct json_at *steps)
{
	struct text text = {0};

	for (size_t i = 0; i < json_count(steps); i++) {
		struct json_at step = json_item(steps, i), configuration;
		const char *family = string_of(&step, "family");
		char *members = find(&step, "configuration", &configuration)
					? members_text(&configuration)
					: string_copy("");

		text_appendf(&text, "%s%s {%s}", i ? " + " : "", family ? family : "?", members);
		free(members);
	}
	return text_detach(&text);
}

enum status report_result_read(
	const struct json_at *at, struct report_result *result, struct error *err)
{
	struct json_at configuration, steps, time, score;
	const char *family;

	*result = (struct report_result){0};
	if (json_member_string(at, "family", &family, err) != STATUS_OK ||
		json_member(at, "configuration", &configuration, err) != STATUS_OK ||
		json_member(at, "time_us", &time, err) != STATUS_OK ||
		json_member_double(&time, "median", &result->time_us, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(at, "score", &score) &&
		score_from_json(&score, &result->score, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	result->family = string_copy(family);
	result->configuration =
		json_find(at, "steps", &steps) ? steps_text(&steps) : members_text(&configuration);
	result->low_us = number_of(&time, "ci95_low");
	result->high_us = number_of(&time, "ci95_high");
	result->samples = (int64_t)number_of(&time, "samples");
	result->tflops = number_of(at, "tflops");
	result->gb_per_s = number_of(at, "gb_per_s");
	result->spill_bytes = (int64_t)number_of(at, "spill_bytes");
	return STATUS_OK;
}

void report_result_release(struct report_result *result)
{
	free(result->family);
	free(result->configuration);
	score_release(&result->score);
}

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
	const char *sheet = string_of(&entry->device, "sheet");
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
	const char *timing = string_of(at, "timing");

	entry->json = *at;
	entry->json.parent = NULL; /* the parents' cursors live on the caller's stack */
	entry->predicted = timing && strcmp(timing, "predicted") == 0;
	if (json_member(at, "problem", &problem, err) != STATUS_OK ||
		json_member(at, "winner", &winner, err) != STATUS_OK ||
		report_result_read(&winner, &entry->winner, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	entry->has_winner = true;
	free(entry->problem);
	entry->problem = members_text(&problem);
	entry->flop = entry->winner.tflops * entry->winner.time_us * 1e6;
	if (find(at, "families", &families)) {
		size_t count = json_count(&families);

		entry->families = memory_zeroed(count + 1, sizeof(*entry->families));
		for (size_t i = 0; i < count; i++) {
			struct json_at row = json_item(&families, i);

			if (report_result_read(&row, &entry->families[entry->family_count++],
				    err) != STATUS_OK)
				return STATUS_BAD_INPUT;
		}
	}
	if (find(at, "tied", &tied))
		entry->tied_count = json_count(&tied);
	if (find(at, "space", &space)) {
		entry->product = number_of(&space, "product");
		entry->legal = number_of(&space, "legal");
	}
	if (find(at, "model", &model)) {
		static const char *const regrets[REPORT_TOPS] = {
			"regret_top1", "regret_top4", "regret_top8", "regret_top16"};

		entry->quality.measured = (size_t)number_of(&model, "measured");
		entry->quality.rank_correlation = number_of(&model, "rank_correlation");
		entry->quality.rank_of_best = (size_t)number_of(&model, "rank_of_best");
		for (int i = 0; i < REPORT_TOPS; i++)
			entry->quality.regret[i] = number_of(&model, regrets[i]);
	}
	return STATUS_OK;
}

/* The run of the journal that tuned this entry; else the last one that has its problem. */
static const struct journal_run *entry_run(
	const struct journal_record *journal, const struct report_entry *entry)
{
	const char *id = string_of(&entry->json, "run");
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
		const char *own = string_of(&run, "id");

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

		entry->operation = string_copy(string_of(&item, "operation"));
		entry->device = device;
		if (entry_read(entry, &item, err) != STATUS_OK)
			return error_context(err, "%s", source->path);
		entry->run = run_of_tuned(&source->tuned, string_of(&item, "run"));
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
	find(&entry->run, "device", &entry->device);
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
