/* SPDX-License-Identifier: MIT */
#include "advise/advise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/record_write.h"
#include "engine/row.h"

const double advice_gain_least_ratio = 0.01;

/* Variants to tune, on a model and on a GPU, which takes seconds for each. */
static const size_t tuned_of_kind[VARIANT_KIND_COUNT][2] = {[VARIANT_PAD] = {3, 2},
	[VARIANT_PITCH] = {2, 1},
	[VARIANT_CHOOSE] = {2, 1},
	[VARIANT_SHRINK] = {2, 1}};

bool advice_is_same_work(const struct advice *row)
{
	return !row->variant || row->variant->kind == VARIANT_PAD ||
	       row->variant->kind == VARIANT_PITCH;
}

double advice_gain_ratio(const struct advice *row)
{
	return advice_is_same_work(row) ? row->net_gain_ratio : row->throughput_gain_ratio;
}

/* Returns the problem with the roundest sizes, for which other families may be legal, or NULL if
 * the given problem is as round. */
static const struct problem *roundest(const struct advise *advise, const struct problem *asked)
{
	const struct problem *best = NULL;
	int most = variant_roundness(asked);

	for (size_t i = 0; i < advise->variants.count; i++) {
		const struct problem *problem = advise->variants.items[i].problem;
		const int round = variant_roundness(problem);

		if (round > most) {
			most = round;
			best = problem;
		}
	}
	return best;
}

/* ---- finding the most promising variants ---- */
static double work_of(const struct problem *problem)
{
	double work = 0;

	if (problem_flop(problem, &work, NULL) == STATUS_OK && work > 0)
		return work;
	problem_min_bytes(problem, &work, NULL);
	return work;
}

/* Assumes a slightly lower rate of work if the family needs another kernel for the problem.
 * Infinite if the family does not apply. */
static double predict_row(const struct context *context, const struct family *family,
	const struct problem *problem, double work_ratio, const struct tuned_row *row)
{
	const double other_kernel_ratio = 1.05;
	CLEANUP(candidate_release) struct candidate candidate = {0};
	bool retuned_arguments, applies;

	if (row_candidate(&context->catalogue, problem, context->device->spec, row, &candidate,
		    &retuned_arguments, NULL) == STATUS_OK)
		return candidate.prediction.time_us;
	if (family_applies(family, problem, context->device->spec, &applies, NULL, NULL) !=
			STATUS_OK ||
		!applies)
		return INFINITY;
	return row->result.time.median * work_ratio * other_kernel_ratio;
}

/* promised_us has an item for each family of the catalogue. */
static void promise_row(const struct context *context, const struct problem *problem,
	double work_ratio, const struct tuned_row *row, double *promised_us)
{
	const struct catalogue *catalogue = &context->catalogue;

	for (size_t i = 0; i < catalogue->family_count; i++)
		if (strcmp(catalogue->families[i]->name, row->result.family) == 0)
			promised_us[i] =
				fmin(promised_us[i], predict_row(context, catalogue->families[i],
							     problem, work_ratio, row));
}

/* Returns the shortest time for this problem that the kernels found so far are predicted to reach.
 * `hopeless` (may be NULL) gets the families whose kernels take much longer than that, or than the
 * given problem at the same rate of work. */
static double promise(
	const struct advise *advise, const struct problem *problem, const char **hopeless)
{
	const double hopeless_ratio = 1.2;
	const struct tuned *tuned = advise->run->tuned;
	const struct context *context = advise->run->context;
	const size_t family_count = context->catalogue.family_count;
	CLEANUP(memory_free)
	double *promised_us = memory_zeroed(family_count, sizeof(*promised_us));
	const struct tuned_entry *asked = tuned_find_problem(tuned, advise->asked, OBJECTIVE_TIME);
	double best_us = INFINITY, asked_us = INFINITY;

	for (size_t i = 0; i < family_count; i++)
		promised_us[i] = INFINITY;
	for (size_t e = 0; e < tuned->entry_count; e++) {
		const struct tuned_entry *entry = &tuned->entries[e];
		struct problem *tuned_problem;
		double ratio;

		if (problem_from_named_values(
			    problem->operation, &entry->problem, &tuned_problem, NULL) != STATUS_OK)
			continue;
		ratio = work_of(problem) / work_of(tuned_problem);
		problem_free(tuned_problem);
		if (entry == asked)
			asked_us = ratio * entry->winner.result.time.median;
		promise_row(context, problem, ratio, &entry->winner, promised_us);
		for (size_t i = 0; i < entry->family_count; i++)
			promise_row(context, problem, ratio, &entry->families[i], promised_us);
		for (size_t i = 0; i < entry->tied_count; i++) {
			struct tuned_row tied = tuned_entry_tied(entry, &entry->tied[i]);

			promise_row(context, problem, ratio, &tied, promised_us);
			named_values_release(&tied.configuration);
		}
	}
	for (size_t i = 0; i < family_count; i++)
		best_us = fmin(best_us, promised_us[i]);
	for (size_t i = 0; i < family_count && hopeless; i++)
		if (isfinite(promised_us[i]) &&
			promised_us[i] > hopeless_ratio * fmin(best_us, asked_us))
			*hopeless++ = context->catalogue.families[i]->name;
	return best_us;
}

