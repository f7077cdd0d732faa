/* SPDX-License-Identifier: MIT */
#include "tune/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *const shared_goal_names[] = {"mean", "worst", NULL};

enum {
	COMPARED_MIN = 24 /* configurations that are timed for all problems; more: all that won */
};
static const double untimed_loss = 0.3; /* logarithm that a problem without a time counts for */

/* A configuration with its times. */
struct row {
	char *family, *configuration;
	double *us; /* per problem; 0: none */
	double score;
	bool has_won;
};

struct gather {
	const struct session *session;
	struct row *rows;
	size_t count, capacity;
	bool is_search; /* new rows are taken, the observer is told */
};

static void rows_cut(struct gather *gather, size_t count)
{
	while (gather->count > count) {
		struct row *row = &gather->rows[--gather->count];

		free(row->family);
		free(row->configuration);
		free(row->us);
	}
}

static void gather_release(struct gather *gather)
{
	rows_cut(gather, 0);
	free(gather->rows);
}

static struct row *row_of(struct gather *gather, const struct evaluation *evaluation)
{
	struct row *row;

	for (size_t i = 0; i < gather->count; i++) {
		row = &gather->rows[i];
		if (strcmp(row->configuration, evaluation->configuration) == 0 &&
			strcmp(row->family, evaluation->family) == 0)
			return row;
	}
	if (!gather->is_search)
		return NULL;
	ARRAY_GROW(gather->rows, gather->count, gather->capacity);
	row = &gather->rows[gather->count++];
	*row = (struct row){.family = string_copy(evaluation->family),
		.configuration = string_copy(evaluation->configuration),
		.us = memory_zeroed(gather->session->problems->count, sizeof(*row->us))};
	return row;
}

/* ---- what the session says ---- */
static void hear_begin(void *context, const struct candidates *pool, size_t problem, size_t count)
{
	const struct gather *gather = context;

	if (gather->is_search)
		gather->session->observer.begin(
			gather->session->observer.context, pool, problem, count);
}

static void hear_progress(void *context, const struct session_progress *progress)
{
	const struct gather *gather = context;

	gather->session->observer.progress(gather->session->observer.context, progress);
}

static void hear_end(void *context, const struct problem_result *result)
{
	struct gather *gather = context;
	const struct problem_list *problems = gather->session->problems;
	size_t p = 0;

	if (gather->is_search)
		gather->session->observer.end(gather->session->observer.context, result);
	while (p < problems->count &&
		strcmp(problems->items[p]->text, result->pool->problem->text) != 0)
		p++;
	for (size_t i = 0; p < problems->count && i < result->evaluated->count; i++) {
		const struct evaluation *evaluation = &result->evaluated->items[i].evaluation;
		struct row *row = evaluation->outcome == OUTCOME_OK && evaluation->time.count
					  ? row_of(gather, evaluation)
					  : NULL;

		if (row)
			row->us[p] = result->paired_us[i] > 0 ? result->paired_us[i]
							      : evaluation->time.median;
	}
}

static void hear_taken(void *context, const struct problem *problem, size_t number, size_t count,
	const struct tuned_entry *entry)
{
	(void)context, (void)problem, (void)number, (void)count, (void)entry;
}

static void hear_failed(void *context, const struct problem *problem, const struct error *err)
{
	const struct gather *gather = context;

	/* later: a family that does not apply to a problem */
	if (gather->is_search)
		gather->session->observer.failed(gather->session->observer.context, problem, err);
}

static void hear_notice(void *context, const char *text)
{
	const struct gather *gather = context;

	gather->session->observer.notice(gather->session->observer.context, text);
}

static enum status run(
	struct gather *gather, const struct candidates_options *pool, struct error *err)
{
	struct session session = *gather->session;
	const struct context *context = session.context;
	struct tuned tuned;
	enum status status;

