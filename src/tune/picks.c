/* SPDX-License-Identifier: MIT */
#include "tune/picks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/rule_pick.h"
#include "tune/session.h"

/* Before anything is compiled: the model's longest launch, with its estimate of registers. */
static void estimate_resources(const struct bound_family *bound, const struct value *slots,
	void *context, int64_t *smem_bytes, int64_t *blocks_per_sm)
{
	const struct launch_score *longest;
	struct predictor predictor;
	struct prediction prediction;

	(void)context;
	predictor_open(&predictor, bound, NULL);
	/* a tile outside of the lists need not have a model */
	if (predict(&predictor, slots, NULL, &prediction, NULL) == STATUS_OK &&
		(longest = predictor_longest(&predictor)) != NULL) {
		*smem_bytes = longest->smem_bytes;
		*blocks_per_sm = longest->blocks_per_sm;
	}
	predictor_close(&predictor);
}

static enum status find_of_family(
	const struct candidates *pool, size_t index, struct picks *picks, struct error *err)
{
	const struct family_candidates *family = &pool->families[index];
	const struct bound_family *bound = family->bound;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < bound->family->rule_count && status == STATUS_OK; i++) {
		const struct rule *rule = &bound->family->rules[i];
		choice choices[SPACE_PARAMETERS_MAX];
		ptrdiff_t candidate;
		bool found;

		status = rule_pick(bound, rule, estimate_resources, NULL, choices, &found, err);
		if (status != STATUS_OK || !found)
			continue;
		/* --where and recordings know only a part of the space */
		candidate = search_view_find(&pool->view, index, choices);
		if (candidate < 0)
			continue;
		ARRAY_GROW(picks->items, picks->count, picks->capacity);
		picks->items[picks->count++] =
			(struct search_pick){.rule = rule->name, .candidate = (size_t)candidate};
	}
	return status;
}

enum status picks_find(const struct candidates *pool, struct picks *picks, struct error *err)
{
	enum status status = STATUS_OK;

	*picks = (struct picks){0};
	for (size_t f = 0; f < pool->family_count && status == STATUS_OK; f++)
		status = find_of_family(pool, f, picks, err);
	return status;
}

void picks_release(struct picks *picks)
{
	free(picks->items);
	*picks = (struct picks){0};
}

enum status picks_check_name(const struct operation *operation, const char *rule, struct error *err)
{
	struct text names = {0};

	for (size_t i = 0; i < operation->rule_count; i++) {
		const char *name = operation->rules[i].name;

		if (strcmp(name, rule) == 0) {
			text_release(&names);
			return STATUS_OK;
		}
		text_appendf(&names, "%s%s", names.length ? ", " : "", name);
	}
	error_set(err, STATUS_BAD_INPUT, "strategy rule:%s: expected a rule of %s (%s)", rule,
		operation_name(operation), names.length ? names.data : "it has none");
	text_release(&names);
	return STATUS_BAD_INPUT;
}

static double time_of(const struct evaluated *evaluated)
{
	return evaluated->evaluation.outcome == OUTCOME_OK ? evaluated_search_us(evaluated)
							   : INFINITY;
}

struct pick_distance pick_distance(const struct candidates *pool,
	const struct evaluated_list *evaluated, const struct search_pick *pick, double best_us)
{
	uint32_t family = pool->family_of[pick->candidate];
	struct pick_distance distance = {
		.pick = pick, .evaluated = -1, .time_us = pool->predicted_us[pick->candidate]};
	double best_in_family = INFINITY;

	for (size_t i = 0; i < evaluated->count; i++) {
		const struct evaluated *item = &evaluated->items[i];

		if (item->candidate == pick->candidate) {
			distance.evaluated = (ptrdiff_t)i;
			distance.time_us = time_of(item);
		}
		if (pool->family_of[item->candidate] == family && time_of(item) < best_in_family)
			best_in_family = time_of(item);
	}
	distance.regret_ratio = distance.time_us / best_us - 1;
	distance.regret_in_family_ratio =
		isfinite(best_in_family) ? distance.time_us / best_in_family - 1 : INFINITY;
	return distance;
}

void picks_describe(const struct candidates *pool, const struct evaluated_list *evaluated,
	const struct picks *picks, double best_us, struct tuned_entry *entry)
{
	entry->rules = memory_zeroed(picks->count + 1, sizeof(*entry->rules));
	entry->rule_count = picks->count;
	for (size_t i = 0; i < picks->count; i++) {
		const struct search_pick *pick = &picks->items[i];
		const struct bound_family *bound =
			candidates_family_of(pool, pick->candidate)->bound;
		const struct pick_distance distance = pick_distance(pool, evaluated, pick, best_us);
		const struct evaluation *evaluation =
			distance.evaluated >= 0 ? &evaluated->items[distance.evaluated].evaluation
						: NULL;

		entry->rules[i] = (struct tuned_pick){.name = string_copy(pick->rule),
			.family = string_copy(family_name(bound->family)),
			.configuration = configuration_named_values(
				bound, candidates_configuration(pool, pick->candidate)),
			.predicted = !evaluation || evaluation->predicted,
			.outcome =
				string_copy(evaluation ? outcome_name(evaluation->outcome) : NULL),
			.time_us = distance.time_us,
			.predicted_time_us = pool->predicted_us[pick->candidate],
			.regret_ratio = distance.regret_ratio,
			.regret_in_family_ratio = distance.regret_in_family_ratio};
	}
}
