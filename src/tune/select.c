/* SPDX-License-Identifier: MIT */
#include "tune/select.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool meets(const struct comparable *fastest, const struct comparable *other)
{
	/* half of the floor on each side: two exact numbers 1% apart just touch */
	double widen_fastest = 0.5 * SELECT_TIE_RATIO * fastest->median_us + fastest->place_us;
	double widen_other = 0.5 * SELECT_TIE_RATIO * other->median_us + other->place_us;

	return other->ci95_low_us - widen_other <= fastest->ci95_high_us + widen_fastest;
}

static double prediction_step(const struct comparable *comparable)
{
	return floor(log(comparable->predicted_us) / SELECT_PREDICTION_RATIO);
}

/* The first in the order of preference that tells them apart; *prefers_a: whether it is for a. */
static enum lost_by criterion(
	const struct comparable *a, const struct comparable *b, bool *prefers_a)
{
	const double step_a = prediction_step(a), step_b = prediction_step(b);
	const bool is_measured = !(a->predicted_us > 0);

	if (a->incumbent != b->incumbent) {
		*prefers_a = a->incumbent;
		return LOST_INCUMBENT;
	}
	if (step_a < step_b || step_a > step_b) {
		*prefers_a = step_a < step_b;
		return LOST_PREDICTION;
	}
	if (a->is_planned != b->is_planned) {
		*prefers_a = a->is_planned;
		return LOST_PLANNED;
	}
	if (a->smem_bytes < b->smem_bytes || a->smem_bytes > b->smem_bytes) {
		*prefers_a = (a->smem_bytes > b->smem_bytes) == is_measured;
		return LOST_SMEM;
	}
	if (a->regs_per_thread < b->regs_per_thread || a->regs_per_thread > b->regs_per_thread) {
		*prefers_a = a->regs_per_thread < b->regs_per_thread;
		return LOST_REGISTERS;
	}
	*prefers_a = a->order < b->order;
	return LOST_ORDER;
}

bool select_prefers(const struct comparable *a, const struct comparable *b)
{
	bool prefers_a;

	criterion(a, b, &prefers_a);
	return prefers_a;
}

static bool same_kernel(const struct comparable *a, const struct comparable *b)
{
	return a == b ||
	       (a->kernel_hash && b->kernel_hash && strcmp(a->kernel_hash, b->kernel_hash) == 0);
}

/* Of all, or of the launches of one kernel. */
static size_t fastest_of(
	const struct comparable *comparables, size_t count, const struct comparable *kernel)
{
	size_t fastest = kernel ? (size_t)(kernel - comparables) : 0;

	for (size_t i = 0; i < count; i++)
		if ((!kernel || same_kernel(&comparables[i], kernel)) &&
			comparables[i].median_us < comparables[fastest].median_us)
			fastest = i;
	return fastest;
}

struct chosen select_choose(const struct comparable *comparables, size_t count, bool *tied)
{
	struct chosen chosen = {.fastest = fastest_of(comparables, count, NULL)};
	const struct comparable *launch;

	chosen.preferred = chosen.fastest;
	for (size_t i = 0; i < count; i++) {
		tied[i] = meets(&comparables[chosen.fastest], &comparables[i]);
		if (tied[i] && select_prefers(&comparables[i], &comparables[chosen.preferred]))
			chosen.preferred = i;
	}
	chosen.launch = fastest_of(comparables, count, &comparables[chosen.preferred]);
	chosen.winner = chosen.launch;
	launch = &comparables[chosen.launch];
	for (size_t i = 0; i < count; i++)
		if (same_kernel(&comparables[i], launch) && meets(launch, &comparables[i]) &&
			select_prefers(&comparables[i], &comparables[chosen.winner]))
			chosen.winner = i;
	tied[chosen.winner] = true;
	return chosen;
}

enum lost_by select_lost(const struct comparable *comparables, const struct chosen *chosen,
	const struct comparable *lost, bool is_of_selection)
{
	const struct comparable *winner = &comparables[chosen->winner];
	const bool is_launch = same_kernel(lost, winner);
	const struct comparable *fastest =
		&comparables[is_launch ? chosen->launch : chosen->fastest];
	bool prefers_winner;

	if (!meets(fastest, lost))
		return meets(winner, lost) ? LOST_UNTIED : LOST_SLOWER;
	if (!is_of_selection)
		return LOST_EARLIER;
	return criterion(
		is_launch ? winner : &comparables[chosen->preferred], lost, &prefers_winner);
}