/* Excludes hopeless families, whose predictions take most of the time and change nothing. */
static enum status tune(
	const struct advise *advise, const struct problem *problem, struct error *err)
{
	struct tune_run run = *advise->run;
	struct tune_options options = *run.options;
	CLEANUP(memory_free)
	const char **hopeless =
		memory_zeroed(run.context->catalogue.family_count + 1, sizeof(*hopeless));
	enum status status;

	if (!options.effort->measures)
		promise(advise, problem, hopeless);
	options.candidates.excluded = hopeless;
	run.options = &options;
	/* borrowed: a run frees nothing of its list */
	run.problems = &(struct problem_list){.items = (struct problem **)&problem, .count = 1};
	status = tune_problems(&run, err);
	if (status != STATUS_BAD_INPUT || !*hopeless)
		return status;
	/* only hopeless families can compute the problem */
	options.candidates.excluded = NULL;
	return tune_problems(&run, err);
}

static enum status open_row(const struct advise *advise, struct advice *row,
	const struct variant *variant, const struct problem *problem, struct error *err)
{
	const struct operation *operation = problem->operation;
	const struct advice *asked = &advise->rows[0];

	*row = (struct advice){.variant = variant,
		.problem = problem,
		.tensors = memory_zeroed(operation->tensor_count + 1, sizeof(*row->tensors)),
		.promised_us = promise(advise, problem, NULL)};
	TRY(operation_tensors_evaluate(operation, problem->values, row->tensors, err));
	for (size_t i = 0; i < operation->tensor_count; i++)
		row->tensor_bytes += tensor_bytes(&row->tensors[i]);
	row->work = work_of(problem);
	row->rank_ratio = asked->promised_us / row->promised_us;
	if (!advice_is_same_work(row))
		row->rank_ratio *= row->work / asked->work;
	return problem_flop(problem, &row->flop, err);
}

static void row_release(struct advice *row)
{
	for (size_t i = 0; i < row->reason_count; i++)
		free(row->reasons[i].text);
	free(row->reasons);
	free(row->tensors);
	*row = (struct advice){0};
}

static int compare_rows(const void *a, const void *b)
{
	const struct advice *x = a, *y = b;
	const double level_ratio = 0.005;
	const double x_level = floor(x->rank_ratio / level_ratio);
	const double y_level = floor(y->rank_ratio / level_ratio);

	if (x->variant->kind != y->variant->kind)
		return x->variant->kind < y->variant->kind ? -1 : 1;
	if (x_level > y_level || x_level < y_level)
		return x_level > y_level ? -1 : 1;
	return (x->tensor_bytes > y->tensor_bytes) - (x->tensor_bytes < y->tensor_bytes);
}

static void choose_rows(struct advise *advise)
{
	const bool measures = advise->run->context->device->kind->measures;
	size_t kept = 1, of_kind[VARIANT_KIND_COUNT] = {0};

	qsort(advise->rows + 1, advise->row_count - 1, sizeof(*advise->rows), compare_rows);
	for (size_t i = 1; i < advise->row_count; i++) {
		struct advice *row = &advise->rows[i];
		const enum variant_kind kind = row->variant->kind;

		if (of_kind[kind] < tuned_of_kind[kind][measures] && isfinite(row->promised_us)) {
			of_kind[kind]++;
			advise->rows[kept++] = *row;
		} else {
			row_release(row);
		}
	}
	advise->row_count = kept;
}

static enum status open_rows(struct advise *advise, const struct problem *asked, struct error *err)
{
	advise->rows = memory_zeroed(advise->variants.count + 1, sizeof(*advise->rows));
	advise->row_count++;
	TRY(open_row(advise, &advise->rows[0], NULL, asked, err));
	for (size_t i = 0; i < advise->variants.count; i++) {
		const struct variant *variant = &advise->variants.items[i];

		advise->row_count++;
		TRY(open_row(advise, &advise->rows[i + 1], variant, variant->problem, err));
	}
	choose_rows(advise);
	return STATUS_OK;
}

static double copy_us(
	const struct advice *asked, const struct advice *row, const struct device_spec *device)
{
	double bytes = 0;

	for (size_t i = 0; i < row->problem->operation->tensor_count; i++) {
		const struct plan_buffer *old = &asked->tensors[i], *now = &row->tensors[i];

		if (old->rows != now->rows || old->columns != now->columns || old->ld != now->ld)
			bytes += tensor_bytes(old) + tensor_bytes(now);
	}
	return device->dram_bytes_per_s > 0 ? bytes / device->dram_bytes_per_s * 1e6 : 0;
}

