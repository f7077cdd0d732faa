/* SPDX-License-Identifier: MIT
 *
 * Writes a fragment for GNU make: a group of variables per entry, and a function that finds
 * entries (assets/tuned.mk.in).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format_text.h"
#include "base/memory.h"
#include "export/export.h"

/* Characters that neither make nor a shell interprets, because values are used in recipes. */
static const char plain[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./+=:,-";

struct fragment {
	struct text *text;
	const struct tuned_entry *entry;
	struct error *err;
	enum status status; /* error of the first value with other characters */
};

/* Writes PREFIX_NAME := and the formatted value. */
PRINTF_LIKE(4, 5)
static void variable(
	struct fragment *fragment, const char *prefix, const char *name, const char *format, ...)
{
	CLEANUP(text_release) struct text text = {0};
	const char *value;
	size_t length;
	va_list args;

	va_start(args, format);
	text_append_args(&text, format, args);
	va_end(args);
	value = text_string(&text);
	length = strspn(value, plain);
	if (value[length] && fragment->status == STATUS_OK)
		fragment->status =
			export_refuse(fragment->entry, name, value, length, fragment->err);
	/* a blank at the end of the line would become part of the value */
	text_appendf(fragment->text, "%s_%s :=%s%s\n", prefix, name, *value ? " " : "", value);
}

/* Writes a variable with the value in `text`, and clears the text. */
static void built(
	struct fragment *fragment, const char *prefix, const char *name, struct text *value)
{
	variable(fragment, prefix, name, "%s", text_string(value));
	text_clear(value);
}

static void launch_variables(
	struct fragment *text, const char *entry, size_t index, const struct tuned_launch *launch)
{
	const struct {
		const char *name;
		const uint32_t *dimensions;
	} sizes[] = {{"GRID", launch->shape.grid}, {"BLOCK", launch->shape.block},
		{"CLUSTER", launch->shape.cluster}};
	CLEANUP(text_release) struct text value = {0};
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "%s_%zu", entry, index);
	variable(text, prefix, "SOURCE", "%s", launch->source);
	variable(text, prefix, "ENTRY", "%s", launch->entry);
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		export_dimensions(sizes[i].dimensions, " ", &value);
		built(text, prefix, sizes[i].name, &value);
	}
	variable(text, prefix, "SMEM_DYNAMIC_BYTES", "%" PRIu32, launch->shape.smem_dynamic_bytes);
	variable(text, prefix, "REPEAT", "%" PRIu32, launch->shape.repeat);
	variable(text, prefix, "COOPERATIVE", "%d", launch->shape.cooperative);
	export_arguments(launch, " ", &value);
	built(text, prefix, "ARGS", &value);
}

static enum status entry_variables(struct text *output, const char *hash, size_t index,
	const struct tuned_entry *entry, struct error *err)
{
	struct fragment fragment = {.text = output, .entry = entry, .err = err}, *text = &fragment;
	const struct tuned_row *winner = &entry->winner;
	CLEANUP(text_release) struct text value = {0};
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "TILETUNE_%s_%zu", hash, index);
	text_append_char(output, '\n');
	variable(text, prefix, "OPERATION", "%s", entry->operation);
	named_values_format(&entry->problem, " ", &value);
	built(text, prefix, "PROBLEM", &value);
	variable(text, prefix, "FAMILY", "%s", winner->result.family);
	named_values_format(&winner->configuration, " ", &value);
	built(text, prefix, "CONFIGURATION", &value);
	export_defines(winner, &value);
	built(text, prefix, "DEFINES", &value);
	text_append_real(&value, winner->result.time.median);
	built(text, prefix, "TIME_US", &value);
	variable(text, prefix, "TIMING", "%s", timing_names[entry->predicted]);
	if (!entry->predicted)
		variable(text, prefix, "VERIFIED", "%s", verified_names[winner->result.verified]);
	variable(text, prefix, "WORKSPACE_BYTES", "%" PRId64,
		winner->workspace_bytes > 0 ? winner->workspace_bytes : 0);
	variable(text, prefix, "TENSOR_MAPS", "%zu", winner->tensor_map_count);
	for (size_t i = 0; i < winner->launch_count; i++)
		text_appendf(&value, "%s%zu", i ? " " : "", i);
	built(text, prefix, "LAUNCHES", &value);
	for (size_t i = 0; i < winner->launch_count; i++)
		launch_variables(text, prefix, i, &winner->launches[i]);
	return fragment.status;
}

static enum status make_write(
	const struct export_source *source, struct text *text, struct error *err)
{
	CLEANUP(text_release) struct text example = {0}, entries = {0}, names = {0};
	char hash[EXPORT_HASH_SIZE];

	for (size_t i = 0; i < source->entry_count; i++)
		TRY(entry_variables(&entries, "", i, source->entries[i], err));
	export_hash(&entries, hash);
	text_clear(&entries);
	for (size_t i = 0; i < source->entry_count; i++) {
		text_appendf(&names, " %s_%zu", hash, i);
		TRY(entry_variables(&entries, hash, i, source->entries[i], err));
	}
	export_example(source, ",", " ", &example);
	text_fill(export_mk_in,
		(const struct text_part[]){{"FILE", source->name},
			{"EXAMPLE", text_string(&example)}, {"NAMES", text_string(&names)},
			{"ENTRIES", text_string(&entries)}, {0}},
		text);
	return STATUS_OK;
}

const struct export_format export_format_make = {
	.name = "make",
	.summary = "variables for GNU make, and a function that finds entries",
	.builds = true,
	.write = make_write,
};
