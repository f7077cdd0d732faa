/* SPDX-License-Identifier: MIT */
#include "bench/versus/duel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
};

static const double pick_seconds = 0.15;

/* What cuBLASLt's contenders run on: the same tensors as ours. */
struct lt_side {
	const struct lt_product *product;
	const struct loaded *loaded;
	int pick;
};

static bool run_ours(
	const void *context, struct gpu_session *gpu, size_t set, struct failure *failure)
{
	return loaded_run(gpu, context, set, failure);
}

static bool run_theirs(
	const void *context, struct gpu_session *gpu, size_t set, struct failure *failure)
{
	const struct lt_side *side = context;
	const CUdeviceptr *buffers = &side->loaded->buffers[set * side->loaded->plan.buffer_count];
	int result = lt_product_run(side->product, side->pick, buffers[TENSOR_A], buffers[TENSOR_B],
		buffers[TENSOR_C], gpu->stream);

	return result == 0 ? true
			   : failure_set(failure, OUTCOME_LAUNCH_FAILED,
				     "cuBLASLt's pick %d: status %d", side->pick, result);
}

/* Everything of one duel. */
struct ring {
	struct gpu_session *gpu;
	struct problem_data data;
	struct loaded loaded;
	struct lt_product product;
	struct lt_side sides[LT_PICKS_MAX];
	struct contender ours, theirs[LT_PICKS_MAX];
	bool usable[LT_PICKS_MAX];
};

static bool load_ours(struct ring *ring, struct kernel_store *store, const struct subject *subject,
	struct failure *failure)
{
	size_t units = subject->build.unit_count;
	struct text *cubins = memory_zeroed(units + 1, sizeof(*cubins));
	struct json *copy = plan_to_json(&subject->plan);
	struct json *reference = reference_plan_to_json(&subject->reference);
	struct json_at at = json_root(copy, "plan"), reference_at = json_root(reference, "plan");
	struct plan plan = {0};
	struct error err = {0};
	enum status status = plan_from_json(&at, &plan, &err);

	if (status == STATUS_OK)
		status = reference_plan_from_json(&reference_at, &ring->data.reference, &err);
	for (size_t i = 0; i < units && status == STATUS_OK; i++) {
		const struct stored_kernel *kernel;

		status = kernel_store_wait(store, &subject->build.units[i], &kernel, &err);
		if (status == STATUS_OK)
			cubins[i] = kernel->cubin; /* borrowed */
	}
	if (status == STATUS_OK) {
		loaded_init(ring->gpu, &ring->loaded, 1, &ring->data, &plan, cubins, units);
		*failure = ring->loaded.failure;
	} else {
		failure_set(failure, OUTCOME_COMPILE_FAILED, "%s", err.message);
		plan_release(&plan);
	}
	json_free(copy);
	json_free(reference);
	free(cubins);
	return failure->outcome == OUTCOME_OK;
}

/* Every pick once, and a few rounds of all that work. A pick that is refused is left out. */
static bool try_picks(struct ring *ring, struct failure *failure)
{
	struct contender *running[LT_PICKS_MAX];
	size_t count = 0;

	for (int i = 0; i < ring->product.pick_count; i++) {
		struct contender *contender = &ring->theirs[i];

		ring->sides[i] = (struct lt_side){&ring->product, &ring->loaded, i};
		*contender = (struct contender){.run = run_theirs,
			.context = &ring->sides[i],
			.set_count = ring->loaded.set_count};
		ring->usable[i] = race_prepare(ring->gpu, contender, failure);
		if (ring->usable[i])
			running[count++] = contender;
		else if (failure->fatal)
			return false;
	}
	if (!count)
		return failure_set(
			failure, OUTCOME_LAUNCH_FAILED, "cuBLASLt has no kernel for this product");
	return race_rounds(ring->gpu, running, count, 3, PICK_ROUNDS, pick_seconds, failure);
}

/* The default pick and the fastest others; returns how many. */
static size_t choose_remeasured(struct ring *ring, int remeasured[REMEASURED])
{
	bool taken[LT_PICKS_MAX] = {false};
	size_t count = 0;

	while (count < REMEASURED) {
		int best = -1;

		for (int i = 0; i < ring->product.pick_count; i++) {
			if (!ring->usable[i] || taken[i])
				continue;
			if (best < 0 || (count > 0 && race_median_us(&ring->theirs[i]) <
							      race_median_us(&ring->theirs[best])))
				best = i;
		}
		if (best < 0)
			break;
		taken[best] = true;
		remeasured[count++] = best;
	}
	return count;
}

static void compare_rounds(
	struct duel *duel, const struct contender *ours, const struct contender *best)
{
	size_t count = ours->sample_count;
	double *ratios = memory_zeroed(count, sizeof(*ratios));

