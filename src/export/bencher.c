/* SPDX-License-Identifier: MIT
 *
 * Bencher Metric Format: benchmark -> measure -> value, lower_value, upper_value. Latency is in
 * nanoseconds, as Bencher's own measure of that name; a predicted time is a measure of its own.
 */
#include <math.h>
#include <stdlib.h>

#include "export/export.h"

static const double ns_per_us = 1e3;

static void put_time(struct json *json, const char *name, double time_us)
{
	if (isfinite(time_us))
		json_put_double(json, name, time_us * ns_per_us);
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	struct json *json = json_new_object();
	char *printed;

	(void)err;
	for (size_t i = 0; i < source->entry_count; i++) {
		const struct export_time time = export_time(&source->entries[i]);
		struct json *measure = json_new_object(), *metric = json_new_object();
		struct text name = {0};

		export_name(&source->entries[i], &name);
		put_time(metric, "value", time.median_us);
		put_time(metric, "lower_value", time.low_us);
		put_time(metric, "upper_value", time.high_us);
		json_put(measure, time.predicted ? "predicted-latency" : "latency", metric);
		json_put(json, text_string(&name), measure);
		text_release(&name);
	}
	printed = json_print(json, true);
	text_appendf(text, "%s\n", printed);
	free(printed);
	json_free(json);
	return STATUS_OK;
}

const struct export_format export_format_bencher = {
	.name = "bencher",
	.summary = "times in Bencher Metric Format, for `bencher run --adapter json`",
	.write = write,
};
