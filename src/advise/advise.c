/* SPDX-License-Identifier: MIT */
#include "advise/advise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/tuned.h"

/* How many variants of a kind are looked at closely. */
static const size_t close_looks[VARIANT_KIND_COUNT] = {
	[VARIANT_PAD] = 5, [VARIANT_PITCH] = 3, [VARIANT_CHOOSE] = 4, [VARIANT_SHRINK] = 3};
enum {
	TUNED_VARIANTS = 3, /* on a GPU, beside the asked problem */
};

static enum status open_row(struct advise *advise, struct advice_row *row,
	const struct problem *problem, struct error *err)
{
	TRY(problem_flop(problem, &row->flop, err));
	row->best_of.problem = problem;
	TRY(problem_min_bytes(problem, &row->min_bytes, err));
	row->work = row->flop > 0 ? row->flop : row->min_bytes;
	return seeds_candidates(&advise->seeds, advise->context, problem, advise->options.families,
		&row->best_of.candidates, err);
}

static double first_prediction_us(const struct advice_row *row)
{
	return row->best_of.candidates.count ? row->best_of.candidates.items[0].prediction.time_us
					     : INFINITY;
}

static void rate_raw(const struct advice_row *asked, struct advice_row *row)
{
	double faster = first_prediction_us(asked) / first_prediction_us(row);

	row->raw_gain_ratio = faster - 1;
	if (row->variant->kind == VARIANT_CHOOSE || row->variant->kind == VARIANT_SHRINK)
		row->raw_gain_ratio = faster * row->work / asked->work - 1;
}

/* How often two divides the sizes that may change, a cache line of bytes and more not counted. */
static int roundness(const struct operation *operation, const struct problem *problem)
{
	const struct advice_list *advice = &operation->advice;
	const int enough = 7;
	int sum = 0;

	for (size_t i = 0; i < advice->count; i++) {
		int64_t value;
		int twos = 0;

		if (advice->items[i].is_pitch ||
			!value_as_int(problem->values[advice->items[i].key], &value))
			continue;
		while (twos < enough && value % (INT64_C(2) << twos) == 0)
			twos++;
		sum += twos;
	}
	return sum;
}

/* The variant of the roundest sizes: seeds for aligned problems are found on it. NULL: the asked
 * problem is as round. */
static const struct variant *roundest(const struct advise *advise)
{
	const struct variant *best = NULL;
	int most = roundness(advise->operation, advise->asked.items[0]);

	for (size_t i = 0; i < advise->variants.count; i++) {
		const struct variant *variant = &advise->variants.items[i];
		int round = roundness(advise->operation, variant->problem);

		if (round > most) {
			most = round;
			best = variant;
		}
	}
	return best;
}

static enum status open_rows(struct advise *advise, struct error *err)
{
	const struct problem *asked = advise->asked.items[0];
	const struct variant *aligned = roundest(advise);
	const char *const *families = advise->options.families;

	TRY(seeds_scan(&advise->seeds, advise->context, asked, families, err));
	if (aligned)
		TRY(seeds_scan(&advise->seeds, advise->context, aligned->problem, families, err));
	advise->rows = memory_zeroed(advise->variants.count + 1, sizeof(*advise->rows));
	TRY(open_row(advise, &advise->rows[advise->row_count++], asked, err));
	for (size_t i = 0; i < advise->variants.count; i++) {
		struct advice_row *row = &advise->rows[advise->row_count++];

		row->variant = &advise->variants.items[i];
		TRY(open_row(advise, row, row->variant->problem, err));
		rate_raw(&advise->rows[0], row);
	}
	return STATUS_OK;
}

static void row_release(struct advice_row *row)
{
	candidate_list_release(&row->best_of.candidates);
	for (size_t i = 0; i < row->reason_count; i++)
		free(row->reasons[i].text);
	free(row->reasons);
	*row = (struct advice_row){0};
}

static int compare_raw(const void *a, const void *b)
{
	const struct advice_row *x = a, *y = b;

	if (x->variant->kind != y->variant->kind)
		return x->variant->kind < y->variant->kind ? -1 : 1;
	return x->raw_gain_ratio > y->raw_gain_ratio   ? -1
	       : x->raw_gain_ratio < y->raw_gain_ratio ? 1
						       : 0;
}

