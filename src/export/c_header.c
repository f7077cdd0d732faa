/* SPDX-License-Identifier: MIT
 *
 * Writes a header for C (C99 or later) and C++ (C++11 or later) without dependencies: tables and
 * a look-up function (assets/tuned.h.in).
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "export/export.h"
#include "base/format_text.h"

static void append_string(struct text *text, const char *string)
{
	text_append_char(text, '"');
	for (; *string; string++) {
		unsigned char c = (unsigned char)*string;

		if (c == '"' || c == '\\')
			text_appendf(text, "\\%c", c);
		else if (c < 0x20 || c == 0x7f ||
			 c == '?') /* '?' is escaped because of trigraphs */
			text_appendf(text, "\\%03o", c);
		else
			text_append_char(text, (char)c);
	}
	text_append_char(text, '"');
}

static void append_launch(struct text *text, const struct tuned_launch *launch)
{
	const uint32_t *const sizes[] = {
		launch->shape.grid, launch->shape.block, launch->shape.cluster};
	CLEANUP(text_release) struct text list = {0};

	export_arguments(launch, ",", &list);
	format_put(text, append_string, "\t{%s, %s, %s", launch->source, launch->entry,
		text_string(&list));
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		text_append(text, ", {");
		export_dimensions(sizes[i], ", ", text);
		text_append_char(text, '}');
	}
	text_appendf(text, ", %" PRIu32 ", %" PRIu32 ", %d},\n", launch->shape.smem_dynamic_bytes,
		launch->shape.repeat, launch->shape.cooperative);
}

static void append_entry(struct text *text, const struct tuned_entry *entry, size_t first_launch)
{
	const struct tuned_row *winner = &entry->winner;
	CLEANUP(memory_free) char *problem = named_values_text(&entry->problem);
	CLEANUP(memory_free) char *configuration = named_values_text(&winner->configuration);
	CLEANUP(text_release) struct text defines = {0};

	export_defines(winner, &defines);
	if (!entry->predicted && winner->result.verified != VERIFIED_REFERENCE)
		text_appendf(
			text, "\t/* verified: %s */\n", verified_names[winner->result.verified]);
	format_put(text, append_string, "\t{%s, %s,\n\t\t%s, %s,\n\t\t%s,\n\t\t", entry->operation,
		problem, winner->result.family, configuration, text_string(&defines));
	text_append_real(text, winner->result.time.median);
	text_appendf(text, ", %d, %" PRId64 "ULL, %zu, tiletune_launches + %zu, %zu},\n",
		!entry->predicted, winner->workspace_bytes > 0 ? winner->workspace_bytes : 0,
		winner->launch_count, first_launch, winner->tensor_map_count);
}

static enum status c_header_write(
	const struct export_source *source, struct text *text, struct error *err)
{
	CLEANUP(text_release)
	struct text device = {0}, launches = {0}, entries = {0}, content = {0}, example = {0};
	char hash[EXPORT_HASH_SIZE], count[24];
	size_t launch_count = 0;

	if (!source->entry_count)
		return error_set(
			err, STATUS_BAD_INPUT, "%s: there are no entries to export", source->name);
	append_string(&device, source->tuned->device.name);
	for (size_t i = 0; i < source->entry_count; i++) {
		const struct tuned_row *winner = &source->entries[i]->winner;

		append_entry(&entries, source->entries[i], launch_count);
		for (size_t k = 0; k < winner->launch_count; k++)
			append_launch(&launches, &winner->launches[k]);
		launch_count += winner->launch_count;
	}
	if (!launch_count)
		text_append(&launches,
			"\t{\"\", \"\", \"\", {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0, 0},\n");
	text_appendf(&content, "%s%s%s", text_string(&device), text_string(&launches),
		text_string(&entries));
	/* headers have different include guards, so that a source file may include several */
	export_hash(&content, hash);
	snprintf(count, sizeof(count), "%zu", source->entry_count);
	export_example(source, "\", \"", ",", &example);
	text_fill(export_h_in,
		(const struct text_part[]){{"FILE", source->name},
			{"EXAMPLE", text_string(&example)}, {"HASH", hash},
			{"DEVICE", text_string(&device)}, {"LAUNCHES", text_string(&launches)},
			{"COUNT", count}, {"ENTRIES", text_string(&entries)}, {0}},
		text);
	return STATUS_OK;
}

const struct export_format export_format_c_header = {
	.name = "c-header",
	.summary = "one self-contained C and C++ header: table, look-up, launch geometry, -D list",
	.builds = true,
	.write = c_header_write,
};