bool select_may_win(const struct comparable *comparables, size_t count, size_t which)
{
	/* what a measurement in one load may be off by */
	const double surely_slower_ratio = 0.003;
	const struct comparable *fastest = &comparables[fastest_of(comparables, count, NULL)];
	const struct comparable *asked = &comparables[which];

	if (asked == fastest)
		return true; /* it says what is tied */
	if (!meets(fastest, asked) &&
		asked->median_us > fastest->median_us * (1 + 2 * SELECT_TIE_RATIO))
		return false;
	for (size_t i = 0; i < count; i++)
		if (comparables[i].median_us * (1 + surely_slower_ratio) <= asked->median_us &&
			select_prefers(&comparables[i], asked) &&
			(same_kernel(&comparables[i], asked) ||
				comparables[i].median_us <=
					fastest->median_us * (1 + SELECT_TIE_RATIO)))
			return false;
	return true;
}

void select_pair_rounds(
	struct comparable *comparables, const struct round_times *times, size_t count)
{
	size_t fastest;
	double base_us;

	if (round_times_common(times, count) < SELECT_ROUNDS_MIN)
		return;
	fastest = round_times_fastest(times, count);
	base_us = comparables[fastest].median_us;
	for (size_t i = 0; i < count; i++) {
		const struct interval ratio =
			round_times_ratio(times[i], times[fastest], CONFIDENCE_95);

		comparables[i].median_us = base_us * ratio.value;
		comparables[i].ci95_low_us = base_us * ratio.low;
		comparables[i].ci95_high_us = base_us * ratio.high;
	}
}

/* ---- of a search ---- */
/* Those that were timed together last; before anything was timed again, all. */
static bool is_comparable(const struct search *search, const struct evaluated *evaluated)
{
	return evaluated->result.outcome == OUTCOME_OK && evaluated->stage == search->stage &&
	       (search->session->objective != OBJECTIVE_ENERGY ||
		       evaluated->result.measured.energy_j > 0);
}

static double place_us(const struct score *score, const struct device_spec *device, size_t loads)
{
	const struct launch_score *longest = &score->launches[score->longest];

	if (!score->launch_count || longest->tiles >= (double)device->sm_count / 2)
		return 0;
	return SELECT_PLACE_US / sqrt(fmax(1, (double)loads));
}

struct comparable comparable_of(const struct search *search, const struct evaluated *evaluated)
{
	const struct result *result = &evaluated->result;
	struct comparable comparable = {.median_us = result->time.median,
		.ci95_low_us = result->time.ci95_low,
		.ci95_high_us = result->time.ci95_high,
		.predicted_us =
			result->predicted ? search->pool.predicted_us[evaluated->candidate] : 0,
		.order = evaluated->candidate,
		.kernel_hash = result->predicted ? NULL : result->kernel_hash,
		.incumbent = (ptrdiff_t)evaluated->candidate == search->incumbent};

	for (size_t i = 0; i < search->listed_count; i++)
		comparable.is_planned |= search->planned[i] == evaluated->candidate;
	if (search->session->objective == OBJECTIVE_ENERGY) {
		/* microjoules in the place of microseconds; the counter's step in addition to the
		 * noise */
		const struct measured *measured = &result->measured;
		const double half_ratio = measured->energy_resolution_ratio / 2;

		comparable.median_us = measured->energy_j * 1e6;
		comparable.ci95_low_us = comparable.median_us * (1 - half_ratio);
		comparable.ci95_high_us = comparable.median_us * (1 + half_ratio);
	}
	if (result->score.launch_count) {
		const struct launch_score *longest = &result->score.launches[result->score.longest];

		/* with the compiled kernel's registers, where it was compiled */
		if (result->predicted)
			comparable.predicted_us = result->score.predicted_time_us;
		comparable.smem_bytes = (double)longest->smem_bytes;
		comparable.regs_per_thread = longest->regs_per_thread;
		if (!result->predicted && search->session->objective != OBJECTIVE_ENERGY)
			comparable.place_us =
				place_us(&result->score, search->pool.device, evaluated->loads);
	}
	return comparable;
}

static struct round_times evaluated_times(const struct evaluated *evaluated)
{
	return (struct round_times){evaluated->result.samples_us, evaluated->result.sample_count};
}

