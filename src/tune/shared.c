/* SPDX-License-Identifier: MIT */
#include "tune/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/record_wire.h"

const char *const shared_goal_names[] = {"mean", "worst", NULL};

enum {
	COMPARED_MIN = 24, /* configurations that are timed for all problems; more: all that won */
	CLASSES_MAX = 3    /* classes whose best configurations are timed for all problems */
};
static const double untimed_loss = 0.3; /* logarithm that a problem without a time counts for */

/* A configuration with its times. */
struct row {
	char *family, *configuration;
	double *us;         /* per problem; 0: none */
	struct bits **bits; /* per problem; NULL: not known */
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
		for (size_t p = 0; p < gather->session->problems->count; p++)
			bits_free(&row->bits[p]);
		free(row->bits);
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
		.us = memory_zeroed(gather->session->problems->count, sizeof(*row->us)),
		.bits = memory_zeroed(gather->session->problems->count, sizeof(*row->bits))};
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

static size_t number_of(const struct gather *gather, const struct problem *problem)
{
	const struct problem_list *problems = gather->session->problems;
	size_t p = 0;

	while (p < problems->count && strcmp(problems->items[p]->text, problem->text) != 0)
		p++;
	return p;
}

static void hear_end(void *context, const struct problem_result *result)
{
	struct gather *gather = context;
	const size_t p = number_of(gather, result->pool->problem);

	if (gather->is_search)
		gather->session->observer.end(gather->session->observer.context, result);
	for (size_t i = 0; p < gather->session->problems->count && i < result->evaluated->count;
		i++) {
		const struct evaluation *evaluation = &result->evaluated->items[i].evaluation;
		struct row *row = evaluation->outcome == OUTCOME_OK && evaluation->time.count
					  ? row_of(gather, evaluation)
					  : NULL;

		if (row && evaluation->bits) {
			bits_free(&row->bits[p]);
			row->bits[p] = bits_copy(evaluation->bits);
		}
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

static void hear_words(void *context, const char *text)
{
	const struct gather *gather = context;

	if (gather->is_search)
		gather->session->observer.words(gather->session->observer.context, text);
}

/* A row's time for one problem, for the process of the run. */
struct row_time {
	char *family, *configuration;
	double us;
};
static const struct record_member row_time_members[] = {
	RECORD_VALUE(struct row_time, family, "family"),
	RECORD_VALUE(struct row_time, configuration, "configuration"),
	RECORD_VALUE(struct row_time, us, "us"),
};
static RECORD_DEFINE(struct row_time, row_time_record, row_time_members, .name = "row_time");

struct row_times {
	struct row_time *items;
	size_t count;
};
static const struct record_member row_times_members[] = {
	RECORD_RECORDS(struct row_times, items, count, row_time_record, "items"),
};
static RECORD_DEFINE(struct row_times, row_times_record, row_times_members, .name = "row_times");

static void write_times(void *context, const struct problem *problem, struct text *kept)
{
	const struct gather *gather = context;
	const size_t p = number_of(gather, problem);
	struct row_times times = {
		.items = memory_zeroed(gather->count + 1, sizeof(struct row_time))};

	for (size_t i = 0; p < gather->session->problems->count && i < gather->count; i++)
		if (gather->rows[i].us[p] > 0)
			times.items[times.count++] = (struct row_time){gather->rows[i].family,
				gather->rows[i].configuration, gather->rows[i].us[p]};
	record_pack(&row_times_record, &times, kept);
	free(times.items);
}

static void read_times(void *context, const struct problem *problem, const struct text *kept)
{
	struct gather *gather = context;
	const size_t p = number_of(gather, problem);
	struct row_times times = {0};

	if (p == gather->session->problems->count ||
		record_unpack(&row_times_record, text_string(kept), kept->length, "tuning process",
			&times, NULL, NULL) != STATUS_OK)
		return;
	for (size_t i = 0; i < times.count; i++) {
		const struct evaluation named = {.family = times.items[i].family,
			.configuration = times.items[i].configuration};
		struct row *row = row_of(gather, &named);

		if (row)
			row->us[p] = times.items[i].us;
	}
	record_release(&row_times_record, &times);
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
	session.join = NULL;
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
		.notice = hear_notice,
		.words = hear_words,
		.write = write_times,
		.read = read_times};
	if (!gather->is_search) {
		session.effort = effort_find("exhaustive");
		session.strategy = NULL;
	}
	status = session_run(&session, err);
	free(session.gpus);
	tuned_release(&tuned);
	return status;
}

/* ---- what is compared ---- */
/* A row with these bits; NULL: any. */
static bool is_member(const struct row *row, const struct bits *bits, size_t problem)
{
	return !bits ||
	       (row->bits[problem] && bits_compare(row->bits[problem], bits, NULL) == BITS_SAME);
}

/* The fastest of those for a problem; NULL: none. */
static struct row *class_best(const struct gather *gather, const struct bits *bits, size_t problem)
{
	struct row *best = NULL;

	for (size_t i = 0; i < gather->count; i++) {
		struct row *row = &gather->rows[i];

		if (row->us[problem] > 0 && is_member(row, bits, problem) &&
			(!best || row->us[problem] < best->us[problem]))
			best = row;
	}
	return best;
}

static double best_of(const struct gather *gather, size_t problem)
{
	const struct row *best = class_best(gather, NULL, problem);

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
			gather->session->problems->count * sizeof(*gather->rows[i].us));
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
	forget_times(gather);
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

static void choice_open(const struct gather *gather, struct shared_choice *shared)
{
	const size_t problems = gather->session->problems->count;

	shared->us = memory_zeroed(problems, sizeof(*shared->us));
	shared->best_us = memory_zeroed(problems, sizeof(*shared->best_us));
	shared->compared = gather->count;
	for (size_t p = 0; p < problems; p++)
		shared->best_us[p] = best_of(gather, p);
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
	choice_open(&gather, shared);
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

/* ---- classes ---- */
struct bits_class {
	const struct bits *bits;
	double mean, largest; /* logarithms of losses; of what is not known untimed_loss */
	bool is_whole;        /* a configuration for each problem, after all were timed */
};

static struct bits_class class_of(const struct gather *gather, const struct bits *bits)
{
	const size_t problems = gather->session->problems->count;
	struct bits_class class = {.bits = bits, .is_whole = !gather->is_search};

	for (size_t p = 0; p < problems; p++) {
		const struct row *best = class_best(gather, bits, p);
		const double loss = best ? log(best->us[p] / best_of(gather, p)) : untimed_loss;

		class.mean += loss / (double)problems;
		class.largest = fmax(class.largest, loss);
		class.is_whole &= best != NULL;
	}
	return class;
}

static int class_compare(const void *a_, const void *b_)
{
	const struct bits_class *a = a_, *b = b_;

	if (a->is_whole != b->is_whole)
		return a->is_whole ? -1 : 1;
	return a->mean != b->mean ? (a->mean > b->mean) - (a->mean < b->mean)
				  : strcmp(a->bits->digests[0], b->bits->digests[0]);
}

/* Different digests of the problem with the most rows, the best class first; the caller frees. */
static struct bits_class *find_classes(const struct gather *gather, size_t *count)
{
	struct bits_class *classes = memory_zeroed(gather->count + 1, sizeof(*classes));
	uint64_t rows = 0;
	size_t problem = 0;

	*count = 0;
	for (size_t i = 0; i < gather->count; i++)
		for (size_t p = 0; p < gather->session->problems->count; p++)
			if (gather->rows[i].bits[p] && gather->rows[i].bits[p]->rows > rows) {
				rows = gather->rows[i].bits[p]->rows;
				problem = p;
			}
	for (size_t i = 0; i < gather->count; i++) {
		const struct bits *bits = gather->rows[i].bits[problem];
		size_t k = 0;

		while (bits && k < *count && bits_compare(classes[k].bits, bits, NULL) != BITS_SAME)
			k++;
		if (bits && k == *count)
			classes[(*count)++] = class_of(gather, bits);
	}
	if (*count)
		qsort(classes, *count, sizeof(*classes), class_compare);
	return classes;
}

/* What was the fastest of one of the best classes for some problem, or of all. */
static void keep_classes(struct gather *gather, const struct bits_class *classes, size_t count)
{
	const size_t problems = gather->session->problems->count;
	size_t kept = 0;

	for (size_t c = 0; c <= count && c <= CLASSES_MAX; c++)
		for (size_t p = 0; p < problems; p++) {
			struct row *best = class_best(gather, c ? classes[c - 1].bits : NULL, p);

			if (best)
				best->has_won = true;
		}
	for (size_t i = 0; i < gather->count; i++)
		kept += gather->rows[i].has_won;
	if (gather->count)
		qsort(gather->rows, gather->count, sizeof(*gather->rows), row_compare);
	rows_cut(gather, kept);
	forget_times(gather);
}

static void take_class(
	const struct gather *gather, const struct bits_class *class, struct shared_choice *shared)
{
	const size_t problems = gather->session->problems->count;

	shared->bits = bits_copy(class->bits);
	shared->mean_loss = expm1(class->mean);
	shared->largest_loss = expm1(class->largest);
	shared->members = memory_zeroed(gather->count + 1, sizeof(*shared->members));
	for (size_t p = 0; p < problems; p++)
		shared->us[p] = class_best(gather, class->bits, p)->us[p];
	for (size_t i = 0; i < gather->count; i++) {
		const struct row *row = &gather->rows[i];
		bool is_any = false;

		for (size_t p = 0; p < problems; p++)
			is_any |= is_member(row, class->bits, p);
		if (is_any)
			shared->members[shared->member_count++] = (struct shared_member){
				string_copy(row->family), string_copy(row->configuration)};
	}
}

enum status shared_choose_class(
	const struct session *session, struct shared_choice *shared, struct error *err)
{
	CLEANUP(gather_release) struct gather gather = {.session = session, .is_search = true};
	const size_t problems = session->problems->count;
	CLEANUP(memory_free) struct bits_class *found = NULL, *classes = NULL;
	size_t count;

	TRY(run(&gather, &session->pool, err));
	found = find_classes(&gather, &count);
	keep_classes(&gather, found, count);
	gather.is_search = false;
	TRY(compare(&gather, err));
	classes = find_classes(&gather, &count);
	if (!count || !classes[0].is_whole) {
		error_set(err, STATUS_FAILED,
			"--bits: expected configurations with the same bits for all %zu problems, "
			"found none among the %zu best",
			problems, gather.count);
		return error_hint(err, "the key should count the outermost rows of the outputs; "
				       "--effort thorough tries more");
	}
	choice_open(&gather, shared);
	shared->classes = count;
	take_class(&gather, &classes[0], shared);
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
