/* SPDX-License-Identifier: MIT
 *
 * A fragment for GNU make: one group of variables per entry and a function that finds entries.
 */
#include <stdio.h>

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

static void dimensions(struct text *text, const char *prefix, const char *name,
	const struct json_at *launch, const char *key)
{
	struct text value = {0};

	export_dimensions(launch, key, " ", &value);
	variable(text, prefix, name, text_string(&value));
	text_release(&value);
}

static void number(struct text *text, const char *prefix, const char *name,
	const struct json_at *object, const char *key, const char *otherwise)
{
	struct text value = {0};
	struct json_at member;

	if (json_find(object, key, &member))
		export_value(&member, &value);
	variable(text, prefix, name, value.length ? value.data : otherwise);
	text_release(&value);
}

static void write_launch(
	struct text *text, size_t entry, size_t index, const struct json_at *launch)
{
	char prefix[64];
	struct text list = {0};
	struct json_at arguments;

	snprintf(prefix, sizeof(prefix), "TILETUNE_%zu_%zu", entry, index);
	variable(text, prefix, "SOURCE", export_string(launch, "source"));
	variable(text, prefix, "ENTRY", export_string(launch, "entry"));
	dimensions(text, prefix, "GRID", launch, "grid");
	dimensions(text, prefix, "BLOCK", launch, "block");
	dimensions(text, prefix, "CLUSTER", launch, "cluster");
	number(text, prefix, "SMEM_DYNAMIC_BYTES", launch, "smem_dynamic_bytes", "0");
	number(text, prefix, "REPEAT", launch, "repeat", "1");
	if (json_find(launch, "args", &arguments))
		for (size_t i = 0; i < json_count(&arguments); i++) {
			struct json_at argument = json_item(&arguments, i);

			text_append(&list, i ? " " : "");
			export_value(&argument, &list);
		}
	variable(text, prefix, "ARGS", text_string(&list));
	text_release(&list);
}

static void write_entry(struct text *text, size_t index, const struct json_at *entry)
{
	struct json_at winner = {0}, time, median;
	struct text value = {0};
	char prefix[32];

	if (!json_find(entry, "winner", &winner))
		return;
	snprintf(prefix, sizeof(prefix), "TILETUNE_%zu", index);
	text_append_char(text, '\n');
	variable(text, prefix, "OPERATION", export_string(entry, "operation"));
	export_member_pairs(entry, "problem", " ", &value);
	variable(text, prefix, "PROBLEM", text_string(&value));
	variable(text, prefix, "FAMILY", export_string(&winner, "family"));
	text_clear(&value);
	export_member_pairs(&winner, "configuration", " ", &value);
	variable(text, prefix, "CONFIGURATION", text_string(&value));
	text_clear(&value);
	export_defines(&winner, &value);
	variable(text, prefix, "DEFINES", text_string(&value));
	text_clear(&value);
	if (json_find(&winner, "time_us", &time) && json_find(&time, "median", &median))
		export_value(&median, &value);
	variable(text, prefix, "TIME_US", text_string(&value));
	variable(text, prefix, "TIMING", export_string(entry, "timing"));
	number(text, prefix, "WORKSPACE_BYTES", &winner, "workspace_bytes", "0");
	text_clear(&value);
	for (size_t i = 0; i < export_launch_count(&winner); i++)
		text_appendf(&value, "%s%zu", i ? " " : "", i);
	variable(text, prefix, "LAUNCHES", text_string(&value));
	for (size_t i = 0; i < export_launch_count(&winner); i++) {
		struct json_at launch = export_launch(&winner, i);

		write_launch(text, index, i, &launch);
	}
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
		write_entry(text, i, &source->entries[i]);
	return STATUS_OK;
}

const struct export_format export_format_make = {
	.name = "make",
	.summary = "variables for GNU make, and a function that finds entries",
	.write = write,
};
