/* SPDX-License-Identifier: MIT
 *
 * Bencher Metric Format: benchmark -> measure -> value, lower_value, upper_value. Latency is in
 * nanoseconds, as Bencher's own measure of that name; a predicted time is a measure of its own.
 */
#include <stdlib.h>

#include "export/export.h"

static const double ns_per_us = 1e3;

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	struct json *json = json_new_object();

	(void)err;
	for (size_t i = 0; i < source->entry_count; i++) {
		const struct tuned_entry *entry = source->entries[i];
		const struct summary *time = &entry->winner.time;
		struct json *measure = json_new_object(), *metric = json_new_object();
		struct text name = {0};

		export_name(entry, &name);
		json_put_double(metric, "value", time->median * ns_per_us);
		if (!entry->predicted) {
			json_put_double(metric, "lower_value", time->ci95_low * ns_per_us);
			json_put_double(metric, "upper_value", time->ci95_high * ns_per_us);
		}
		json_put(measure, entry->predicted ? "predicted-latency" : "latency", metric);
		json_put(json, text_string(&name), measure);
		text_release(&name);
	}
	export_json(json, text);
	return STATUS_OK;
}

const struct export_format export_format_bencher = {
	.name = "bencher",
	.summary = "times in Bencher Metric Format, for `bencher run --adapter json`",
	.write = write,
};