	for (size_t i = 0; i < count; i++)
		ratios[i] = best->samples_us[i] / ours->samples_us[i];
	duel->rounds = count;
	duel->ratio = statistics_quantile(ratios, count, 0.5);
	duel->ratio_q25 = statistics_quantile(ratios, count, 0.25);
	duel->ratio_q75 = statistics_quantile(ratios, count, 0.75);
	statistics_median_interval(ratios, count, 0.95, &duel->ratio_low, &duel->ratio_high);
	free(ratios);
}

static bool final_race(struct ring *ring, const struct duel_options *options, struct duel *duel,
	struct failure *failure)
{
	int remeasured[REMEASURED];
	size_t count = choose_remeasured(ring, remeasured);
	struct contender *running[REMEASURED + 1] = {&ring->ours};
	size_t best = 0;

	for (size_t i = 0; i < count; i++) {
		running[i + 1] = &ring->theirs[remeasured[i]];
		race_restart(running[i + 1]);
	}
	if (!race_rounds(ring->gpu, running, count + 1, ROUNDS_LEAST, options->rounds,
		    options->seconds, failure))
		return false;
	for (size_t i = 1; i < count; i++)
		if (race_median_us(running[i + 1]) < race_median_us(running[best + 1]))
			best = i;
	duel->best_pick = remeasured[best];
	duel->ours_us = race_median_us(&ring->ours);
	duel->default_us = race_median_us(running[1]);
	duel->best_us = race_median_us(running[best + 1]);
	compare_rounds(duel, &ring->ours, running[best + 1]);
	return agree_measure(ring->gpu, &ring->ours, running[best + 1],
		&ring->loaded.plan.buffers[TENSOR_C], ring->loaded.buffers[TENSOR_C],
		&duel->difference, failure);
}

static bool fight(struct ring *ring, const struct lt *lt, struct kernel_store *store,
	const struct subject *subject, const struct duel_options *options, struct duel *duel,
	struct failure *failure)
{
	struct error err = {0};

	if (!load_ours(ring, store, subject, failure))
		return false;
	ring->ours = (struct contender){
		.run = run_ours, .context = &ring->loaded, .set_count = ring->loaded.set_count};
	if (lt_product_init(lt, &subject->shape, &ring->product, &err) != STATUS_OK)
		return failure_set(failure, OUTCOME_LAUNCH_FAILED, "%s", err.message);
	duel->pick_count = ring->product.pick_count;
	return race_prepare(ring->gpu, &ring->ours, failure) && try_picks(ring, failure) &&
	       final_race(ring, options, duel, failure);
}

void duel_fight(struct gpu_session *gpu, const struct lt *lt, struct kernel_store *store,
	const struct subject *subject, const struct duel_options *options, struct duel *duel)
{
	struct ring *ring = memory_zeroed(1, sizeof(*ring));
	struct failure failure = {.outcome = OUTCOME_OK};

	*duel = (struct duel){.problem = string_copy(subject->problem),
		.family = string_copy(subject->family),
		.configuration = string_copy(subject->configuration),
		.shape = subject->shape,
		.flop = subject->flop,
		.kernel_changed = subject->kernel_changed,
		.skipped = string_copy(subject->skipped)};
	ring->gpu = gpu;
	if (!duel->skipped && !fight(ring, lt, store, subject, options, duel, &failure)) {
		duel->skipped =
			string_format("%s: %s", outcome_name(failure.outcome), failure.detail);
		duel->fatal = failure.fatal;
	}
	duel->agrees = !duel->skipped &&
		       duel->difference <= agree_limit(subject->shape.in, subject->shape.out);
	/* a lost context releases nothing any more */
	if (!duel->fatal) {
		for (int i = 0; i < LT_PICKS_MAX; i++)
			contender_release(gpu, &ring->theirs[i]);
		contender_release(gpu, &ring->ours);
		lt_product_release(&ring->product);
		if (ring->loaded.problem)
			loaded_release(gpu, &ring->loaded);
		problem_data_release(gpu, &ring->data);
	}
	free(ring);
}

void duel_release(struct duel *duel)
{
	free(duel->problem);
	free(duel->family);
	free(duel->configuration);
	free(duel->skipped);
	*duel = (struct duel){0};
}

enum alignment_class duel_alignment(const struct duel *duel)
{
	const struct lt_shape *shape = &duel->shape;
	int64_t in = (int64_t)dtype_size(shape->in), out = (int64_t)dtype_size(shape->out);

	if (shape->lda * in % 16 || shape->ldb * in % 16)
		return MISALIGNED;
	return shape->ldc * out % 16 ? MISALIGNED_C : ALIGNED;
}
