/* SPDX-License-Identifier: MIT */
#include "bench/versus/lt_comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_read.h"
#include "record/record_write.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "bench/versus/agree.h"
#include "measure/loaded.h"

enum {
	PICK_ROUNDS = 5, /* to choose among the picks */
	REMEASURED = 3,  /* the default and the two fastest */
	ROUNDS_LEAST = 7,
	TENSOR_A = 0,
	TENSOR_B = 1,
	TENSOR_C = 2,
	TENSOR_SCALE_A = 3,
	TENSOR_SCALE_B = 4,
	TENSOR_BIAS = 5,
};

static const double pick_seconds = 0.15;

/* What cuBLASLt's timed_runs run on: the same tensors as ours. */
struct lt_side {
	const struct lt_product *product;
	const struct loaded *loaded;
	int pick;
};

static bool run_ours(const void *context, struct gpu_session *gpu, size_t set)
{
	return loaded_run(gpu, context, set);
}

static bool run_theirs(const void *context, struct gpu_session *gpu, size_t set)
{
	const struct lt_side *side = context;
	const CUdeviceptr *buffers = &side->loaded->buffers[set * side->loaded->plan.buffer_count];
	const struct lt_tensors tensors = {buffers[TENSOR_A], buffers[TENSOR_B], buffers[TENSOR_C],
		buffers[TENSOR_SCALE_A], buffers[TENSOR_SCALE_B], buffers[TENSOR_BIAS]};
	int result = lt_product_run(side->product, side->pick, &tensors, gpu->stream);

	return result == 0 ? true
			   : gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "cuBLASLt's pick %d: status %d",
				     side->pick, result);
}

/* Everything of one lt_comparison. */
struct context {
	struct gpu_session *gpu;
	struct problem_data data;
	struct loaded loaded;
	struct lt_product product;
	struct lt_side sides[LT_PICKS_MAX];
	struct timed_run ours, theirs[LT_PICKS_MAX];
	bool usable[LT_PICKS_MAX];
};

static bool load_ours(
	struct context *context, struct kernel_store *store, const struct subject *subject)
{
	size_t units = subject->build.unit_count;
	struct text *cubins = memory_zeroed(units + 1, sizeof(*cubins));
	struct json *copy = record_to_json(&plan_record, &subject->plan);
	struct json *reference = record_to_json(&reference_plan_record, &subject->reference);
	struct json_at at = json_root(copy, "plan"), reference_at = json_root(reference, "plan");
	struct plan plan = {0};
	struct error err = {0};
	enum status status = record_from_json(&plan_record, &at, &plan, NULL, &err);

	if (status == STATUS_OK)
		status = record_from_json(&reference_plan_record, &reference_at,
			&context->data.told.reference, NULL, &err);
	for (size_t i = 0; i < units && status == STATUS_OK; i++) {
		const struct compile_result *kernel;

		status = kernel_store_wait(store, &subject->build.units[i], &kernel, &err);
		if (status == STATUS_OK)
			cubins[i] = kernel->cubin; /* borrowed */
	}
	if (status == STATUS_OK) {
		loaded_init(
			context->gpu, &context->loaded, 1, &context->data, &plan, cubins, units);
		context->gpu->failure = context->loaded.failure;
	} else {
		gpu_fail(context->gpu, OUTCOME_COMPILE_FAILED, "%s", err.message);
		plan_release(&plan);
	}
	json_free(copy);
	json_free(reference);
	free(cubins);
	return context->gpu->failure.outcome == OUTCOME_OK;
}

/* Every pick once, and a few rounds of all that work. A pick that is refused is left out. */
static bool try_picks(struct context *context)
{
	struct timed_run *running[LT_PICKS_MAX];
	size_t count = 0;

	for (int i = 0; i < context->product.pick_count; i++) {
		struct timed_run *timed_run = &context->theirs[i];

		context->sides[i] = (struct lt_side){&context->product, &context->loaded, i};
		*timed_run = (struct timed_run){.run = run_theirs,
			.context = &context->sides[i],
			.set_count = context->loaded.set_count};
		context->usable[i] = interleaved_prepare(context->gpu, timed_run);
		if (context->usable[i])
			running[count++] = timed_run;
		else if (context->gpu->failure.fatal)
			return false;
	}
	if (!count)
		return gpu_fail(context->gpu, OUTCOME_LAUNCH_FAILED,
			"cuBLASLt has no kernel for this product");
	return interleaved_rounds(context->gpu, running, count, 3, PICK_ROUNDS, pick_seconds);
}

