/* SPDX-License-Identifier: MIT
 *
 * Advice as JSON.
 */
#include <string.h>

#include "advise/advise.h"

static struct json *changes_json(const struct variant *variant)
{
	struct json *changes = json_new_array();

	for (size_t i = 0; i < variant->change_count; i++) {
		struct json *change = json_new_object();

		json_put_string(change, "name", variant->changes[i].name);
		json_put_int(change, "from", variant->changes[i].from);
		json_put_int(change, "to", variant->changes[i].to);
		json_push(changes, change);
	}
	return changes;
}

/* What is known of a problem's best candidate. */
static void put_candidate(struct json *json, const struct advice_row *row)
{
	const struct trial *best = row->best_of.best;

	json_put_double(json, "time_us", row->best_of.time_us);
	json_put_double(json, "tflops", row->flop / row->best_of.time_us * 1e-6);
	json_put_string(json, "family", best->evaluation.family);
	json_put(json, "configuration", configuration_to_json(best->bound, best->choices));
	json_put(json, "score", score_to_json(&best->evaluation.score));
}

static struct json *cost_json(const struct advice_row *asked, const struct advice_row *row)
{
	struct json *cost = json_new_object();
	double with_copy_us = row->best_of.time_us + row->copy_us;

	json_put_double(cost, "extra_flop_ratio", row->flop / asked->flop - 1);
	json_put_double(cost, "extra_bytes", row->tensor_bytes - asked->tensor_bytes);
	json_put_double(cost, "copy_us", row->copy_us);
	json_put_double(
		cost, "net_gain_with_copy_ratio", asked->best_of.time_us / with_copy_us - 1);
	return cost;
}

static struct json *row_json(const struct advise *advise, const struct advice_row *row)
{
	const struct advice_row *asked = &advise->rows[0];
	struct json *json = json_new_object(), *reasons = json_new_array();

	json_put_string(json, "kind", variant_kind_name(row->variant->kind));
	json_put(json, "changes", changes_json(row->variant));
	json_put(json, "problem", problem_to_json(row->variant->problem));
	json_put_bool(json, "better", advice_gain_ratio(row) >= advice_gain_least_ratio);
	json_put_double(json, "net_gain_ratio", row->net_gain_ratio);
	json_put_double(json, "throughput_gain_ratio", row->throughput_gain_ratio);
	/* what the asked problem's own work amounts to in that time */
	if (row->variant->kind == VARIANT_PAD || row->variant->kind == VARIANT_PITCH) {
		json_put_double(json, "useful_tflops", asked->flop / row->best_of.time_us * 1e-6);
		json_put(json, "cost", cost_json(asked, row));
	}
	put_candidate(json, row);
	for (size_t i = 0; i < row->reason_count; i++) {
		struct json *reason = json_new_object();

		json_put_string(reason, "kind", row->reasons[i].kind);
		json_put_string(reason, "text", row->reasons[i].text);
		json_push(reasons, reason);
	}
	json_put(json, "why", reasons);
	return json;
}

struct json *advise_to_json(const struct advise *advise)
{
	struct json *json = json_new_object(), *asked = json_new_object();
	struct json *rows = json_new_array();

	json_put_string(json, "format", "tiletune.advise/1");
	json_put_string(json, "operation", operation_name(advise->operation));
	json_put(json, "problem", problem_to_json(advise->asked.items[0]));
	json_put(json, "device",
		tuned_device_json(device_spec(advise->bench->device),
			device_identity(advise->bench->device)->name));
	json_put_string(json, "timing", advise->measured ? "measured" : "predicted");
	put_candidate(asked, &advise->rows[0]);
	json_put(json, "asked", asked);
	for (size_t i = 1; i < advise->row_count; i++)
		if (advise->rows[i].best_of.best)
			json_push(rows, row_json(advise, &advise->rows[i]));
	json_put(json, "advice", rows);
	return json;
}
