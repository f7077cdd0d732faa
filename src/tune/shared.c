/* SPDX-License-Identifier: MIT */
#include "tune/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tune/selection.h"

const char *const shared_goal_names[] = {"mean", "worst", NULL};

enum {
	COMPARED_MIN = 24 /* configurations that are timed for all problems; more: all that won */
};

static void rows_cut(struct gather *gather, size_t count)
{
	while (gather->count > count) {
		struct row *row = &gather->rows[--gather->count];

		free(row->family);
		free(row->configuration);
		for (size_t p = 0; p < gather->run->problems->count; p++)
			bits_free(&row->bits[p]);
		free(row->bits);
		free(row->us);
	}
}

void gather_release(struct gather *gather)
{
	rows_cut(gather, 0);
	free(gather->rows);
}

static struct row *row_of(struct gather *gather, const char *family, const char *configuration)
{
	struct row *row;

	for (size_t i = 0; i < gather->count; i++) {
		row = &gather->rows[i];
		if (strcmp(row->configuration, configuration) == 0 &&
			strcmp(row->family, family) == 0)
			return row;
	}
	if (!gather->is_search)
		return NULL;
	ARRAY_GROW(gather->rows, gather->count, gather->capacity);
	row = &gather->rows[gather->count++];
	*row = (struct row){.family = string_copy(family),
		.configuration = string_copy(configuration),
		.us = memory_zeroed(gather->run->problems->count, sizeof(*row->us)),
		.bits = memory_zeroed(gather->run->problems->count, sizeof(*row->bits))};
	return row;
}

/* ---- what the run measures ---- */
static size_t number_of(const struct gather *gather, const struct problem *problem)
{
	const struct problem_list *problems = gather->run->problems;
	size_t p = 0;

	while (p < problems->count && strcmp(problems->items[p]->text, problem->text) != 0)
		p++;
	return p;
}

static void take_time(struct gather *gather, size_t problem, const struct result *tried, double us)
{
	struct row *row = row_of(gather, tried->family, tried->configuration);

	if (!row)
		return;
	row->us[problem] = us;
	if (!tried->bits)
		return;
	bits_free(&row->bits[problem]);
	row->bits[problem] = bits_copy(tried->bits);
}

/* Compared with the fastest by the rounds that both have, where they were timed side by side. */
static double time_us(const struct problem_result *result, size_t which)
{
	const struct selection_item *timed = selection_find(result->selection, which);

	return timed && result->entry->objective != OBJECTIVE_ENERGY
		       ? timed->median_us
		       : result->evaluated->items[which].result.time.median;
}

static void take_result(void *context, const struct problem_result *result)
{
	struct gather *gather = context;
	const size_t p = number_of(gather, result->pool->problem);

	for (size_t i = 0; p < gather->run->problems->count && i < result->evaluated->count; i++) {
		const struct result *tried = &result->evaluated->items[i].result;

		if (tried->outcome == OUTCOME_OK && tried->time.count)
			take_time(gather, p, tried, time_us(result, i));
	}
}

enum status gather_run(
	struct gather *gather, const struct candidates_options *pool, struct error *err)
{
	const struct context *context = gather->run->context;
	struct tune_options options = *gather->run->options;
	struct tuned tuned;
	struct tune_run run = {.options = &options,
		.context = gather->run->context,
		.problems = gather->run->problems,
		.tuned = &tuned,
		.run_id = gather->run->run_id};
	enum status status;