	tuned_init(&tuned, "",
		gpu_model_of(device_spec(context->device), device_identity(context->device)->name));
	session.journal = NULL;
	session.tuned = &tuned;
	session.tuned_path = NULL;
	session.keep_going = true;
	session.pool = *pool;
	session.observer = (struct session_observer){.context = gather,
		.begin = hear_begin,
		.progress = hear_progress,
		.end = hear_end,
		.taken = hear_taken,
		.failed = hear_failed,
		.notice = hear_notice};
	if (!gather->is_search) {
		session.effort = effort_find("exhaustive");
		session.strategy = NULL;
	}
	status = session_run(&session, err);
	tuned_release(&tuned);
	return status;
}

/* ---- what is compared ---- */
static double best_of(const struct gather *gather, size_t problem)
{
	double best = INFINITY;

	for (size_t i = 0; i < gather->count; i++)
		if (gather->rows[i].us[problem] > 0)
			best = fmin(best, gather->rows[i].us[problem]);
	return best;
}

static int row_compare(const void *a_, const void *b_)
{
	const struct row *a = a_, *b = b_;

	if (a->has_won != b->has_won)
		return a->has_won ? -1 : 1;
	return a->score != b->score ? (a->score > b->score) - (a->score < b->score)
				    : strcmp(a->configuration, b->configuration);
}

/* What won somewhere, then what was good in most problems. Their times are forgotten. */
static void keep_best(struct gather *gather)
{
	const size_t problems = gather->session->problems->count;
	size_t winners = 0;

	for (size_t p = 0; p < problems; p++) {
		const double best = best_of(gather, p);

		for (size_t i = 0; i < gather->count; i++) {
			struct row *row = &gather->rows[i];

			row->score += row->us[p] > 0 ? log(row->us[p] / best) : untimed_loss;
			row->has_won |= row->us[p] > 0 && row->us[p] <= best;
		}
	}
	for (size_t i = 0; i < gather->count; i++)
		winners += gather->rows[i].has_won;
	if (gather->count)
		qsort(gather->rows, gather->count, sizeof(*gather->rows), row_compare);
	if (gather->count > COMPARED_MIN)
		rows_cut(gather, winners > COMPARED_MIN ? winners : COMPARED_MIN);
	for (size_t i = 0; i < gather->count; i++)
		memset(gather->rows[i].us, 0, problems * sizeof(*gather->rows[i].us));
}

/* "(BM == 128 and BN == 256) or (...)", of the session's sub-space: the rows of a family. */
static void where_text(const struct gather *gather, const char *family, struct text *text)
{
	const char *where = gather->session->pool.where;
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
static enum status compare(struct gather *gather, struct error *err)
{
	for (size_t i = 0; i < gather->count; i++) {
		CLEANUP(text_release) struct text where = {0};
		const char *const families[] = {gather->rows[i].family, NULL};
		struct candidates_options pool = gather->session->pool;
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
		status = run(gather, &pool, &ignored);
		/* that it does not apply to some problem is no error here */
		if (status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE) {
			*err = ignored;
			return status;
		}
	}
	return STATUS_OK;
}

enum status shared_choose(const struct session *session, enum shared_goal goal,
	struct shared_choice *shared, struct error *err)
{
	CLEANUP(gather_release) struct gather gather = {.session = session, .is_search = true};
	const size_t problems = session->problems->count;
	const struct row *chosen = NULL;
	double least = INFINITY;

	TRY(run(&gather, &session->pool, err));
	keep_best(&gather);
	gather.is_search = false;
	TRY(compare(&gather, err));
	shared->us = memory_zeroed(problems, sizeof(*shared->us));
	shared->best_us = memory_zeroed(problems, sizeof(*shared->best_us));
	shared->compared = gather.count;
	for (size_t p = 0; p < problems; p++)
		shared->best_us[p] = best_of(&gather, p);
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
	free(shared->family);
	free(shared->configuration);
	free(shared->us);
	free(shared->best_us);
	*shared = (struct shared_choice){0};
}
