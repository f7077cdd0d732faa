/* SPDX-License-Identifier: MIT */
#include "tune/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tune/selection.h"

const char *const shared_goal_names[] = {"mean", "worst", NULL};

enum {
	COMPARED_MIN =
		24 /* configurations that are timed for all problems; winners are always included */
};

static void rows_cut(struct timing_matrix *matrix, size_t count)
{
	while (matrix->count > count) {
		struct config_times *row = &matrix->rows[--matrix->count];

		free(row->family);
		free(row->configuration);
		for (size_t p = 0; p < matrix->run->problems->count; p++)
			output_digest_free(&row->bits[p]);
		free(row->bits);
		free(row->us);
	}
}

void matrix_release(struct timing_matrix *matrix)
{
	rows_cut(matrix, 0);
	free(matrix->rows);
}

static struct config_times *row_of(
	struct timing_matrix *matrix, const char *family, const char *configuration)
{
	struct config_times *row;

	for (size_t i = 0; i < matrix->count; i++) {
		row = &matrix->rows[i];
		if (strcmp(row->configuration, configuration) == 0 &&
			strcmp(row->family, family) == 0)
			return row;
	}
	if (!matrix->is_search)
		return NULL;
	ARRAY_GROW(matrix->rows, matrix->count, matrix->capacity);
	row = &matrix->rows[matrix->count++];
	*row = (struct config_times){.family = string_copy(family),
		.configuration = string_copy(configuration),
		.us = memory_zeroed(matrix->run->problems->count, sizeof(*row->us)),
		.bits = memory_zeroed(matrix->run->problems->count, sizeof(*row->bits))};
	return row;
}

/* ---- recording the measurements of the run ---- */
static void take_time(
	struct timing_matrix *matrix, size_t problem, const struct result *tried, double us)
{
	struct config_times *row = row_of(matrix, tried->family, tried->configuration);

	if (!row)
		return;
	row->us[problem] = us;
	if (!tried->bits)
		return;
	output_digest_free(&row->bits[problem]);
	row->bits[problem] = output_digest_copy(tried->bits);
}

/* The time of a candidate; from the shared rounds if it was timed in turn. */
static double time_us(const struct problem_result *result, size_t which)
{
	const struct selection_item *timed = selection_find(result->selection, which);

	return timed && result->entry->objective != OBJECTIVE_ENERGY
		       ? timed->median_us
		       : result->evaluated->items[which].result.time.median;
}

static void take_result(void *context, const struct problem_result *result)
{
	struct timing_matrix *matrix = context;

	for (size_t i = 0; i < result->evaluated->count; i++) {
		const struct result *tried = &result->evaluated->items[i].result;

		if (tried->outcome == OUTCOME_OK && tried->time.count)
			take_time(matrix, result->number, tried, time_us(result, i));
	}
}

enum status matrix_run(
	struct timing_matrix *matrix, const struct candidates_options *pool, struct error *err)
{
	const struct context *context = matrix->run->context;
	struct tune_options options = *matrix->run->options;
	struct tuned tuned;
	struct tune_run run = {.options = &options,
		.context = matrix->run->context,
		.problems = matrix->run->problems,
		.tuned = &tuned,
		.run_id = matrix->run->run_id};
	enum status status;

	tuned_init(&tuned, "", gpu_model_of(context->device->spec, context->device->identity.name));
	options.tuned_path = NULL;
	options.keep_going = true;
	options.candidates = *pool;
	options.sink = (struct result_sink){matrix, take_result};
	options.observer.taken = NULL;
	if (!matrix->is_search) {
		/* do not report families that do not apply to a problem */
		options.observer.begin = NULL;
		options.observer.end = NULL;
		options.observer.failed = NULL;
		options.effort = effort_find("exhaustive");
		options.strategy = NULL;
	}
	status = tune_problems(&run, err);
	tuned_release(&tuned);
	return status;
}

/* ---- the comparison ---- */
bool matrix_has_bits(
	const struct config_times *row, const struct output_digest *bits, size_t problem)
{
	return !bits || (row->bits[problem] && output_digest_compare(row->bits[problem], bits,
						       NULL) == DIGEST_SAME);
}

struct config_times *matrix_best(
	const struct timing_matrix *matrix, const struct output_digest *bits, size_t problem)
{
	struct config_times *best = NULL;

	for (size_t i = 0; i < matrix->count; i++) {
		struct config_times *row = &matrix->rows[i];

		if (row->us[problem] > 0 && matrix_has_bits(row, bits, problem) &&
			(!best || row->us[problem] < best->us[problem]))
			best = row;
	}
	return best;
}

double matrix_best_us(const struct timing_matrix *matrix, size_t problem)
{
	const struct config_times *best = matrix_best(matrix, NULL, problem);

	return best ? best->us[problem] : INFINITY;
}

static int row_compare(const void *a_, const void *b_)
{
	const struct config_times *a = a_, *b = b_;

	if (a->has_won != b->has_won)
		return a->has_won ? -1 : 1;
	return a->score != b->score ? (a->score > b->score) - (a->score < b->score)
				    : strcmp(a->configuration, b->configuration);
}

static void forget_times(struct timing_matrix *matrix)
{
	for (size_t i = 0; i < matrix->count; i++)
		memset(matrix->rows[i].us, 0,
			matrix->run->problems->count * sizeof(*matrix->rows[i].us));
}

