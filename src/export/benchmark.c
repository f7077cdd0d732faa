/* SPDX-License-Identifier: MIT
 *
 * What services that follow benchmarks read.
 *
 * Bencher Metric Format: benchmark -> measure -> value, lower_value, upper_value. Latency is in
 * nanoseconds, as Bencher's own measure of that name; a predicted time is a measure of its own.
 *
 * benchmark-action/github-action-benchmark, as its tool customSmallerIsBetter: a list of {name,
 * unit, value, range, extra}.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/export.h"

static const double ns_per_us = 1e3;

/* A member is put behind the others as text: looking for its name first would be quadratic. */
static enum status write_bencher(
	const struct export_source *source, struct text *text, struct error *err)
{
	(void)err;
	text_append_char(text, '{');
	for (size_t i = 0; i < source->entry_count; i++) {
		const struct tuned_entry *entry = source->entries[i];
		const struct summary *time = &entry->winner.time;
		CLEANUP(json_release) struct json *json = json_new_object();
		struct json *measure = json_new_object(), *metric = json_new_object();
		CLEANUP(text_release) struct text name = {0};
		CLEANUP(memory_free) char *printed = NULL;

		export_name(entry, &name);
		json_put_double(metric, "value", time->median * ns_per_us);
		if (!entry->predicted) {
			json_put_double(metric, "lower_value", time->ci95_low * ns_per_us);
			json_put_double(metric, "upper_value", time->ci95_high * ns_per_us);
		}
		json_put(measure, entry->predicted ? "predicted-latency" : "latency", metric);
		json_put(json, text_string(&name), measure);
		printed = json_print(json, true);
		text_appendf(text, "%s%.*s", i ? "," : "", (int)(strlen(printed) - strlen("{\n}")),
			printed + 1);
	}
	text_append(text, "\n}\n");
	return STATUS_OK;
}

const struct export_format export_format_bencher = {
	.name = "bencher",
	.summary = "times in Bencher Metric Format, for `bencher run --adapter json`",
	.write = write_bencher,
};

/* ---- github-action-benchmark ---- */
static struct json *benchmark_json(const struct tuned_entry *entry)
{
	const struct summary *time = &entry->winner.time;
	struct json *json = json_new_object();
	CLEANUP(text_release) struct text name = {0};
	CLEANUP(memory_free) char *configuration = tuned_row_configuration(&entry->winner);
	CLEANUP(memory_free)
	char *range = string_format("± %.4g", (time->ci95_high - time->ci95_low) / 2);
	CLEANUP(memory_free)
	char *extra = string_format("%s {%s}", entry->winner.family, configuration);

	export_name(entry, &name);
	text_append(&name, entry->predicted ? " (predicted)" : "");
	json_put_string(json, "name", text_string(&name));
	json_put_string(json, "unit", "us");
	json_put_double(json, "value", time->median);
	if (!entry->predicted)
		json_put_string(json, "range", range);
	json_put_string(json, "extra", extra);
	return json;
}

static enum status write_github(
	const struct export_source *source, struct text *text, struct error *err)
{
	struct json *list = json_new_array();

	(void)err;
	for (size_t i = 0; i < source->entry_count; i++)
		json_push(list, benchmark_json(source->entries[i]));
	export_json(list, text);
	return STATUS_OK;
}

const struct export_format export_format_github_benchmark = {
	.name = "github-benchmark",
	.summary = "times for benchmark-action/github-action-benchmark, smaller is better",
	.write = write_github,
};
