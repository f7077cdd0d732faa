/* SPDX-License-Identifier: MIT */
#include "bench/versus/lt_comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "bench/versus/agree.h"
#include "measure/loaded.h"

enum {
	PICK_ROUNDS = 5, /* rounds for selecting among the picks */
	REMEASURED = 4,  /* the default pick, the best of the first LT_PICKS, and the two fastest
			    others */
	ROUNDS_LEAST = 7,
	GAP_ROUNDS = 100, /* maximum number of rounds with gaps */
	TENSOR_A = 0,
	TENSOR_B = 1,
	TENSOR_C = 2,
	TENSOR_SCALE_A = 3,
	TENSOR_SCALE_B = 4,
	TENSOR_BIAS = 5,
	CHAIN_TENSOR_Y = 3,
};

static const double pick_seconds = 0.15;
/* A pick whose first timed run takes this many times as long as the fastest is not timed further.
 */
static const double pick_hopeless = 1.5;

struct context;

/* cuBLASLt's timed_runs use the same tensors as ours. */
struct lt_side {
	const struct context *context;
	int only; /* index of the only product to run; -1 for all */
	int pick; /* index of the pick; a product with fewer picks uses its last one */
};

/* State of one lt_comparison. */
struct context {
	struct gpu_session *gpu;
	struct problem_data data;
	struct loaded loaded;
	struct lt_product products[PRODUCTS_MAX];
	size_t product_count;
	CUdeviceptr intermediate; /* result of the first product, which all sets share */
	uint64_t intermediate_bytes;
	struct lt_side sides[LT_PICKS_MAX];
	struct timed_run ours, theirs[LT_PICKS_MAX];
	bool usable[LT_PICKS_MAX];
	int pick_count; /* number of cuBLASLt's picks */
};

static bool run_ours(const void *context, struct gpu_session *gpu, size_t set)
{
	return loaded_run(gpu, context, set);
}

static void tensors_of(
	const struct context *context, size_t set, struct lt_tensors tensors[PRODUCTS_MAX])
{
	const CUdeviceptr *buffers =
		&context->loaded.buffers[set * context->loaded.plan.buffer_count];

	if (context->product_count == 1) {
		tensors[0] = (struct lt_tensors){buffers[TENSOR_A], buffers[TENSOR_B],
			buffers[TENSOR_C], buffers[TENSOR_SCALE_A], buffers[TENSOR_SCALE_B],
			buffers[TENSOR_BIAS]};
		return;
	}
	tensors[0] = (struct lt_tensors){
		.a = buffers[TENSOR_A], .b = buffers[TENSOR_B], .c = context->intermediate};
	tensors[1] = (struct lt_tensors){
		.a = context->intermediate, .b = buffers[TENSOR_C], .c = buffers[CHAIN_TENSOR_Y]};
}

static bool run_theirs(const void *timed, struct gpu_session *gpu, size_t set)
{
	const struct lt_side *side = timed;
	struct lt_tensors tensors[PRODUCTS_MAX];
	int result = 0;

	tensors_of(side->context, set, tensors);
	for (int i = 0; result == 0 && i < (int)side->context->product_count; i++) {
		const struct lt_product *product = &side->context->products[i];
		const int last = product->pick_count - 1;

		if (side->only < 0 || side->only == i)
			result = lt_product_run(product, side->pick < last ? side->pick : last,
				&tensors[i], gpu->stream);
	}
	return result == 0 ? true
			   : gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "cuBLASLt's pick %d: status %d",
				     side->pick, result);
}

static bool load_ours(
	struct context *context, struct kernel_store *store, const struct subject *subject)
{
	size_t units = subject->build.unit_count;
	char **cubins = memory_zeroed(units + 1, sizeof(*cubins));
	struct plan plan = {0};
	struct error err = {0};
	enum status status = STATUS_OK;

