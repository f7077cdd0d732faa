/* SPDX-License-Identifier: MIT
 *
 * The table of export formats, and functions that they share.
 */
#include "export/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

/* One line per format, in the order of `tiletune help export`. */
/* clang-format off */
#define FORMATS(row) \
	row(c_header) \
	row(cmake) \
	row(make) \
	row(features) \
	row(bundle) \
	row(cubin) \
	row(ptx) \
	row(source) \
	row(rule_c) \
	row(rule_py)
/* clang-format on */
#define DECLARE(name) extern const struct export_format export_format_##name;
#define ADDRESS(name) &export_format_##name,
FORMATS(DECLARE)
const struct export_format *const export_formats[] = {FORMATS(ADDRESS) NULL};

const struct export_format export_format_rule_c = {
	.name = "rule-c",
	.summary = "a decision tree over the sizes of a problem, as one function in C",
};
const struct export_format export_format_rule_py = {
	.name = "rule-py",
	.summary = "the same decision tree in Python",
};

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; export_formats[i]; i++)
		if (strcmp(export_formats[i]->name, name) == 0)
			return export_formats[i];
	return NULL;
}

void export_name(const struct tuned_entry *entry, struct text *text)
{
	text_appendf(text, "%s ", entry->operation);
	named_values_format(&entry->problem, ",", text);
	if (entry->objective != OBJECTIVE_TIME)
		text_appendf(text, " (best %s)", objective_names[entry->objective]);
}

void export_example(const struct export_source *source, const char *between, const char *separator,
	struct text *text)
{
	if (!source->entry_count) {
		text_appendf(text, "OPERATION%sKEY=VALUE", between);
		return;
	}
	text_appendf(text, "%s%s", source->entries[0]->operation, between);
	named_values_format(&source->entries[0]->problem, separator, text);
}

void export_defines(const struct tuned_row *row, struct text *text)
{
	for (size_t i = 0; i < row->defines.count; i++) {
		text_appendf(text, "%s-D%s=", i ? " " : "", row->defines.items[i].name);
		value_format(row->defines.items[i].value, text);
	}
	for (char **option = row->options; option && *option; option++)
		text_appendf(text, "%s%s", text->length ? " " : "", *option);
}

void export_dimensions(const uint32_t dimensions[3], const char *separator, struct text *text)
{
	for (size_t i = 0; i < 3; i++)
		text_appendf(text, "%s%" PRIu32, i ? separator : "", dimensions[i]);
}

void export_arguments(const struct tuned_launch *launch, const char *separator, struct text *text)
{
	for (size_t i = 0; i < launch->argument_count; i++) {
		text_append(text, i ? separator : "");
		value_format(launch->arguments[i], text);
	}
}

enum status export_refuse(const struct tuned_entry *entry, const char *what, const char *value,
	size_t at, struct error *err)
{
	CLEANUP(text_release) struct text name = {0};

	export_name(entry, &name);
	error_set(err, STATUS_BAD_INPUT,
		"%s: %s \"%s\" contains the character '%c', which this format cannot express",
		text_string(&name), what, value, value[at]);
	return error_hint(
		err, "use --format c-header, or select other entries with OPERATION -p PROBLEM");
}

void export_hash(const struct text *content, char hash[EXPORT_HASH_SIZE])
{
	snprintf(hash, EXPORT_HASH_SIZE, "%08" PRIx32,
		(uint32_t)hash_bytes(text_string(content), content->length, 0));
}
