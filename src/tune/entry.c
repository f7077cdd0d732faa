/* SPDX-License-Identifier: MIT */
#include "tune/entry.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/row.h"

static enum status row_of(const struct candidates *pool, const struct evaluated *evaluated,
	struct json **row, struct error *err)
{
	return row_to_json(candidates_family_of(pool, evaluated->candidate)->bound,
		candidates_configuration(pool, evaluated->candidate), &evaluated->evaluation, row,
		err);
}

static struct json *space_json(
	const struct candidates *pool, const struct evaluated_list *evaluated)
{
	struct json *json = json_new_object(), *outcomes = json_new_object();
	size_t counts[OUTCOME_COUNT] = {0};
	double product = 0;

	for (size_t f = 0; f < pool->family_count; f++)
		product += pool->families[f].product;
	for (size_t i = 0; i < evaluated->count; i++)
		counts[evaluated->items[i].evaluation.outcome]++;
	json_put_double(json, "product", product);
	json_put_int(json, "legal", (int64_t)pool->count);
	json_put_int(json, "evaluated", (int64_t)evaluated->count);
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (counts[i])
			json_put_int(outcomes, outcome_name((enum outcome)i), (int64_t)counts[i]);
	json_put(json, "outcomes", outcomes);
	return json;
}

static struct json *model_json(
	const struct candidates *pool, const struct evaluated_list *evaluated)
{
	struct model_quality quality = model_quality(pool, evaluated);
	struct json *json = json_new_object();
	char name[32];

	json_put_int(json, "measured", (int64_t)quality.measured);
	json_put_double(json, "rank_correlation", quality.rank_correlation);
	json_put_int(json, "rank_of_best", (int64_t)quality.rank_of_best);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "regret_top%zu", model_quality_tops[i]);
		json_put_double(json, name, quality.regret[i]);
	}
	json_put_double(json, "regret_shortlist8", quality.shortlist_regret);
	return json;
}

static struct json *tied_json(const struct candidates *pool, const struct evaluated *evaluated)
{
	const struct bound_family *bound = candidates_family_of(pool, evaluated->candidate)->bound;
	struct json *json = json_new_object();

	json_put_string(json, "family", evaluated->evaluation.family);
	json_put(json, "configuration",
		configuration_to_json(bound, candidates_configuration(pool, evaluated->candidate)));
	json_put(json, "time_us", tuned_time_json(&evaluated->evaluation.time));
	return json;
}

enum status entry_new(const struct candidates *pool, const struct evaluated_list *evaluated,
	const struct picks *picks, size_t winner, const bool *tied, const size_t *best_of_family,
	const char *run_id, bool predicted, struct json **entry, struct error *err)
{
	struct json *json = json_new_object(), *part = NULL;
	struct json *tied_list = json_new_array(), *families = json_new_array();
	enum status status = row_of(pool, &evaluated->items[winner], &part, err);

	json_put_string(json, "operation", operation_name(pool->problem->operation));
	json_put(json, "problem", problem_to_json(pool->problem));
	json_put_string(json, "timing", predicted ? "predicted" : "measured");
	json_put_string(json, "run", run_id);
	if (status == STATUS_OK)
		json_put(json, "winner", part);
	for (size_t i = 0; i < evaluated->count; i++)
		if (tied[i] && i != winner)
			json_push(tied_list, tied_json(pool, &evaluated->items[i]));
	for (size_t f = 0; f < pool->family_count && status == STATUS_OK; f++) {
		if (best_of_family[f] == SIZE_MAX)
			continue;
		status = row_of(pool, &evaluated->items[best_of_family[f]], &part, err);
		if (status == STATUS_OK)
			json_push(families, part);
	}
	json_put(json, "tied", tied_list);
	json_put(json, "families", families);
	json_put(json, "space", space_json(pool, evaluated));
	if (picks->count)
		json_put(json, "rules",
			picks_to_json(pool, evaluated, picks,
				evaluated_search_us(&evaluated->items[winner])));
	if (!predicted)
		json_put(json, "model", model_json(pool, evaluated));
	if (status == STATUS_OK)
		*entry = json;
	else
		json_free(json);
	return status;
}