	record_copy(&plan_record, &subject->plan, &plan);
	record_copy(
		&reference_plan_record, &subject->reference, &context->data.description.reference);
	context->data.reference = &context->data.description.reference;
	for (size_t i = 0; i < units && status == STATUS_OK; i++) {
		const struct compile_result *kernel;

		status = kernel_store_wait(store, &subject->build.units[i], &kernel, &err);
		if (status == STATUS_OK)
			cubins[i] = kernel->path; /* the store owns the path */
		for (size_t k = 0; k < plan.launch_count && status == STATUS_OK; k++)
			if (plan.launches[k].unit == i)
				(void)kernel_take_entry(kernel, &plan.launches[k]);
	}
	if (status == STATUS_OK) {
		loaded_init(context->gpu, &context->loaded, &context->data, &plan, cubins, units);
		context->gpu->failure = context->loaded.failure;
	} else {
		gpu_fail(context->gpu, OUTCOME_COMPILE_FAILED, "%s", err.message);
		plan_release(&plan);
	}
	free(cubins);
	return context->gpu->failure.outcome == OUTCOME_OK;
}

/* Runs every pick once, then a few rounds of all that work. A refused pick is skipped. only: index
 * of the product to run, or -1 for all products together. */
static bool try_picks(struct context *context, int only)
{
	struct timed_run *running[LT_PICKS_MAX];
	double fastest = INFINITY;
	size_t count = 0, kept = 0;

	context->pick_count = context->products[only < 0 ? 0 : only].pick_count;
	if (only < 0 && context->products[1].pick_count > context->pick_count)
		context->pick_count = context->products[1].pick_count;
	for (int i = 0; i < context->pick_count; i++) {
		struct timed_run *timed_run = &context->theirs[i];

		context->sides[i] = (struct lt_side){context, only, i};
		*timed_run = (struct timed_run){.run = run_theirs,
			.context = &context->sides[i],
			.set_count = context->loaded.set_count};
		context->usable[i] = interleaved_prepare(context->gpu, timed_run);
		if (context->usable[i]) {
			running[count++] = timed_run;
			fastest = fmin(fastest, timed_run->estimate_us);
		} else if (context->gpu->failure.fatal) {
			return false;
		}
	}
	if (!count)
		return gpu_fail(context->gpu, OUTCOME_LAUNCH_FAILED,
			"cuBLASLt has no kernel for this product");
	for (size_t i = 0; i < count; i++) {
		const size_t pick = (size_t)(running[i] - context->theirs);

		context->usable[pick] =
			i == 0 || running[i]->estimate_us <= pick_hopeless * fastest;
		if (context->usable[pick])
			running[kept++] = running[i];
	}
	return interleaved_rounds(context->gpu, running, kept, 3, PICK_ROUNDS, pick_seconds);
}

/* Returns the fastest of the first `limit` picks that is usable and not in `taken`, or -1. */
static int fastest_pick(const struct context *context, int limit, const bool *taken)
{
	int best = -1;

	for (int i = 0; i < limit && i < context->pick_count; i++)
		if (context->usable[i] && !taken[i] &&
			(best < 0 || interleaved_median_us(&context->theirs[i]) <
					     interleaved_median_us(&context->theirs[best])))
			best = i;
	return best;
}

/* Selects the default pick, the fastest of the first LT_PICKS, and the fastest others; returns
 * their number. */
static size_t choose_remeasured(struct context *context, int remeasured[REMEASURED])
{
	bool taken[LT_PICKS_MAX] = {false};
	size_t count = 0;
	int pick = 0;

	while (!context->usable[pick])
		pick++;
	while (pick >= 0 && count < REMEASURED) {
		taken[pick] = true;
		remeasured[count++] = pick;
		pick = count == 1 ? fastest_pick(context, LT_PICKS, taken) : -1;
		if (pick < 0)
			pick = fastest_pick(context, LT_PICKS_MAX, taken);
	}
	return count;
}

static void release_theirs(struct context *context)
{
	for (int i = 0; i < LT_PICKS_MAX; i++)
		timed_run_release(context->gpu, &context->theirs[i]);
}

/* Sorts the picks of one of several products by time, with the default pick first, so that picks
 * with the same index belong together. */
