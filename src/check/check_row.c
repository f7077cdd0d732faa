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

bool check_row_can_run(const struct check_row *row)
{
	return row->work->can_run && !check_row_is_decided(row);
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

	if (catalogue_operation(&check->context->catalogue, row->operation, &operation, err) !=
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
	const struct device_spec *spec = device_spec(check->context->device);
	struct json_at winner = {0};
	struct error reason = {0};
	enum status status;

	if (check_row_is_decided(row))
		return;
	json_find(&row->entry, "winner", &winner);
	status = open_problem(check, row, &reason);
	if (status == STATUS_OK)
		status = single_open(&check->context->catalogue, row->work->problem, spec, &winner,
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

static void start(struct check *check, struct check_row *row)
{
	struct check_work *work = row->work;
	struct error reason = {0};

	if (!check_row_is_decided(row) &&
		evaluator_add(&check->evaluator, work->pool.families[0].bound,
			candidates_configuration(&work->pool, 0), TRIAL_COMPILED, &work->trial,
			&reason) != STATUS_OK)
		check_row_decide(row, CHECK_FAILED, "can no longer be built: %s", reason.message);
}

static void take_compiled(struct check_row *row)
{
	const struct trial *trial = row->work->trial;
	char line[256];

	row->work->can_run = trial->stage == TRIAL_COMPILED;
	if (!row->work->can_run)
		check_row_decide(row, CHECK_FAILED, "no longer compiles (%s): %s",
			outcome_name(trial->evaluation.outcome),
			first_line(trial->evaluation.detail, line, sizeof(line)));
}

enum status check_compile(struct check *check, struct error *err)
{
	enum status status;

	for (size_t i = 0; i < check->row_count; i++)
		start(check, &check->rows[i]);
	status = evaluator_run(&check->evaluator, err);
	for (size_t i = 0; i < check->row_count && status == STATUS_OK; i++)
		if (check->rows[i].work->trial)
			take_compiled(&check->rows[i]);
	return status;
}

void check_row_release(struct check_row *row)
{
	struct check_work *work = row->work;

	if (work) {
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