/* Keeps the most promising rows of each kind. */
static void choose_rows(struct advise *advise)
{
	size_t kept = 1, of_kind[VARIANT_KIND_COUNT] = {0};

	qsort(advise->rows + 1, advise->row_count - 1, sizeof(*advise->rows), compare_raw);
	for (size_t i = 1; i < advise->row_count; i++) {
		struct advice_row *row = &advise->rows[i];
		enum variant_kind kind = row->variant->kind;

		if (of_kind[kind]++ < close_looks[kind] && isfinite(first_prediction_us(row)))
			advise->rows[kept++] = *row;
		else
			row_release(row);
	}
	advise->row_count = kept;
}

/* Makes the winner of an entry a seed. */
static void take_winner(
	struct advise *advise, const struct tuned *tuned, const struct advice_row *row)
{
	const struct candidate_list *list = &row->best_of.candidates;
	const struct tuned_entry *entry =
		tuned_find_problem(tuned, row->best_of.problem, OBJECTIVE_TIME);

	for (size_t i = 0; entry && i < list->bound_count; i++) {
		const struct bound_family *bound = list->bounds[i];
		choice choices[SPACE_PARAMETERS_MAX];
		CLEANUP(text_release) struct text text = {0};

		if (strcmp(bound->family->name, entry->winner.family) != 0 ||
			configuration_from_named_values(
				bound, &entry->winner.configuration, choices, NULL) != STATUS_OK)
			continue;
		configuration_format(bound, choices, &text);
		seeds_add(&advise->seeds, bound->family, text_string(&text), true);
	}
}

/* The rows that deserve a search of their own: the asked problem and what promises most. */
static size_t choose_tuned(const struct advise *advise, const struct advice_row **chosen)
{
	size_t count = 0;

	chosen[count++] = &advise->rows[0];
	while (count <= TUNED_VARIANTS) {
		const struct advice_row *best = NULL;

		for (size_t i = 1; i < advise->row_count; i++) {
			const struct advice_row *row = &advise->rows[i];
			bool taken = false;

			for (size_t k = 0; k < count; k++)
				taken |= chosen[k] == row;
			if (!taken && (!best || row->raw_gain_ratio > best->raw_gain_ratio))
				best = row;
		}
		if (!best)
			break;
		chosen[count++] = best;
	}
	return count;
}

/* On a GPU: searches, whose winners every row may use. */
static enum status tune_rows(struct advise *advise, struct error *err)
{
	const struct advice_row *chosen[TUNED_VARIANTS + 1];
	struct problem *problems[TUNED_VARIANTS + 1];
	size_t count = choose_tuned(advise, chosen);
	struct problem_list list = {.items = problems, .count = count, .capacity = count};
	struct tuned tuned;
	enum status status;

	/* borrowed: who tunes frees nothing of the list */
	for (size_t i = 0; i < count; i++)
		problems[i] = i ? chosen[i]->variant->problem : advise->asked.items[0];
	tuned_init(&tuned, "advise",
		gpu_model_of(device_spec(advise->context->device),
			device_identity(advise->context->device)->name));
	status = advise->options.tune(advise->options.tune_context, &list, &tuned, err);
	for (size_t i = 0; i < count; i++)
		take_winner(advise, &tuned, chosen[i]);
	tuned_release(&tuned);
	/* what cannot be tuned is told by its row */
	if (status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE)
		return status;
	for (size_t i = 0; i < advise->row_count; i++) {
		struct best_of *best_of = &advise->rows[i].best_of;

		candidate_list_release(&best_of->candidates);
		TRY(seeds_candidates(&advise->seeds, advise->context, best_of->problem,
			advise->options.families, &best_of->candidates, err));
	}
	return STATUS_OK;
}

static double tensor_bytes(const struct plan *plan)
{
	double bytes = 0;

	for (size_t i = 0; i < plan->tensor_count; i++)
		bytes += (double)plan->buffers[i].bytes;
	return bytes;
}