static bool order_picks(struct context *context, int only)
{
	struct lt_product *product = &context->products[only];
	struct lt_heuristic ordered[LT_PICKS_MAX];
	bool taken[LT_PICKS_MAX] = {false};
	int count = 1, first = 0, pick;

	if (!try_picks(context, only))
		return false;
	while (!context->usable[first])
		first++;
	ordered[0] = product->picks[first];
	while (count < LT_PICKS_MAX && (pick = fastest_pick(context, LT_PICKS_MAX, taken)) >= 0) {
		taken[pick] = true;
		ordered[count++] = product->picks[pick];
	}
	memcpy(product->picks, ordered, (size_t)count * sizeof(*ordered));
	product->pick_count = count;
	release_theirs(context);
	return true;
}

/* Returns the time of the best pick over ours in each round; the caller frees the array. */
static double *round_ratios(const struct timed_run *ours, const struct timed_run *best)
{
	double *ratios = memory_zeroed(ours->sample_count, sizeof(*ratios));

	for (size_t i = 0; i < ours->sample_count; i++)
		ratios[i] = best->samples_us[i] / ours->samples_us[i];
	return ratios;
}

static void compare_rounds(struct lt_comparison *lt_comparison, const struct timed_run *ours,
	const struct timed_run *best)
{
	const size_t count = ours->sample_count;
	struct interval interval;
	double *ratios = round_ratios(ours, best);

	lt_comparison->rounds = count;
	lt_comparison->ratio = statistics_quantile(ratios, count, 0.5);
	lt_comparison->ratio_q25 = statistics_quantile(ratios, count, 0.25);
	lt_comparison->ratio_q75 = statistics_quantile(ratios, count, 0.75);
	interval = statistics_interval(ratios, count, CONFIDENCE_95);
	lt_comparison->ratio_low = interval.low;
	lt_comparison->ratio_high = interval.high;
	free(ratios);
}

/* Times our kernel and the remeasured picks with gaps. The best pick may differ from the one
 * without gaps. */
static bool time_gaps(struct context *context, double seconds, struct timed_run *const *running,
	size_t count, struct lt_comparison *lt_comparison)
{
	const struct timed_run *best = NULL;
	double *ratios;

	for (size_t i = 0; i < count; i++)
		interleaved_restart(running[i]);
	if (!interleaved_gaps(context->gpu, running, count, ROUNDS_LEAST, GAP_ROUNDS, seconds))
		return false;
	for (size_t i = 1; i < count; i++)
		if (!best || interleaved_median_us(running[i]) < interleaved_median_us(best))
			best = running[i];
	ratios = round_ratios(running[0], best);
	lt_comparison->gap_ratio = statistics_quantile(ratios, running[0]->sample_count, 0.5);
	lt_comparison->gap_ours_us = interleaved_median_us(running[0]);
	lt_comparison->gap_best_us = interleaved_median_us(best);
	free(ratios);
	return true;
}

static bool time_interleaved(struct context *context, const struct lt_comparison_options *options,
	struct lt_comparison *lt_comparison)
{
	int remeasured[REMEASURED];
	size_t count = choose_remeasured(context, remeasured);
	const size_t output = context->product_count > 1 ? CHAIN_TENSOR_Y : TENSOR_C;
	struct timed_run *running[REMEASURED + 1] = {&context->ours};
	size_t best = 0;

	for (size_t i = 0; i < count; i++) {
		running[i + 1] = &context->theirs[remeasured[i]];
		interleaved_restart(running[i + 1]);
	}
	if (!interleaved_rounds(context->gpu, running, count + 1, ROUNDS_LEAST, options->rounds,
		    options->seconds))
		return false;
	lt_comparison->first_us = INFINITY;
	for (size_t i = 0; i < count; i++) {
		const double median_us = interleaved_median_us(running[i + 1]);

		if (median_us < interleaved_median_us(running[best + 1]))
			best = i;
		if (remeasured[i] < LT_PICKS)
			lt_comparison->first_us = fmin(lt_comparison->first_us, median_us);
	}
	lt_comparison->best_pick = remeasured[best];
	lt_comparison->ours_us = interleaved_median_us(&context->ours);
	lt_comparison->default_us = interleaved_median_us(running[1]);
	lt_comparison->best_us = interleaved_median_us(running[best + 1]);
	compare_rounds(lt_comparison, &context->ours, running[best + 1]);
	if (options->gap_seconds > 0 &&
		!time_gaps(context, options->gap_seconds, running, count + 1, lt_comparison))
		return false;
	return agree_measure(context->gpu, &context->ours, running[best + 1],
		&context->loaded.plan.buffers[output], context->loaded.buffers[output],
		&lt_comparison->difference);
}

