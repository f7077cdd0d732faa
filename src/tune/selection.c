/* SPDX-License-Identifier: MIT */
#include "tune/selection.h"

#include <math.h>

static bool intervals_meet(const struct selection_item *fastest, const struct selection_item *other)
{
	/* intervals of exact values that differ by 1% just touch */
	double widen_fastest =
		0.5 * TUNED_TIE_RATIO * fastest->median_us + fastest->code_placement_noise_us;
	double widen_other =
		0.5 * TUNED_TIE_RATIO * other->median_us + other->code_placement_noise_us;

	return other->ci95_low_us - widen_other <= fastest->ci95_high_us + widen_fastest;
}

/* The item with the smaller value is preferred. */
static double criterion_value(enum reject_reason criterion, const struct selection_item *item)
{
	switch (criterion) {
	case REJECT_INCUMBENT:
		return !item->incumbent;
	case REJECT_PREDICTION:
		return floor(log(item->predicted_us) / SELECTION_PREDICTION_RATIO);
	case REJECT_PLANNED:
		return !item->is_planned;
	case REJECT_SMEM:
		return item->predicted_us > 0 ? item->smem_bytes : -item->smem_bytes;
	case REJECT_REGISTERS:
		return item->regs_per_thread;
	default:
		return (double)item->order;
	}
}

/* Returns the first criterion that distinguishes the items. */
static enum reject_reason decide_preference(
	const struct selection_item *a, const struct selection_item *b, bool *prefers_a)
{
	for (enum reject_reason by = REJECT_INCUMBENT;; by++) {
		const double of_a = criterion_value(by, a), of_b = criterion_value(by, b);

		*prefers_a = of_a < of_b;
		if (*prefers_a || of_a > of_b || by == REJECT_ORDER)
			return by;
	}
}

bool selection_item_is_preferred(
	const struct selection_item *item, const struct selection_item *over)
{
	bool prefers_item;

	decide_preference(item, over, &prefers_item);
	return prefers_item;
}

static bool is_same_kernel(const struct selection_item *a, const struct selection_item *b)
{
	return a == b ||
	       (a->kernel_hash && b->kernel_hash && strcmp(a->kernel_hash, b->kernel_hash) == 0);
}

/* Returns the fastest item, or the fastest launch of `kernel` unless that is NULL. */
static size_t fastest_of(const struct selection *selection, const struct selection_item *kernel)
{
	const struct selection_item *items = selection->items;
	size_t fastest = kernel ? (size_t)(kernel - items) : 0;

	for (size_t i = 0; i < selection->count; i++)
		if ((!kernel || is_same_kernel(&items[i], kernel)) &&
			items[i].median_us < items[fastest].median_us)
			fastest = i;
	return fastest;
}

void selection_choose(struct selection *selection)
{
	struct selection_item *items = selection->items;
	const struct selection_item *launch;

	selection->fastest = selection->preferred = fastest_of(selection, NULL);
	for (size_t i = 0; i < selection->count; i++) {
		items[i].is_tied = intervals_meet(&items[selection->fastest], &items[i]);
		if (items[i].is_tied &&
			selection_item_is_preferred(&items[i], &items[selection->preferred]))
			selection->preferred = i;
	}
	selection->launch = fastest_of(selection, &items[selection->preferred]);
	selection->winner = selection->launch;
	launch = &items[selection->launch];
	for (size_t i = 0; i < selection->count; i++)
		if (is_same_kernel(&items[i], launch) && intervals_meet(launch, &items[i]) &&
			selection_item_is_preferred(&items[i], &items[selection->winner]))
			selection->winner = i;
	items[selection->winner].is_tied = true;
}

enum reject_reason selection_reject_reason(
	const struct selection *selection, const struct selection_item *lost, bool is_of_selection)
{
	const struct selection_item *items = selection->items;
	const struct selection_item *winner = &items[selection->winner];
	const bool is_launch = is_same_kernel(lost, winner);
	const struct selection_item *fastest =
		&items[is_launch ? selection->launch : selection->fastest];
	bool prefers_winner;

	if (!intervals_meet(fastest, lost))
		return intervals_meet(winner, lost) ? REJECT_UNTIED : REJECT_SLOWER;
	if (!is_of_selection)
		return REJECT_EARLIER;
	return decide_preference(
		is_launch ? winner : &items[selection->preferred], lost, &prefers_winner);
}