/* The fastest but the winner of those that were timed as it was; SIZE_MAX: none. */
static size_t runner_up_of(const struct search *search, const struct selection *selection)
{
	const struct evaluated *items = search->evaluated.items;
	const size_t winner = selection->indices[selection->chosen.winner];
	size_t best = SIZE_MAX;
	double best_us = INFINITY;

	for (size_t i = 0; i < search->evaluated.count; i++) {
		const struct comparable *timed = selection->of[i];
		const double us =
			timed ? timed->median_us : comparable_of(search, &items[i]).median_us;

		if (i == winner || items[i].result.outcome != OUTCOME_OK ||
			!items[i].stage != !items[winner].stage || !(us > 0) || us >= best_us)
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
		.comparables = memory_zeroed(total + 1, sizeof(*selection.comparables)),
		.indices = memory_zeroed(total + 1, sizeof(*selection.indices)),
		.tied = memory_zeroed(total + 1, sizeof(*selection.tied)),
		.of = memory_zeroed(total + 1, sizeof(*selection.of))};
	CLEANUP(memory_free) struct round_times *times = memory_zeroed(total + 1, sizeof(*times));

	for (size_t i = 0; i < total; i++) {
		const struct evaluated *evaluated = &search->evaluated.items[i];

		if (!is_comparable(search, evaluated))
			continue;
		selection.indices[selection.count] = i;
		selection.of[i] = &selection.comparables[selection.count];
		times[selection.count] = evaluated_times(evaluated);
		selection.comparables[selection.count++] = comparable_of(search, evaluated);
	}
	if (!selection.count)
		return selection;
	if (search->session->context->device->kind->measures &&
		search->session->objective != OBJECTIVE_ENERGY)
		select_pair_rounds(selection.comparables, times, selection.count);
	selection.chosen = select_choose(selection.comparables, selection.count, selection.tied);
	selection.runner_up = runner_up_of(search, &selection);
	return selection;
}

void selection_release(struct selection *selection)
{
	free(selection->comparables);
	free(selection->indices);
	free(selection->tied);
	free(selection->of);
}

/* ---- by what the others lost ---- */
/* Its time over the winner's, by the rounds that both have. */
static void compare_rounds(const struct search *search, const struct evaluated *lost,
	const struct evaluated *winner, struct tuned_lost *result)
{
	const struct round_times both[] = {evaluated_times(lost), evaluated_times(winner)};
	const size_t common = round_times_common(both, ARRAY_COUNT(both));
	struct interval ratio;

	if (!search->stage || search->session->objective == OBJECTIVE_ENERGY ||
		common < SELECT_ROUNDS_MIN)
		return;
	ratio = round_times_ratio(both[0], both[1], CONFIDENCE_95);
	result->rounds = common;
	result->ratio = ratio.value;
	result->ratio_low = ratio.low;
	result->ratio_high = ratio.high;
}

static struct tuned_lost lost_of(const struct search *search, const struct selection *selection,
	const struct evaluated *evaluated, const struct comparable *lost, bool is_of_selection)
{
	const struct chosen *chosen = &selection->chosen;
	const struct comparable *won = &selection->comparables[chosen->winner];
	const double fastest_us = selection->comparables[chosen->fastest].median_us;
	struct tuned_lost result = {
		.by = select_lost(selection->comparables, chosen, lost, is_of_selection),
		.ratio = lost->median_us / won->median_us,
		.ratio_low = NAN,
		.ratio_high = NAN,
		.value = NAN,
		.winner_value = NAN};

	if (is_of_selection)
		compare_rounds(search, evaluated,
			&search->evaluated.items[selection->indices[chosen->winner]], &result);
	if (result.by == LOST_UNTIED) {
		result.value = lost->median_us / fastest_us;
		result.winner_value = won->median_us / fastest_us;
	} else if (result.by == LOST_PREDICTION) {
		result.value = lost->predicted_us;
		result.winner_value = won->predicted_us;
	} else if (result.by == LOST_SMEM) {
		result.value = lost->smem_bytes;
		result.winner_value = won->smem_bytes;
	} else if (result.by == LOST_REGISTERS) {
		result.value = lost->regs_per_thread;
		result.winner_value = won->regs_per_thread;
	}
	return result;
}

struct tuned_lost *selection_lost(
	const struct search *search, const struct selection *selection, size_t which)
{
	const struct evaluated *evaluated = &search->evaluated.items[which];
	const struct comparable *timed = selection->of[which];
	const struct comparable own = timed ? *timed : comparable_of(search, evaluated);
	struct tuned_lost lost;

	/* where energy decides, of what was not asked for it nothing can be said */
	if (!(own.median_us > 0))
		return NULL;
	lost = lost_of(search, selection, evaluated, timed ? timed : &own, timed != NULL);
	return memory_copy(&lost, sizeof(lost));
}
