/* SPDX-License-Identifier: MIT */
#include "check/check_json.h"

#include "base/clock.h"
#include "check/verdict.h"

static struct json *estimate_json(const struct check_row *row)
{
	struct json *json = json_new_object();

	json_put_double(json, "ratio", row->slowdown.value);
	json_put_double(json, "low", row->slowdown.low);
	json_put_double(json, "high", row->slowdown.high);
	json_put_string(json, "against", check_against_name(row->against));
	json_put_double(json, "floor_ratio", row->floor_ratio);
	json_put_int(json, "blocks", (int64_t)row->now.blocks);
	return json;
}

static struct json *loads_json(const struct check_row *row)
{
	struct json *json = json_new_array();

	for (size_t i = 0; i < row->loads; i++)
		json_push(json, json_new_double(row->load_us[i]));
	return json;
}

static struct json *row_json(const struct check_row *row)
{
	struct json *json = json_new_object(), *differences = json_new_array();

	json_put_string(json, "operation", row->operation);
	json_put(json, "problem", named_values_to_json(&row->entry.problem));
	json_put_string(json, "family", row->family);
	json_put_string(json, "configuration", row->configuration);
	json_put_string(json, "verdict", check_verdict_name(row->verdict));
	json_put_string(json, "reason", row->reason);
	json_put_bool(json, "kernel_changed", row->kernel_changed);
	for (size_t i = 0; i < row->difference_count; i++) {
		struct json *difference = json_new_object();

		json_put_string(difference, "text", row->differences[i].text);
		json_put_bool(difference, "worse", row->differences[i].is_worse);
		json_push(differences, difference);
	}
	json_put(json, "differences", differences);
	if (row->baseline_us > 0)
		json_put_double(json, "baseline_us", row->baseline_us);
	if (row->now.blocks) {
		json_put_double(json, "time_us", row->now.time_us);
		json_put_double(json, "anchor_us", row->now.anchor_us);
		json_put_bool(json, "same_binary", row->same_binary);
		if (row->loads > 1)
			json_put(json, "loads_us", loads_json(row));
	}
	if (row->slowdown.value > 0)
		json_put(json, "slowdown", estimate_json(row));
	if (row->machine_ratio > 0)
		json_put_double(json, "machine_ratio", row->machine_ratio);
	if (row->better)
		json_put_string(json, "better", row->better);
	return json;
}

static struct json *identity_json(const struct check *check)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < check->identity.count; i++) {
		const struct check_trait_difference *item = &check->identity.items[i];
		struct json *json = json_new_object();

		json_put_string(json, "what", check_trait_name(item->trait));
		json_put_string(json, "baseline", item->baseline);
		json_put_string(json, "now", item->now);
		json_put_bool(json, "allowed", check->options.allowed & 1u << item->trait);
		json_push(list, json);
	}
	return list;
}

struct json *check_to_json(const struct check *check)
{
	const struct context *context = check->context;
	struct json *json = json_new_object(), *counts = json_new_object();
	struct json *rows = json_new_array();
	char date[CLOCK_DATE_SIZE];

	clock_date(date);
	json_put_string(json, "format", "tiletune.check/1");
	json_put_string(json, "baseline", check->baseline->path);
	json_put_string(json, "date", date);
	json_put(json, "device",
		gpu_model_json(
			device_spec(context->device), device_identity(context->device)->name));
	json_put_string(json, "timing", check->measures ? "measured" : "none");
	json_put_string(
		json, "nvrtc", context->compiler ? compiler_identity(context->compiler) : NULL);
	json_put_double(json, "threshold_ratio", check->options.threshold_ratio);
	json_put_double(json, "confidence_ratio", check->options.confidence_ratio);
	json_put_int(json, "exit_code", (int64_t)check_status(check));
	for (int i = 0; i < CHECK_VERDICT_COUNT; i++)
		json_put_int(counts, check_verdict_name((enum check_verdict)i),
			(int64_t)check_count(check, (enum check_verdict)i));
	json_put(json, "counts", counts);
	json_put(json, "identity", identity_json(check));
	for (size_t i = 0; i < check->row_count; i++)
		json_push(rows, row_json(&check->rows[i]));
	json_put(json, "entries", rows);
	return json;
}