bool selection_may_win(const struct selection *selection, size_t which)
{
	/* error of one load */
	const double surely_slower_ratio = 0.003;
	const struct selection_item *items = selection->items, *asked = &items[which];
	const struct selection_item *fastest = &items[fastest_of(selection, NULL)];

	if (asked == fastest)
		return true; /* the fastest decides which items are tied */
	if (!intervals_meet(fastest, asked) &&
		asked->median_us > fastest->median_us * (1 + 2 * TUNED_TIE_RATIO))
		return false;
	for (size_t i = 0; i < selection->count; i++)
		if (items[i].median_us * (1 + surely_slower_ratio) <= asked->median_us &&
			selection_item_is_preferred(&items[i], asked) &&
			(is_same_kernel(&items[i], asked) ||
				items[i].median_us <= fastest->median_us * (1 + TUNED_TIE_RATIO)))
			return false;
	return true;
}

void selection_pair_rounds(struct selection *selection, const struct round_times *times)
{
	size_t fastest;
	double base_us;

	if (round_times_common(times, selection->count) < SELECTION_ROUNDS_MIN)
		return;
	fastest = round_times_fastest(times, selection->count);
	base_us = selection->items[fastest].median_us;
	for (size_t i = 0; i < selection->count; i++) {
		const struct interval ratio =
			round_times_ratio(times[i], times[fastest], CONFIDENCE_95);
		struct selection_item *item = &selection->items[i];

		item->median_us = base_us * ratio.value;
		item->ci95_low_us = base_us * ratio.low;
		item->ci95_high_us = base_us * ratio.high;
	}
}

static bool is_selectable(const struct search *search, const struct evaluated *evaluated)
{
	return evaluated->result.outcome == OUTCOME_OK &&
	       evaluated->remeasure_pass == search->remeasure_pass &&
	       (search->options->objective != OBJECTIVE_ENERGY ||
		       evaluated->result.measured.energy_j > 0);
}

/* Returns 0 if blocks fill at least half of the GPU. */
static double code_placement_noise_us(
	const struct launch_score *longest, const struct device_spec *device, size_t loads)
{
	if (longest->tiles >= (double)device->sm_count / 2)
		return 0;
	return CODE_PLACEMENT_NOISE_US / sqrt(fmax(1, (double)loads));
}

struct selection_item selection_item_of(const struct search *search, size_t which)
{
	const struct evaluated *evaluated = &search->evaluated.items[which];
	const struct result *result = &evaluated->result;
	const bool by_energy = search->options->objective == OBJECTIVE_ENERGY;
	struct selection_item item = {.evaluated = which,
		.median_us = result->time.median,
		.ci95_low_us = result->time.ci95_low,
		.ci95_high_us = result->time.ci95_high,
		.predicted_us =
			result->predicted ? search->pool.predicted_us[evaluated->candidate] : 0,
		.order = evaluated->candidate,
		.kernel_hash = result->predicted ? NULL : result->kernel_hash,
		.incumbent = (ptrdiff_t)evaluated->candidate == search->incumbent};

	for (size_t i = 0; i < search->listed_count; i++)
		item.is_planned |= search->planned[i] == evaluated->candidate;
	if (by_energy) {
		/* compare microjoules, and widen the interval by the counter's resolution */
		const double half_ratio = result->measured.energy_resolution_ratio / 2;

		item.median_us = result->measured.energy_j * 1e6;
		item.ci95_low_us = item.median_us * (1 - half_ratio);
		item.ci95_high_us = item.median_us * (1 + half_ratio);
	}
	if (result->score.launch_count) {
		const struct launch_score *longest = &result->score.launches[result->score.longest];

		/* predicted with the registers of the compiled kernel */
		if (result->predicted)
			item.predicted_us = result->time.median;
		item.smem_bytes = (double)longest->smem_bytes;
		item.regs_per_thread = longest->regs_per_thread;
		if (!result->predicted && !by_energy)
			item.code_placement_noise_us = code_placement_noise_us(
				longest, search->pool.device, evaluated->loads);
	}
	return item;
}

static struct round_times evaluated_times(const struct evaluated *evaluated)
{
	return (struct round_times){evaluated->result.samples_us, evaluated->result.sample_count};
}