static void advise_compare(const struct advise *advise, struct advice *row)
{
	const struct advice *asked = &advise->rows[0];
	const struct summary *before, *now;
	double least_ratio;

	row->rank_ratio = -INFINITY;
	if (!row->entry || row == asked)
		return;
	before = &asked->entry->winner.result.time;
	now = &row->entry->winner.result.time;
	row->net_gain_ratio = before->median / now->median - 1;
	row->throughput_gain_ratio = (1 + row->net_gain_ratio) * row->work / asked->work - 1;
	row->copy_us = copy_us(asked, row, advise->run->context->device->spec);
	/* sum of half the relative intervals of both times */
	least_ratio = (before->ci95_high - before->ci95_low) / before->median / 2 +
		      (now->ci95_high - now->ci95_low) / now->median / 2;
	row->rank_ratio = advice_gain_ratio(row);
	row->is_better = row->rank_ratio >= fmax(advice_gain_least_ratio, least_ratio);
	advice_explain(
		advise->run->context->device->spec, &advise->run->context->catalogue, asked, row);
}

static const struct record_member change_members[] = {
	RECORD_VALUE(struct variant_change, name, "name"),
	RECORD_VALUE(struct variant_change, from, "from"),
	RECORD_VALUE(struct variant_change, to, "to"),
};
static RECORD_DEFINE(struct variant_change, change_record, change_members, .name = "change");

static const struct record_member reason_members[] = {
	RECORD_VALUE(struct advice_reason, kind, "kind"),
	RECORD_VALUE(struct advice_reason, text, "text"),
};
static RECORD_DEFINE(struct advice_reason, reason_record, reason_members, .name = "reason");

static struct json *cost_json(const struct advice *asked, const struct advice *row)
{
	struct json *cost = json_new_object();
	const double time_us = row->entry->winner.result.time.median;

	json_put_double(cost, "extra_flop_ratio", row->work / asked->work - 1);
	json_put_double(cost, "extra_bytes", row->tensor_bytes - asked->tensor_bytes);
	json_put_double(cost, "copy_us", row->copy_us);
	json_put_double(cost, "net_gain_with_copy_ratio",
		asked->entry->winner.result.time.median / (time_us + row->copy_us) - 1);
	return cost;
}

static void put_why(const struct advise *advise, struct advice *row)
{
	const struct advice *asked = &advise->rows[0];
	struct json *why, *changes, *reasons;

	if (!row->entry)
		return;
	why = json_new_object();
	row->entry->winner.why = why;
	if (row == asked)
		return;
	json_put_string(why, "kind", variant_kind_names[row->variant->kind]);
	changes = json_new_array();
	for (size_t i = 0; i < row->variant->change_count; i++)
		json_push(changes, record_to_json(&change_record, &row->variant->changes[i]));
	json_put(why, "changes", changes);
	json_put_bool(why, "better", row->is_better);
	json_put_double(why, "net_gain_ratio", row->net_gain_ratio);
	json_put_double(why, "throughput_gain_ratio", row->throughput_gain_ratio);
	if (advice_is_same_work(row))
		json_put(why, "cost", cost_json(asked, row));
	reasons = json_new_array();
	for (size_t i = 0; i < row->reason_count; i++)
		json_push(reasons, record_to_json(&reason_record, &row->reasons[i]));
	json_put(why, "reasons", reasons);
}

static void conclude(struct advise *advise)
{
	const struct tuned *tuned = advise->run->tuned;

	for (size_t i = 0; i < advise->row_count; i++)
		advise->rows[i].entry =
			tuned_find_problem(tuned, advise->rows[i].problem, OBJECTIVE_TIME);
	for (size_t i = 0; i < advise->row_count; i++)
		advise_compare(advise, &advise->rows[i]);
	qsort(advise->rows + 1, advise->row_count - 1, sizeof(*advise->rows), compare_rows);
	for (size_t i = 0; i < advise->row_count; i++)
		put_why(advise, &advise->rows[i]);
}

enum status advise_run(struct advise *advise, struct tune_run *run, const struct problem *problem,
	const char *text, struct error *err)
{
	const struct problem *round;
	struct error reason = {0};

	*advise = (struct advise){.run = run, .asked = problem};
	TRY(variants_make(problem, text, &advise->variants, err));
	TRY(tune(advise, problem, err));
	round = roundest(advise, problem);
	if (round)
		tune(advise, round, &reason);
	TRY(open_rows(advise, problem, err));
	/* variants that cannot be tuned are left out */
	for (size_t i = 1; i < advise->row_count; i++) {
		if (advise->rows[i].problem != round)
			tune(advise, advise->rows[i].problem, &reason);
		if (reason.status == STATUS_INTERRUPTED || reason.status == STATUS_NO_DEVICE) {
			*err = reason;
			return reason.status;
		}
	}
	conclude(advise);
	return STATUS_OK;
}

void advise_release(struct advise *advise)
{
	for (size_t i = 0; i < advise->row_count; i++)
		row_release(&advise->rows[i]);
	free(advise->rows);
	variant_list_release(&advise->variants);
	*advise = (struct advise){0};
}