	tuned_init(&tuned, "", gpu_model_of(context->device->spec, context->device->identity.name));
	options.tuned_path = NULL;
	options.keep_going = true;
	options.candidates = *pool;
	options.sink = (struct result_sink){gather, take_result};
	options.observer.taken = NULL;
	if (!gather->is_search) {
		/* a family that does not apply to a problem is no news then */
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

/* ---- what is compared ---- */
bool gather_has_bits(const struct row *row, const struct bits *bits, size_t problem)
{
	return !bits ||
	       (row->bits[problem] && bits_compare(row->bits[problem], bits, NULL) == BITS_SAME);
}

struct row *gather_best(const struct gather *gather, const struct bits *bits, size_t problem)
{
	struct row *best = NULL;

	for (size_t i = 0; i < gather->count; i++) {
		struct row *row = &gather->rows[i];

		if (row->us[problem] > 0 && gather_has_bits(row, bits, problem) &&
			(!best || row->us[problem] < best->us[problem]))
			best = row;
	}
	return best;
}

double gather_best_us(const struct gather *gather, size_t problem)
{
	const struct row *best = gather_best(gather, NULL, problem);

	return best ? best->us[problem] : INFINITY;
}

static int row_compare(const void *a_, const void *b_)
{
	const struct row *a = a_, *b = b_;

	if (a->has_won != b->has_won)
		return a->has_won ? -1 : 1;
	return a->score != b->score ? (a->score > b->score) - (a->score < b->score)
				    : strcmp(a->configuration, b->configuration);
}

static void forget_times(struct gather *gather)
{
	for (size_t i = 0; i < gather->count; i++)
		memset(gather->rows[i].us, 0,
			gather->run->problems->count * sizeof(*gather->rows[i].us));
}

void gather_keep(struct gather *gather, size_t least)
{
	size_t winners = 0;

	for (size_t i = 0; i < gather->count; i++)
		winners += gather->rows[i].has_won;
	if (gather->count)
		qsort(gather->rows, gather->count, sizeof(*gather->rows), row_compare);
	if (gather->count > least)
		rows_cut(gather, winners > least ? winners : least);
	forget_times(gather);
}

/* What won somewhere, then what was good in most problems. Their times are forgotten. */
static void keep_best(struct gather *gather)
{
	const size_t problems = gather->run->problems->count;

	for (size_t p = 0; p < problems; p++) {
		const double best = gather_best_us(gather, p);

		for (size_t i = 0; i < gather->count; i++) {
			struct row *row = &gather->rows[i];

			row->score += row->us[p] > 0 ? log(row->us[p] / best) : gather_untimed_loss;
			row->has_won |= row->us[p] > 0 && row->us[p] <= best;
		}
	}
	gather_keep(gather, COMPARED_MIN);
}

/* "(BM == 128 and BN == 256) or (...)", of the run's sub-space: the rows of a family. */
static void where_text(const struct gather *gather, const char *family, struct text *text)
{
	const char *where = gather->run->options->candidates.where;
	const char *between = "";

	text_appendf(text, "(%s) and (", where ? where : "True");
	for (size_t i = 0; i < gather->count; i++) {
		const char *at = gather->rows[i].configuration;

		if (strcmp(gather->rows[i].family, family) != 0)
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

/* Times all rows for all problems, family by family. */
enum status gather_compare(struct gather *gather, struct error *err)
{
	for (size_t i = 0; i < gather->count; i++) {
		CLEANUP(text_release) struct text where = {0};
		const char *const families[] = {gather->rows[i].family, NULL};
		struct candidates_options pool = gather->run->options->candidates;
		struct error ignored;
		size_t first = 0;
		enum status status;

		while (strcmp(gather->rows[first].family, families[0]) != 0)
			first++;
		if (first < i)
			continue;
		where_text(gather, families[0], &where);
		pool.families = families;
		pool.where = text_string(&where);
		status = gather_run(gather, &pool, &ignored);
		/* that it does not apply to some problem is no error here */
		if (status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE) {
			*err = ignored;
			return status;
		}
	}
	return STATUS_OK;
}

void gather_choice(const struct gather *gather, struct shared_choice *shared)
{
	const size_t problems = gather->run->problems->count;

	shared->us = memory_zeroed(problems, sizeof(*shared->us));
	shared->best_us = memory_zeroed(problems, sizeof(*shared->best_us));
	shared->compared = gather->count;
	for (size_t p = 0; p < problems; p++)
		shared->best_us[p] = gather_best_us(gather, p);
}

enum status shared_choose(const struct tune_run *run, enum shared_goal goal,
	struct shared_choice *shared, struct error *err)
{
	CLEANUP(gather_release) struct gather gather = {.run = run, .is_search = true};
	const size_t problems = run->problems->count;
	const struct row *chosen = NULL;
	double least = INFINITY;

	TRY(gather_run(&gather, &run->options->candidates, err));
	keep_best(&gather);
	gather.is_search = false;
	TRY(gather_compare(&gather, err));
	gather_choice(&gather, shared);
	for (size_t i = 0; i < gather.count; i++) {
		double sum = 0, largest = 0;

		for (size_t p = 0; p < problems; p++) {
			const double us = gather.rows[i].us[p];
			const double loss = us > 0 ? log(us / shared->best_us[p]) : INFINITY;

			sum += loss / (double)problems;
			largest = fmax(largest, loss);
		}
		if ((goal == SHARED_WORST ? largest : sum) < least) {
			least = goal == SHARED_WORST ? largest : sum;
			chosen = &gather.rows[i];
			shared->mean_loss = expm1(sum);
			shared->largest_loss = expm1(largest);
		}
	}
	if (!chosen) {
		error_set(err, STATUS_FAILED,
			"--shared: expected a configuration that works for all %zu problems, found "
			"none among the %zu best",
			problems, gather.count);
		return error_hint(err, "name problems that are more alike, or --family");
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
	bits_free(&shared->bits);
	free(shared->family);
	free(shared->configuration);
	free(shared->us);
	free(shared->best_us);
	*shared = (struct shared_choice){0};
}
