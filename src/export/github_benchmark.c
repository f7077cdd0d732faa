/* SPDX-License-Identifier: MIT
 *
 * What benchmark-action/github-action-benchmark reads as its tool customSmallerIsBetter: a list of
 * {name, unit, value, range, extra}.
 */
#include <math.h>
#include <stdlib.h>

#include "export/export.h"

/* "± 1.25": half of the interval. */
static void put_range(struct json *json, const struct export_time *time)
{
	char *range = string_format("± %.4g", (time->high_us - time->low_us) / 2);

	if (isfinite(time->high_us - time->low_us))
		json_put_string(json, "range", range);
	free(range);
}

static struct json *benchmark_json(const struct json_at *entry)
{
	const struct export_time time = export_time(entry);
	struct json *json = json_new_object();
	struct text text = {0};
	struct json_at winner;

	export_name(entry, &text);
	text_append(&text, time.predicted ? " (predicted)" : "");
	json_put_string(json, "name", text_string(&text));
	json_put_string(json, "unit", "us");
	json_put_double(json, "value", time.median_us);
	put_range(json, &time);
	text_clear(&text);
	if (json_find(entry, "winner", &winner)) {
		text_appendf(&text, "%s {", export_string(&winner, "family"));
		export_member_pairs(&winner, "configuration", ",", &text);
		text_append(&text, "}");
	}
	json_put_string(json, "extra", text_string(&text));
	text_release(&text);
	return json;
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	struct json *list = json_new_array();
	char *printed;

	(void)err;
	for (size_t i = 0; i < source->entry_count; i++)
		json_push(list, benchmark_json(&source->entries[i]));
	printed = json_print(list, true);
	text_appendf(text, "%s\n", printed);
	free(printed);
	json_free(list);
	return STATUS_OK;
}

const struct export_format export_format_github_benchmark = {
	.name = "github-benchmark",
	.summary = "times for benchmark-action/github-action-benchmark, smaller is better",
	.write = write,
};
