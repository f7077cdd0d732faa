/* SPDX-License-Identifier: MIT
 *
 * The table of export formats, and what they share.
 */
#include "export/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* One line per format, in the order of `tiletune help export`. */
/* clang-format off */
#define FORMATS(row) \
	row(c_header) \
	row(cmake) \
	row(make) \
	row(csv) \
	row(t4) \
	row(bencher) \
	row(github_benchmark)
/* clang-format on */
#define DECLARE(name) extern const struct export_format export_format_##name;
#define ADDRESS(name) &export_format_##name,
FORMATS(DECLARE)
const struct export_format *const export_formats[] = {FORMATS(ADDRESS) NULL};

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; export_formats[i]; i++)
		if (strcmp(export_formats[i]->name, name) == 0)
			return export_formats[i];
	return NULL;
}

const char *export_string(const struct json_at *object, const char *key)
{
	struct json_at member;
	const char *text = "";

	if (json_find(object, key, &member))
		json_get_string(&member, &text, NULL);
	return text;
}

double export_number(const struct json_at *object, const char *key)
{
	struct json_at member;
	double number = NAN;

	if (json_find(object, key, &member))
		json_get_double(&member, &number, NULL);
	return number;
}

void export_value(const struct json_at *at, struct text *text)
{
	const char *string;
	char *printed;

	if (json_type(at) == JSON_STRING && json_get_string(at, &string, NULL) == STATUS_OK) {
		text_append(text, string);
		return;
	}
	printed = json_print(at->node, false);
	text_append(text, printed);
	free(printed);
}

void export_pairs(const struct json_at *object, const char *separator, struct text *text)
{
	for (size_t i = 0; i < json_count(object); i++) {
		struct json_at member = json_item(object, i);

		text_appendf(text, "%s%s=", i ? separator : "", member.key);
		export_value(&member, text);
	}
}

void export_member_pairs(
	const struct json_at *object, const char *key, const char *separator, struct text *text)
{
	struct json_at member;

	if (json_find(object, key, &member))
		export_pairs(&member, separator, text);
}

void export_defines(const struct json_at *winner, struct text *text)
{
	struct json_at defines;

	if (!json_find(winner, "defines", &defines))
		return;
	for (size_t i = 0; i < json_count(&defines); i++) {
		struct json_at member = json_item(&defines, i);

		text_appendf(text, "%s-D%s=", i ? " " : "", member.key);
		export_value(&member, text);
	}
}

void export_name(const struct json_at *entry, struct text *text)
{
	text_appendf(text, "%s ", export_string(entry, "operation"));
	export_member_pairs(entry, "problem", ",", text);
}

struct export_time export_time(const struct json_at *entry)
{
	struct export_time time = {
		.predicted = strcmp(export_string(entry, "timing"), "measured") != 0,
		.median_us = NAN,
		.low_us = NAN,
		.high_us = NAN};
	struct json_at winner, member;

	if (json_find(entry, "winner", &winner) && json_find(&winner, "time_us", &member)) {
		time.median_us = export_number(&member, "median");
		if (time.predicted)
			return time;
		time.low_us = export_number(&member, "ci95_low");
		time.high_us = export_number(&member, "ci95_high");
	}
	return time;
}

void export_dimensions(
	const struct json_at *launch, const char *key, const char *separator, struct text *text)
{
	struct json_at list = {0};
	bool there = json_find(launch, key, &list);

	for (size_t i = 0; i < 3; i++) {
		text_append(text, i ? separator : "");
		if (there && i < json_count(&list)) {
			struct json_at item = json_item(&list, i);

			export_value(&item, text);
		} else {
			text_append_char(text, '1');
		}
	}
}

size_t export_launch_count(const struct json_at *winner)
{
	struct json_at launches;

	return json_find(winner, "launches", &launches) ? json_count(&launches) : 0;
}

struct json_at export_launch(const struct json_at *winner, size_t index)
{
	struct json_at launches, launch;

	if (!json_find(winner, "launches", &launches))
		BUG("a winner without launches has no launch %zu", index);
	launch = json_item(&launches, index);
	/* the cursor over the list ends here: what is returned begins anew */
	return json_root(launch.node, winner->file);
}
