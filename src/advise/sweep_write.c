/* SPDX-License-Identifier: MIT
 *
 * A sweep as JSON and as CSV.
 */
#include <inttypes.h>
#include <math.h>

#include "advise/sweep.h"

static struct json *point_json(const struct sweep *sweep, size_t series, size_t point)
{
	const struct sweep_value *value = &sweep->series[series].values[point];
	struct json *json = json_new_object();

	json_put_int(json, "x", sweep->x[point]);
	json_put_bool(json, "legal", value->is_legal);
	if (!value->is_legal)
		return json;
	json_put_string(json, "outcome", outcome_name(value->outcome));
	json_put_double(json, "tiles", value->tiles);
	json_put_double(json, "waves", value->waves);
	json_put_double(json, "waves_exact", value->waves_exact);
	json_put_double(json, "predicted_us", value->predicted_us);
	json_put_double(json, "predicted_tflops", sweep_predicted_tflops(sweep, series, point));
	if (value->time.count) {
		json_put_double(json, "measured_us", value->time.median);
		json_put_double(json, "ci95_low_us", value->time.ci95_low);
		json_put_double(json, "ci95_high_us", value->time.ci95_high);
		json_put_double(
			json, "measured_tflops", sweep_measured_tflops(sweep, series, point));
	}
	return json;
}

static struct json *edges_json(const struct sweep *sweep)
{
	struct json *list = json_new_array();

	for (size_t i = 1; i < sweep->problems.count; i++) {
		struct json *json;

		if (!sweep_is_wave_edge(sweep, 0, i))
			continue;
		json = json_new_object();
		json_put_int(json, "x", sweep->x[i]);
		json_put_double(json, "waves_before", sweep->series[0].values[i - 1].waves);
		json_put_double(json, "waves", sweep->series[0].values[i].waves);
		json_push(list, json);
	}
	return list;
}

struct json *sweep_to_json(const struct sweep *sweep)
{
	struct json *json = json_new_object(), *list = json_new_array();

	json_put_string(json, "format", "tiletune.sweep/1");
	json_put_string(json, "operation", operation_name(sweep->operation));
	json_put_string(json, "sweep", sweep->range);
	json_put(json, "device",
		tuned_device_json(device_spec(sweep->bench->device),
			device_identity(sweep->bench->device)->name));
	json_put_string(json, "timing", sweep->measured ? "measured" : "predicted");
	json_put(json, "first_problem", problem_to_json(sweep->problems.items[0]));
	for (size_t s = 0; s < sweep->series_count; s++) {
		struct json *series = json_new_object(), *points = json_new_array();

		json_put_string(series, "family", family_name(sweep->series[s].family));
		json_put_string(series, "configuration", sweep->series[s].configuration);
		for (size_t i = 0; i < sweep->problems.count; i++)
			json_push(points, point_json(sweep, s, i));
		json_put(series, "points", points);
		json_push(list, series);
	}
	json_put(json, "series", list);
	json_put(json, "wave_edges", edges_json(sweep));
	return json;
}

static void put_number(struct text *csv, double value)
{
	text_append_char(csv, ',');
	if (isfinite(value))
		text_appendf(csv, "%.6g", value);
}

void sweep_to_csv(const struct sweep *sweep, struct text *csv)
{
	text_appendf(csv,
		"%s,family,configuration,tiles,waves,waves_exact,predicted_us,predicted_tflops,"
		"measured_us,ci95_low_us,ci95_high_us,measured_tflops,outcome\n",
		sweep->label);
	for (size_t s = 0; s < sweep->series_count; s++)
		for (size_t i = 0; i < sweep->problems.count; i++) {
			const struct sweep_value *value = &sweep->series[s].values[i];

			if (!value->is_legal)
				continue;
			text_appendf(csv, "%" PRId64 ",%s,\"%s\"", sweep->x[i],
				family_name(sweep->series[s].family),
				sweep->series[s].configuration);
			put_number(csv, value->tiles);
			put_number(csv, value->waves);
			put_number(csv, value->waves_exact);
			put_number(csv, value->predicted_us);
			put_number(csv, sweep_predicted_tflops(sweep, s, i));
			put_number(csv, value->time.count ? value->time.median : NAN);
			put_number(csv, value->time.count ? value->time.ci95_low : NAN);
			put_number(csv, value->time.count ? value->time.ci95_high : NAN);
			put_number(csv, sweep_measured_tflops(sweep, s, i));
			text_appendf(csv, ",%s\n", outcome_name(value->outcome));
		}
}
