/* SPDX-License-Identifier: MIT
 *
 * A fragment for GNU make: one group of variables per entry and a function that finds entries.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "export/export.h"

/* What make would expand or take for a comment. */
static void append_value(struct text *text, const char *value)
{
	for (; *value; value++) {
		if (*value == '$')
			text_append(text, "$$");
		else if (*value == '#')
			text_append(text, "\\#");
		else
			text_append_char(text, *value == '\n' ? ' ' : *value);
	}
}

static void variable(struct text *text, const char *prefix, const char *name, const char *value)
{
	text_appendf(text, "%s_%s := ", prefix, name);
	append_value(text, value);
	/* no blank at the end of the line: it would be part of the value */
	if (!*value)
		text->data[--text->length] = '\0';
	text_append_char(text, '\n');
}

/* A variable whose value is put together in text, which is emptied. */
static void built(struct text *text, const char *prefix, const char *name, struct text *value)
{
	variable(text, prefix, name, text_string(value));
	text_clear(value);
}

static void integer(struct text *text, const char *prefix, const char *name, int64_t value)
{
	struct text digits = {0};

	text_appendf(&digits, "%" PRId64, value > 0 ? value : 0);
	built(text, prefix, name, &digits);
	text_release(&digits);
}

static void write_launch(
	struct text *text, size_t entry, size_t index, const struct tuned_launch *launch)
{
	const struct {
		const char *name;
		const uint32_t *dimensions;
	} sizes[] = {
		{"GRID", launch->grid}, {"BLOCK", launch->block}, {"CLUSTER", launch->cluster}};
	char prefix[64];
	struct text value = {0};

	snprintf(prefix, sizeof(prefix), "TILETUNE_%zu_%zu", entry, index);
	variable(text, prefix, "SOURCE", launch->source);
	variable(text, prefix, "ENTRY", launch->entry);
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		export_dimensions(sizes[i].dimensions, " ", &value);
		built(text, prefix, sizes[i].name, &value);
	}
	integer(text, prefix, "SMEM_DYNAMIC_BYTES", launch->smem_dynamic_bytes);
	integer(text, prefix, "REPEAT", launch->repeat);
	export_arguments(launch, " ", &value);
	built(text, prefix, "ARGS", &value);
	text_release(&value);
}

static void write_entry(struct text *text, size_t index, const struct tuned_entry *entry)
{
	const struct tuned_row *winner = &entry->winner;
	struct text value = {0};
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "TILETUNE_%zu", index);
	text_append_char(text, '\n');
	variable(text, prefix, "OPERATION", entry->operation);
	named_values_format(&entry->problem, " ", &value);
	built(text, prefix, "PROBLEM", &value);
	variable(text, prefix, "FAMILY", winner->family);
	named_values_format(&winner->configuration, " ", &value);
	built(text, prefix, "CONFIGURATION", &value);
	export_defines(winner, &value);
	built(text, prefix, "DEFINES", &value);
	export_number(winner->time.median, &value);
	built(text, prefix, "TIME_US", &value);
	variable(text, prefix, "TIMING", timing_names[entry->predicted]);
	integer(text, prefix, "WORKSPACE_BYTES", winner->workspace_bytes);
	for (size_t i = 0; i < winner->launch_count; i++)
		text_appendf(&value, "%s%zu", i ? " " : "", i);
	built(text, prefix, "LAUNCHES", &value);
	for (size_t i = 0; i < winner->launch_count; i++)
		write_launch(text, index, i, &winner->launches[i]);
	text_release(&value);
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	(void)err;
	text_appendf(text,
		"# Tuned configurations from %s; made by `tiletune export --format make`.\n"
		"#\n"
		"#\tinclude tuned.mk\n"
		"#\tE := $(call tiletune_find,gemm,M=4096 N=4096 K=4096 dtype=bf16)\n"
		"#\tNVCCFLAGS += $(TILETUNE_$(E)_DEFINES)\n"
		"#\n"
		"# tiletune_find: the numbers of the entries whose problem has all of these keys. "
		"A\n"
		"# family made of steps has no defines of its own: `tiletune export --format "
		"source`\n"
		"# writes each step's source with its defines.\n"
		"tiletune_find = $(strip $(foreach e,$(TILETUNE_ENTRIES),$(if $(filter $(1),"
		"$(TILETUNE_$(e)_OPERATION)),$(if $(filter-out $(TILETUNE_$(e)_PROBLEM),$(2)),,"
		"$(e)))))\n\nTILETUNE_ENTRIES :=",
		source->name);
	for (size_t i = 0; i < source->entry_count; i++)
		text_appendf(text, " %zu", i);
	text_append_char(text, '\n');
	for (size_t i = 0; i < source->entry_count; i++)
		write_entry(text, i, source->entries[i]);
	return STATUS_OK;
}

const struct export_format export_format_make = {
	.name = "make",
	.summary = "variables for GNU make, and a function that finds entries",
	.write = write,
};