/* The default pick and the fastest others; returns how many. */
static size_t choose_remeasured(struct context *context, int remeasured[REMEASURED])
{
	bool taken[LT_PICKS_MAX] = {false};
	size_t count = 0;

	while (count < REMEASURED) {
		int best = -1;

		for (int i = 0; i < context->product.pick_count; i++) {
			if (!context->usable[i] || taken[i])
				continue;
			if (best < 0 || (count > 0 && interleaved_median_us(&context->theirs[i]) <
							      interleaved_median_us(
								      &context->theirs[best])))
				best = i;
		}
		if (best < 0)
			break;
		taken[best] = true;
		remeasured[count++] = best;
	}
	return count;
}

static void compare_rounds(struct lt_comparison *lt_comparison, const struct timed_run *ours,
	const struct timed_run *best)
{
	const size_t count = ours->sample_count;
	struct interval interval;
	double *ratios = memory_zeroed(count, sizeof(*ratios));

	for (size_t i = 0; i < count; i++)
		ratios[i] = best->samples_us[i] / ours->samples_us[i];
	lt_comparison->rounds = count;
	lt_comparison->ratio = statistics_quantile(ratios, count, 0.5);
	lt_comparison->ratio_q25 = statistics_quantile(ratios, count, 0.25);
	lt_comparison->ratio_q75 = statistics_quantile(ratios, count, 0.75);
	interval = statistics_interval(ratios, count, CONFIDENCE_95);
	lt_comparison->ratio_low = interval.low;
	lt_comparison->ratio_high = interval.high;
	free(ratios);
}

static bool time_interleaved(struct context *context, const struct lt_comparison_options *options,
	struct lt_comparison *lt_comparison)
{
	int remeasured[REMEASURED];
	size_t count = choose_remeasured(context, remeasured);
	struct timed_run *running[REMEASURED + 1] = {&context->ours};
	size_t best = 0;

	for (size_t i = 0; i < count; i++) {
		running[i + 1] = &context->theirs[remeasured[i]];
		interleaved_restart(running[i + 1]);
	}
	if (!interleaved_rounds(context->gpu, running, count + 1, ROUNDS_LEAST, options->rounds,
		    options->seconds))
		return false;
	for (size_t i = 1; i < count; i++)
		if (interleaved_median_us(running[i + 1]) <
			interleaved_median_us(running[best + 1]))
			best = i;
	lt_comparison->best_pick = remeasured[best];
	lt_comparison->ours_us = interleaved_median_us(&context->ours);
	lt_comparison->default_us = interleaved_median_us(running[1]);
	lt_comparison->best_us = interleaved_median_us(running[best + 1]);
	compare_rounds(lt_comparison, &context->ours, running[best + 1]);
	return agree_measure(context->gpu, &context->ours, running[best + 1],
		&context->loaded.plan.buffers[TENSOR_C], context->loaded.buffers[TENSOR_C],
		&lt_comparison->difference);
}

static bool compare_entry(struct context *context, const struct lt *lt, struct kernel_store *store,
	const struct subject *subject, const struct lt_comparison_options *options,
	struct lt_comparison *lt_comparison)
{
	struct error err = {0};

	if (!load_ours(context, store, subject))
		return false;
	context->ours = (struct timed_run){.run = run_ours,
		.context = &context->loaded,
		.set_count = context->loaded.set_count};
	if (lt_product_init(lt, &subject->shape, &context->product, &err) != STATUS_OK)
		return gpu_fail(context->gpu, OUTCOME_LAUNCH_FAILED, "%s", err.message);
	lt_comparison->pick_count = context->product.pick_count;
	return interleaved_prepare(context->gpu, &context->ours) && try_picks(context) &&
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
		.shape = subject->shape,
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
		lt_comparison->difference <= agree_limit(subject->shape.in, subject->shape.out);
	/* a lost context releases nothing any more */
	if (!lt_comparison->fatal) {
		for (int i = 0; i < LT_PICKS_MAX; i++)
			timed_run_release(gpu, &context->theirs[i]);
		timed_run_release(gpu, &context->ours);
		lt_product_release(&context->product);
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