/* Reading and writing what lies differently in memory, at the sheet's bandwidth. */
static double copy_us(
	const struct plan *before, const struct plan *now, const struct device_spec *device)
{
	double bytes = 0;

	for (size_t i = 0; i < now->tensor_count; i++) {
		const struct plan_buffer *old = &before->buffers[i], *new = &now->buffers[i];

		if (old->rows != new->rows || old->columns != new->columns || old->ld != new->ld)
			bytes += (double)old->bytes + (double)new->bytes;
	}
	return device->dram_bytes_per_s > 0 ? bytes / device->dram_bytes_per_s * 1e6 : 0;
}

static void conclude_row(struct advise *advise, struct advice_row *row)
{
	struct advice_row *asked = &advise->rows[0];

	if (!row->best_of.best)
		return;
	row->tensor_bytes = tensor_bytes(&row->best_of.best->plan);
	if (row == asked || !asked->best_of.best)
		return;
	row->net_gain_ratio = asked->best_of.time_us / row->best_of.time_us - 1;
	row->throughput_gain_ratio = (1 + row->net_gain_ratio) * row->work / asked->work - 1;
	row->copy_us = copy_us(&asked->best_of.best->plan, &row->best_of.best->plan,
		device_spec(advise->context->device));
	advice_explain(asked, row);
}

/* Best first; of those that are level the smallest change. */
static int compare_gain(const void *a, const void *b)
{
	const double level_ratio = 0.005;
	const struct advice_row *x = a, *y = b;
	double gain_x = x->best_of.best ? floor(advice_gain_ratio(x) / level_ratio) : -INFINITY;
	double gain_y = y->best_of.best ? floor(advice_gain_ratio(y) / level_ratio) : -INFINITY;

	if (x->variant->kind != y->variant->kind)
		return x->variant->kind < y->variant->kind ? -1 : 1;
	if (gain_x > gain_y || gain_x < gain_y)
		return gain_x > gain_y ? -1 : 1;
	return (x->tensor_bytes > y->tensor_bytes) - (x->tensor_bytes < y->tensor_bytes);
}

static enum status settle(struct advise *advise, struct error *err)
{
	CLEANUP(memory_free)
	struct best_of **bests = memory_zeroed(advise->row_count, sizeof(*bests));

	for (size_t i = 0; i < advise->row_count; i++)
		bests[i] = &advise->rows[i].best_of;
	TRY(bests_settle(&advise->evaluator, bests, advise->row_count, err));
	if (!advise->rows[0].best_of.best)
		return error_set(err, STATUS_FAILED,
			"%s: expected a candidate that works, found none of %zu",
			advise->asked.items[0]->text, advise->rows[0].best_of.candidates.count);
	return STATUS_OK;
}

enum status advise_run(struct advise *advise, struct context *context,
	const struct operation *operation, const char *text, const struct advise_options *options,
	struct error *err)
{
	*advise = (struct advise){.context = context,
		.options = *options,
		.operation = operation,
		.evaluator = {.context = context, .interrupted = options->interrupted},
		.measured = device_measures(context->device)};
	TRY(variants_make(operation, text, &advise->variants, err));
	TRY(problem_parse(operation, text, &advise->asked, err));
	TRY(open_rows(advise, err));
	choose_rows(advise);
	if (advise->measured)
		TRY(tune_rows(advise, err));
	TRY(settle(advise, err));
	for (size_t i = 0; i < advise->row_count; i++)
		conclude_row(advise, &advise->rows[i]);
	qsort(advise->rows + 1, advise->row_count - 1, sizeof(*advise->rows), compare_gain);
	return STATUS_OK;
}

void advise_release(struct advise *advise)
{
	evaluator_release(&advise->evaluator); /* its trials borrow from the rows */
	for (size_t i = 0; i < advise->row_count; i++)
		row_release(&advise->rows[i]);
	free(advise->rows);
	seeds_release(&advise->seeds);
	variant_list_release(&advise->variants);
	problem_list_release(&advise->asked);
	*advise = (struct advise){0};
}
