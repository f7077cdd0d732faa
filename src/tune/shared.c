/* SPDX-License-Identifier: MIT */
#include "tune/shared.h"

#include <math.h>

#include "tune/selection.h"

const char *const shared_goal_names[] = {"mean", "worst", NULL};

enum {
	COMPARED_MIN = 24, /* least number of configurations timed for all problems */
	CLASSES_MAX = 3    /* most classes timed for all problems */
};
/* logarithm of the loss assumed for a problem without a time */
static const double untimed_loss = 0.3;

/* ---- the timing matrix: configurations by problems ---- */
struct config_times {
	char *family, *configuration;
	double *us;                  /* one per problem; 0: not timed */
	struct output_digest **bits; /* one per problem; NULL: not known */
	double score;
	bool has_won;
};

struct timing_matrix {
	const struct tune_run *run;
	struct config_times *rows;
	size_t count, capacity;
	bool is_search; /* new configurations get a row, and the observer is called */
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

static void matrix_release(struct timing_matrix *matrix)
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

/* Returns the time from the shared rounds if the candidate was timed in turn. */
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

static enum status matrix_run(
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
		/* report no failures, because families may not apply to a problem */
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

/* ---- groups: single configurations, or classes of equal bits ---- */
/* If `bits` is NULL, all rows match. */
static bool has_bits(
	const struct config_times *row, const struct output_digest *bits, size_t problem)
{
	return !bits || (row->bits[problem] && output_digest_compare(row->bits[problem], bits,
						       NULL) == DIGEST_SAME);
}

/* Returns the fastest row with these bits, or NULL if none was timed. */
static struct config_times *fastest_row(
	const struct timing_matrix *matrix, const struct output_digest *bits, size_t problem)
{
	struct config_times *best = NULL;

	for (size_t i = 0; i < matrix->count; i++) {
		struct config_times *row = &matrix->rows[i];

		if (row->us[problem] > 0 && has_bits(row, bits, problem) &&
			(!best || row->us[problem] < best->us[problem]))
			best = row;
	}
	return best;
}

struct group {
	struct config_times *row;         /* NULL: a class */
	const struct output_digest *bits; /* digests of a class */
	double mean, largest;             /* logarithms of losses */
	double score;                     /* the loss to minimise */
	bool is_whole;                    /* every problem has a time */
};

/* Returns 0 if the group was not timed. */
static double group_us(
	const struct timing_matrix *matrix, const struct group *group, size_t problem)
{
	const struct config_times *row =
		group->row ? group->row : fastest_row(matrix, group->bits, problem);

	return row ? row->us[problem] : 0;
}

static void group_rate(
	const struct timing_matrix *matrix, enum shared_goal goal, struct group *group)
{
	const size_t problems = matrix->run->problems->count;

	group->is_whole = true;
	for (size_t p = 0; p < problems; p++) {
		const double us = group_us(matrix, group, p);
		const double loss =
			us > 0 ? log(us / fastest_row(matrix, NULL, p)->us[p]) : untimed_loss;

		group->mean += loss / (double)problems;
		group->largest = fmax(group->largest, loss);
		group->is_whole &= us > 0;
	}
	/* during the search, few configurations have all times */
	group->is_whole &= !matrix->is_search;
	group->score = goal == SHARED_WORST && !matrix->is_search ? group->largest : group->mean;
	if (group->row)
		group->row->score = group->score;
}

static int group_compare(const void *a_, const void *b_)
{
	const struct group *a = a_, *b = b_;

	if (a->is_whole != b->is_whole)
		return a->is_whole ? -1 : 1;
	if (a->score != b->score)
		return (a->score > b->score) - (a->score < b->score);
	return a->row ? strcmp(a->row->configuration, b->row->configuration)
		      : strcmp(a->bits->digests[0], b->bits->digests[0]);
}

static size_t largest_problem(const struct timing_matrix *matrix)
{
	uint64_t rows = 0;
	size_t problem = 0;

	for (size_t i = 0; i < matrix->count; i++)
		for (size_t p = 0; p < matrix->run->problems->count; p++)
			if (matrix->rows[i].bits[p] && matrix->rows[i].bits[p]->rows > rows) {
				rows = matrix->rows[i].bits[p]->rows;
				problem = p;
			}
	return problem;
}

/* Lists groups, the best first. The caller frees the list. */
static struct group *find_groups(
	const struct timing_matrix *matrix, enum shared_goal goal, size_t *count)
{
	struct group *groups = memory_zeroed(matrix->count + 1, sizeof(*groups));
	const size_t problem = largest_problem(matrix);

	*count = 0;
	for (size_t i = 0; i < matrix->count; i++) {
		struct config_times *row = &matrix->rows[i];
		struct group group = {.row = row};
		bool is_new = true;

		if (goal == SHARED_BITS)
			group = (struct group){.bits = row->bits[problem]};
		for (size_t k = 0; k < *count && group.bits; k++)
			is_new &= !has_bits(row, groups[k].bits, problem);
		if (!is_new || (!group.row && !group.bits))
			continue;
		group_rate(matrix, goal, &group);
		groups[(*count)++] = group;
	}
	if (*count)
		qsort(groups, *count, sizeof(*groups), group_compare);
	return groups;
}

static int row_compare(const void *a_, const void *b_)
{
	const struct config_times *a = a_, *b = b_;

	if (a->has_won != b->has_won)
		return a->has_won ? -1 : 1;
	return a->score != b->score ? (a->score > b->score) - (a->score < b->score)
				    : strcmp(a->configuration, b->configuration);
}

/* Keeps each problem's winners, overall or in the best classes, and the best. Clears all times. */
static void keep_best(struct timing_matrix *matrix, enum shared_goal goal,
	const struct group *groups, size_t count)
{
	const size_t least = goal == SHARED_BITS ? 0 : COMPARED_MIN;
	const size_t classes = goal != SHARED_BITS ? 0 : count < CLASSES_MAX ? count : CLASSES_MAX;
	size_t winners = 0;

	for (size_t c = 0; c <= classes; c++)
		for (size_t p = 0; p < matrix->run->problems->count; p++) {
			struct config_times *best =
				fastest_row(matrix, c ? groups[c - 1].bits : NULL, p);

			if (best)
				best->has_won = true;
		}
	if (matrix->count)
		qsort(matrix->rows, matrix->count, sizeof(*matrix->rows), row_compare);
	while (winners < matrix->count && matrix->rows[winners].has_won)
		winners++;
	rows_cut(matrix, winners > least ? winners : least);
	for (size_t i = 0; i < matrix->count; i++)
		memset(matrix->rows[i].us, 0,
			matrix->run->problems->count * sizeof(*matrix->rows[i].us));
}

/* Appends "(BM == 128 and BN == 256) or (...)" for the rows of a family. */
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

/* Times the configurations for all problems, one family at a time. */
static enum status matrix_compare(struct timing_matrix *matrix, struct error *err)
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

static enum status none_serves_all(
	const struct timing_matrix *matrix, enum shared_goal goal, struct error *err)
{
	if (goal == SHARED_BITS) {
		error_set(err, STATUS_FAILED,
			"--bits: none of the %zu best configurations gives the same bits for all "
			"%zu problems",
			matrix->count, matrix->run->problems->count);
		return error_hint(err,
			"choose a key that counts the outermost rows of the outputs, or try "
			"more configurations with --effort thorough");
	}
	error_set(err, STATUS_FAILED,
		"--shared: none of the %zu best configurations works for all %zu problems",
		matrix->count, matrix->run->problems->count);
	return error_hint(err, "choose problems that are more alike, or one family with --family");
}

static void take_group(
	const struct timing_matrix *matrix, const struct group *group, struct shared_choice *shared)
{
	const size_t problems = matrix->run->problems->count;

	shared->bits = output_digest_copy(group->bits);
	shared->mean_loss = expm1(group->mean);
	shared->largest_loss = expm1(group->largest);
	shared->us = memory_zeroed(problems, sizeof(*shared->us));
	shared->best_us = memory_zeroed(problems, sizeof(*shared->best_us));
	shared->members = memory_zeroed(matrix->count + 1, sizeof(*shared->members));
	for (size_t p = 0; p < problems; p++) {
		shared->us[p] = group_us(matrix, group, p);
		shared->best_us[p] = fastest_row(matrix, NULL, p)->us[p];
	}
	for (size_t i = 0; i < matrix->count; i++) {
		const struct config_times *row = &matrix->rows[i];
		bool is_member = row == group->row;

		for (size_t p = 0; p < problems && group->bits; p++)
			is_member |= has_bits(row, group->bits, p);
		if (is_member)
			shared->members[shared->member_count++] = (struct shared_member){
				string_copy(row->family), string_copy(row->configuration)};
	}
}

enum status shared_choose(const struct tune_run *run, enum shared_goal goal,
	struct shared_choice *shared, struct error *err)
{
	CLEANUP(matrix_release) struct timing_matrix matrix = {.run = run, .is_search = true};
	CLEANUP(memory_free) struct group *found = NULL, *groups = NULL;
	size_t count;

	TRY(matrix_run(&matrix, &run->options->candidates, err));
	found = find_groups(&matrix, goal, &count);
	keep_best(&matrix, goal, found, count);
	matrix.is_search = false;
	TRY(matrix_compare(&matrix, err));
	groups = find_groups(&matrix, goal, &count);
	if (!count || !groups[0].is_whole)
		return none_serves_all(&matrix, goal, err);
	shared->compared = matrix.count;
	shared->classes = count;
	take_group(&matrix, &groups[0], shared);
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
	free(shared->us);
	free(shared->best_us);
	*shared = (struct shared_choice){0};
}