/* Runs cuBLASLt's products, and the launch between two of them. */
static bool open_products(struct context *context, const struct lt *lt,
	const struct subject *subject, const struct lt_comparison_options *options)
{
	const struct lt_shape *first = &subject->shapes[0];
	struct error err = {0};

	context->product_count = subject->product_count;
	for (size_t i = 0; i < subject->product_count; i++)
		if (lt_product_init(lt, &subject->shapes[i], options->picks, &context->products[i],
			    &err) != STATUS_OK)
			return gpu_fail(context->gpu, OUTCOME_LAUNCH_FAILED, "%s", err.message);
	if (subject->product_count == 1)
		return true;
	context->intermediate_bytes = (uint64_t)(first->m * first->n) * dtype_size(first->out);
	return gpu_allocate(context->gpu, context->intermediate_bytes, &context->intermediate) &&
	       order_picks(context, 0) && order_picks(context, 1);
}

static bool compare_entry(struct context *context, const struct lt *lt, struct kernel_store *store,
	const struct subject *subject, const struct lt_comparison_options *options,
	struct lt_comparison *lt_comparison)
{
	if (!load_ours(context, store, subject))
		return false;
	context->ours = (struct timed_run){.run = run_ours,
		.context = &context->loaded,
		.set_count = context->loaded.set_count};
	if (!open_products(context, lt, subject, options))
		return false;
	lt_comparison->pick_count = context->products[0].pick_count;
	return interleaved_prepare(context->gpu, &context->ours) && try_picks(context, -1) &&
	       time_interleaved(context, options, lt_comparison);
}

void lt_comparison_run(struct gpu_session *gpu, const struct lt *lt, struct kernel_store *store,
	const struct subject *subject, const struct lt_comparison_options *options,
	struct lt_comparison *lt_comparison)
{
	struct context *context = memory_zeroed(1, sizeof(*context));

	*lt_comparison = (struct lt_comparison){.problem = string_copy(subject->problem),
		.family = string_copy(subject->family),
		.configuration = string_copy(subject->configuration),
		.shape = subject->shapes[0],
		.is_chain = subject->product_count > 1,
		.flop = subject->flop,
		.kernel_changed = subject->kernel_changed,
		.skipped = string_copy(subject->skipped)};
	context->gpu = gpu;
	if (!lt_comparison->skipped &&
		!compare_entry(context, lt, store, subject, options, lt_comparison)) {
		lt_comparison->skipped = string_format(
			"%s: %s", outcome_name(gpu->failure.outcome), gpu->failure.detail);
		lt_comparison->fatal = gpu->failure.fatal;
	}
	lt_comparison->agrees =
		!lt_comparison->skipped &&
		lt_comparison->difference <=
			(double)subject->product_count *
				agree_limit(subject->shapes[0].in, subject->shapes[0].out);
	/* a lost context cannot release anything */
	if (!lt_comparison->fatal) {
		release_theirs(context);
		timed_run_release(gpu, &context->ours);
		for (size_t i = 0; i < context->product_count; i++)
			lt_product_release(&context->products[i]);
		if (context->intermediate)
			gpu_release(gpu, context->intermediate, context->intermediate_bytes);
		if (context->loaded.problem)
			loaded_release(gpu, &context->loaded);
		problem_data_release(gpu, &context->data);
	}
	free(context);
}

void lt_comparison_release(struct lt_comparison *lt_comparison)
{
	free(lt_comparison->problem);
	free(lt_comparison->family);
	free(lt_comparison->configuration);
	free(lt_comparison->skipped);
	*lt_comparison = (struct lt_comparison){0};
}

enum alignment_class lt_comparison_alignment(const struct lt_comparison *lt_comparison)
{
	const struct lt_shape *shape = &lt_comparison->shape;
	int64_t in = (int64_t)dtype_size(shape->in), out = (int64_t)dtype_size(shape->out);

	if (shape->lda * in % 16 || shape->ldb * in % 16)
		return MISALIGNED;
	return shape->ldc * out % 16 ? MISALIGNED_C : ALIGNED;
}