void matrix_keep(struct timing_matrix *matrix, size_t least)
{
	size_t winners = 0;

	for (size_t i = 0; i < matrix->count; i++)
		winners += matrix->rows[i].has_won;
	if (matrix->count)
		qsort(matrix->rows, matrix->count, sizeof(*matrix->rows), row_compare);
	if (matrix->count > least)
		rows_cut(matrix, winners > least ? winners : least);
	forget_times(matrix);
}

/* Keeps the configurations that won a problem and those with the smallest losses; clears all
 * times. */
static void keep_best(struct timing_matrix *matrix)
{
	const size_t problems = matrix->run->problems->count;

	for (size_t p = 0; p < problems; p++) {
		const double best = matrix_best_us(matrix, p);

		for (size_t i = 0; i < matrix->count; i++) {
			struct config_times *row = &matrix->rows[i];

			row->score += row->us[p] > 0 ? log(row->us[p] / best) : matrix_untimed_loss;
			row->has_won |= row->us[p] > 0 && row->us[p] <= best;
		}
	}
	matrix_keep(matrix, COMPARED_MIN);
}

/* Appends "(BM == 128 and BN == 256) or (...)", a condition for the rows of a family within the
 * run's space. */
static void where_text(const struct timing_matrix *matrix, const char *family, struct text *text)
{
	const char *where = matrix->run->options->candidates.where;
	const char *between = "";

	text_appendf(text, "(%s) and (", where ? where : "True");
	for (size_t i = 0; i < matrix->count; i++) {
		const char *at = matrix->rows[i].configuration;

		if (strcmp(matrix->rows[i].family, family) != 0)
			continue;
		text_appendf(text, "%s(", between);
		between = " or ";
		for (const char *link = ""; *at; link = " and ") {
			const int name = (int)strcspn(at, "="), whole = (int)strcspn(at, ",");
			const char *value = at + name + 1;
			const char *quote = strchr("-0123456789", *value) ? "" : "'";

			text_appendf(text, "%s%.*s == %s%.*s%s", link, name, at, quote,
				whole - name - 1, value, quote);
			at += whole + (at[whole] == ',');
		}
		text_append(text, ")");
	}
	text_append(text, ")");
}

enum status matrix_compare(struct timing_matrix *matrix, struct error *err)
{
	for (size_t i = 0; i < matrix->count; i++) {
		CLEANUP(text_release) struct text where = {0};
		const char *const families[] = {matrix->rows[i].family, NULL};
		struct candidates_options pool = matrix->run->options->candidates;
		struct error ignored;
		size_t first = 0;
		enum status status;

		while (strcmp(matrix->rows[first].family, families[0]) != 0)
			first++;
		if (first < i)
			continue;
		where_text(matrix, families[0], &where);
		pool.families = families;
		pool.where = text_string(&where);
		status = matrix_run(matrix, &pool, &ignored);
		/* some families may not apply to a problem */
		if (status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE) {
			*err = ignored;
			return status;
		}
	}
	return STATUS_OK;
}

void matrix_choice(const struct timing_matrix *matrix, struct shared_choice *shared)
{
	const size_t problems = matrix->run->problems->count;

	shared->us = memory_zeroed(problems, sizeof(*shared->us));
	shared->best_us = memory_zeroed(problems, sizeof(*shared->best_us));
	shared->compared = matrix->count;
	for (size_t p = 0; p < problems; p++)
		shared->best_us[p] = matrix_best_us(matrix, p);
}

enum status shared_choose(const struct tune_run *run, enum shared_goal goal,
	struct shared_choice *shared, struct error *err)
{
	CLEANUP(matrix_release) struct timing_matrix matrix = {.run = run, .is_search = true};
	const size_t problems = run->problems->count;
	const struct config_times *chosen = NULL;
	double least = INFINITY;

	TRY(matrix_run(&matrix, &run->options->candidates, err));
	keep_best(&matrix);
	matrix.is_search = false;
	TRY(matrix_compare(&matrix, err));
	matrix_choice(&matrix, shared);
	for (size_t i = 0; i < matrix.count; i++) {
		double sum = 0, largest = 0;

		for (size_t p = 0; p < problems; p++) {
			const double us = matrix.rows[i].us[p];
			const double loss = us > 0 ? log(us / shared->best_us[p]) : INFINITY;

			sum += loss / (double)problems;
			largest = fmax(largest, loss);
		}
		if ((goal == SHARED_WORST ? largest : sum) < least) {
			least = goal == SHARED_WORST ? largest : sum;
			chosen = &matrix.rows[i];
			shared->mean_loss = expm1(sum);
			shared->largest_loss = expm1(largest);
		}
	}
	if (!chosen) {
		error_set(err, STATUS_FAILED,
			"--shared: none of the %zu best configurations works for all %zu problems",
			matrix.count, problems);
		return error_hint(
			err, "choose problems that are more alike, or one family with --family");
	}
	shared->family = string_copy(chosen->family);
	shared->configuration = string_copy(chosen->configuration);
	memcpy(shared->us, chosen->us, problems * sizeof(*shared->us));
	return STATUS_OK;
}

void shared_choice_release(struct shared_choice *shared)
{
	for (size_t i = 0; i < shared->member_count; i++) {
		free(shared->members[i].family);
		free(shared->members[i].configuration);
	}
	free(shared->members);
	output_digest_free(&shared->bits);
	free(shared->family);
	free(shared->configuration);
	free(shared->us);
	free(shared->best_us);
	*shared = (struct shared_choice){0};
}
