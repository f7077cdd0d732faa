/* SPDX-License-Identifier: MIT
 *
 * From an entry of the baseline to a compiled candidate.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/check_parts.h"
#include "engine/single.h"

bool check_row_is_decided(const struct check_row *row)
{
	return row->reason != NULL;
}

void check_row_decide(struct check_row *row, enum check_verdict verdict, const char *reason, ...)
{
	struct text text = {0};
	va_list args;

	if (check_row_is_decided(row))
		return;
	va_start(args, reason);
	text_append_args(&text, reason, args);
	va_end(args);
	for (size_t i = 0; i < text.length; i++)
		if (text.data[i] == '\n')
			text.data[i] = ' ';
	row->verdict = verdict;
	row->reason = text_detach(&text);
}

/* {"M": 64, "dtype": "bf16"} -> "M=64,dtype=bf16", for what the templates no longer know. */
static char *pairs_text(const struct json_at *object)
{
	struct text text = {0};

	for (size_t i = 0; i < json_count(object); i++) {
		struct json_at member = json_item(object, i);
		const char *string;
		char *printed = json_print(member.node, false);

		text_appendf(&text, "%s%s=%s", i ? "," : "", member.key,
			json_get_string(&member, &string, NULL) == STATUS_OK ? string : printed);
		free(printed);
	}
	return text_detach(&text);
}

static char *member_pairs(const struct json_at *object, const char *key)
{
	struct json_at member;

	return json_find(object, key, &member) ? pairs_text(&member) : string_copy("");
}

static enum status open_problem(const struct check *check, struct check_row *row, struct error *err)
{
	const struct operation *operation;
	struct json_at problem;

	if (catalogue_operation(&check->bench->catalogue, row->operation, &operation, err) !=
			STATUS_OK ||
		json_member(&row->entry, "problem", &problem, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return problem_from_json(operation, &problem, &row->work->problem, err);
}

void check_row_open(struct check *check, const struct json *tree, struct check_row *row)
{
	const char *operation = "", *family = "", *timing = "";
	struct json_at winner = {0}, time;

	*row = (struct check_row){
		.tree = json_copy(tree), .work = memory_zeroed(1, sizeof(*row->work))};
	row->entry = json_root(row->tree, check->baseline->path);
	json_member_string(&row->entry, "operation", &operation, NULL);
	json_member_string(&row->entry, "timing", &timing, NULL);
	if (json_find(&row->entry, "winner", &winner)) {
		json_member_string(&winner, "family", &family, NULL);
		if (strcmp(timing, "measured") == 0 && json_find(&winner, "time_us", &time))
			json_member_double(&time, "median", &row->baseline_us, NULL);
	}
	row->operation = string_copy(operation);
	row->problem = member_pairs(&row->entry, "problem");
	row->family = string_copy(family);
	row->configuration = member_pairs(&winner, "configuration");
}

void check_row_build(struct check *check, struct check_row *row)
{
	const struct device_spec *spec = device_spec(check->bench->device);
	struct json_at winner = {0};
	struct error reason = {0};
	enum status status;

	if (check_row_is_decided(row))
		return;
	json_find(&row->entry, "winner", &winner);
	status = open_problem(check, row, &reason);
	if (status == STATUS_OK)
		status = single_open(&check->bench->catalogue, row->work->problem, spec, &winner,
			&row->work->pool, &reason);
	if (status != STATUS_OK)
		check_row_decide(row, CHECK_FAILED, "can no longer be built: %s", reason.message);
}

/* The first line that says something. */
static const char *first_line(const char *log, char *line, size_t size)
{
	while (log && (*log == '\n' || *log == ' '))
		log++;
	if (!log || !*log)
		return "the compiler said nothing";
	snprintf(line, size, "%.*s", (int)strcspn(log, "\n"), log);
	return line;
}

static void take_compiled(struct check_row *row)
{
	struct trial *trial = &row->work->trial;
	enum outcome outcome = trial->evaluation.outcome;
	char line[256];

	/* a winner that its own family's rules would drop now is looked at all the same */
	if (trial->stage == TRIAL_DONE && outcome == OUTCOME_PRUNED_BY_MODEL) {
		trial->stage = TRIAL_READY;
		trial->evaluation.outcome = OUTCOME_OK;
	}
	if (trial->stage == TRIAL_READY) {
		row->work->can_run = true;
		return;
	}
	check_row_decide(row, CHECK_FAILED, "no longer compiles (%s): %s", outcome_name(outcome),
		first_line(trial->evaluation.detail, line, sizeof(line)));
}

static bool is_compiling(const struct check_row *row)
{
	return !check_row_is_decided(row) && !row->work->can_run;
}

static void start(struct check *check, struct check_row *row)
{
	struct error reason = {0};

	if (check_row_is_decided(row))
		return;
	row->work->setup = (struct trial_setup){.pool = &row->work->pool,
		.store = check->bench->store,
		.device = check->bench->device};
	if (trial_start(&row->work->setup, 0, &row->work->trial, &reason) != STATUS_OK)
		check_row_decide(row, CHECK_FAILED, "can no longer be built: %s", reason.message);
}

enum status check_compile(struct check *check, struct error *err)
{
	size_t waiting = 1;

	for (size_t i = 0; i < check->row_count; i++)
		start(check, &check->rows[i]);
	while (waiting) {
		waiting = 0;
		for (size_t i = 0; i < check->row_count; i++) {
			struct check_row *row = &check->rows[i];
			bool moved = false;

			if (!is_compiling(row))
				continue;
			if (trial_check_compiled(
				    &row->work->setup, &row->work->trial, &moved, err) != STATUS_OK)
				return STATUS_FAILED;
			if (moved)
				take_compiled(row);
			else
				waiting++;
		}
		if (waiting)
			kernel_store_poll(check->bench->store, 0.2);
		if (*check->options.interrupted)
			return error_set(err, STATUS_INTERRUPTED, "interrupted");
	}
	return STATUS_OK;
}

void check_row_release(struct check_row *row)
{
	struct check_work *work = row->work;

	if (work) {
		trial_release(&work->setup, &work->trial);
		check_kept_release(&work->kept);
		candidates_release(&work->pool);
		problem_free(work->problem);
		json_free(work->retuned);
	}
	for (size_t i = 0; i < row->difference_count; i++)
		free(row->differences[i].text);
	free(row->differences);
	free(row->operation);
	free(row->problem);
	free(row->family);
	free(row->configuration);
	free(row->reason);
	free(row->better);
	json_free(row->tree);
	free(work);
	*row = (struct check_row){0};
}