const struct selection_item *selection_find(const struct selection *selection, size_t evaluated)
{
	size_t low = 0, high = selection->count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (selection->items[middle].evaluated < evaluated)
			low = middle + 1;
		else
			high = middle;
	}
	return low < selection->count && selection->items[low].evaluated == evaluated
		       ? &selection->items[low]
		       : NULL;
}

static size_t find_runner_up(const struct search *search, const struct selection *selection)
{
	const struct evaluated *items = search->evaluated.items;
	const size_t winner = selection_winner(selection);
	size_t best = SIZE_MAX;
	double best_us = INFINITY;

	for (size_t i = 0; i < search->evaluated.count; i++) {
		const struct selection_item *timed = selection_find(selection, i);
		const double us = timed ? timed->median_us : selection_item_of(search, i).median_us;

		if (i == winner || items[i].result.outcome != OUTCOME_OK ||
			!items[i].remeasure_pass != !items[winner].remeasure_pass || !(us > 0) ||
			us >= best_us)
			continue;
		best = i;
		best_us = us;
	}
	return best;
}

struct selection selection_of(const struct search *search)
{
	const size_t total = search->evaluated.count;
	struct selection selection = {
		.items = memory_zeroed(total + 1, sizeof(*selection.items)), .runner_up = SIZE_MAX};
	CLEANUP(memory_free) struct round_times *times = memory_zeroed(total + 1, sizeof(*times));

	for (size_t i = 0; i < total; i++) {
		if (!is_selectable(search, &search->evaluated.items[i]))
			continue;
		times[selection.count] = evaluated_times(&search->evaluated.items[i]);
		selection.items[selection.count++] = selection_item_of(search, i);
	}
	if (!selection.count)
		return selection;
	if (search->run->context->device->kind->measures &&
		search->options->objective != OBJECTIVE_ENERGY)
		selection_pair_rounds(&selection, times);
	selection_choose(&selection);
	selection.runner_up = find_runner_up(search, &selection);
	return selection;
}

void selection_release(struct selection *selection)
{
	free(selection->items);
}

static void compare_rounds(const struct search *search, const struct selection *selection,
	const struct selection_item *item, struct tuned_rejection *lost)
{
	const struct evaluated *items = search->evaluated.items;
	const struct round_times both[] = {evaluated_times(&items[item->evaluated]),
		evaluated_times(&items[selection_winner(selection)])};
	const size_t common = round_times_common(both, ARRAY_COUNT(both));
	struct interval ratio;

	if (!search->remeasure_pass || search->options->objective == OBJECTIVE_ENERGY ||
		common < SELECTION_ROUNDS_MIN)
		return;
	ratio = round_times_ratio(both[0], both[1], CONFIDENCE_95);
	lost->rounds = common;
	lost->ratio = ratio.value;
	lost->ratio_low = ratio.low;
	lost->ratio_high = ratio.high;
}

static void take_values(const struct selection *selection, const struct selection_item *item,
	struct tuned_rejection *lost)
{
	const struct selection_item *winner = &selection->items[selection->winner];
	const double fastest_us = selection->items[selection->fastest].median_us;

	if (lost->by == REJECT_UNTIED) {
		lost->value = item->median_us / fastest_us;
		lost->winner_value = winner->median_us / fastest_us;
	} else if (lost->by == REJECT_PREDICTION) {
		lost->value = item->predicted_us;
		lost->winner_value = winner->predicted_us;
	} else if (lost->by == REJECT_SMEM || lost->by == REJECT_REGISTERS) {
		lost->value = fabs(criterion_value(lost->by, item));
		lost->winner_value = fabs(criterion_value(lost->by, winner));
	}
}

struct tuned_rejection *selection_rejection(
	const struct search *search, const struct selection *selection, size_t evaluated)
{
	const struct selection_item *timed = selection_find(selection, evaluated);
	const struct selection_item own = selection_item_of(search, evaluated);
	const struct selection_item *item = timed ? timed : &own;
	struct tuned_rejection lost = {
		.by = selection_reject_reason(selection, item, timed != NULL),
		.ratio = item->median_us / selection->items[selection->winner].median_us,
		.ratio_low = NAN,
		.ratio_high = NAN,
		.value = NAN,
		.winner_value = NAN};

	/* the energy was not measured */
	if (!(item->median_us > 0))
		return NULL;
	if (timed)
		compare_rounds(search, selection, item, &lost);
	take_values(selection, item, &lost);
	return memory_copy(&lost, sizeof(lost));
}
