/* SPDX-License-Identifier: MIT
 *
 * Writes a module for CMake: the entries as one JSON document, and a function that looks up an
 * entry with string(JSON) (assets/tuned.cmake.in).
 */
#include <string.h>

#include "base/format_text.h"
#include "base/memory.h"
#include "export/export.h"
#include "family/compile_option.h"
#include "record/record_write.h"

static void put_values(struct json *json, const char *name, const struct named_values *values,
	const char *separator)
{
	CLEANUP(text_release) struct text text = {0};

	named_values_format(values, separator, &text);
	json_put_string(json, name, text_string(&text));
}

/* Rejects items with characters that would split or join items of a CMake list. */
static enum status expect_item(
	const struct tuned_entry *entry, const char *what, const char *item, struct error *err)
{
	const size_t length = strcspn(item, ";[]\\");

	return item[length] ? export_refuse(entry, what, item, length, err) : STATUS_OK;
}

static enum status expect_items(const struct tuned_entry *entry, struct error *err)
{
	const struct tuned_row *winner = &entry->winner;

	for (size_t i = 0; i < winner->defines.count; i++) {
		CLEANUP(text_release) struct text value = {0};

		value_format(winner->defines.items[i].value, &value);
		TRY(expect_item(entry, winner->defines.items[i].name, text_string(&value), err));
	}
	for (char **option = winner->options; option && *option; option++)
		TRY(expect_item(entry, "option", *option, err));
	return STATUS_OK;
}

static void put_options(struct json *json, char *const *options)
{
	CLEANUP(text_release) struct text list = {0};

	for (; options && *options; options++)
		text_appendf(&list, "%s%s", list.length ? ";" : "", *options);
	json_put_string(json, "options", text_string(&list));
}

/* {"operation", "problem": "M=...", "timing", "family", "configuration", "defines": "BM=128;...",
 * "time_us", "workspace_bytes", "tensor_maps", "launches": [...]} */
static struct json *entry_json(const struct tuned_entry *entry)
{
	const struct tuned_row *winner = &entry->winner;
	struct json *json = json_new_object(), *launches = json_new_array();

	json_put_string(json, "operation", entry->operation);
	put_values(json, "problem", &entry->problem, ",");
	json_put_string(json, "timing", timing_names[entry->predicted]);
	if (!entry->predicted)
		json_put_string(json, "verified", verified_names[winner->result.verified]);
	json_put_string(json, "family", winner->result.family);
	put_values(json, "configuration", &winner->configuration, ",");
	put_values(json, "defines", &winner->defines, ";");
	put_options(json, winner->options);
	json_put_double(json, "time_us", winner->result.time.median);
	if (winner->workspace_bytes >= 0)
		json_put_int(json, "workspace_bytes", winner->workspace_bytes);
	json_put_int(json, "tensor_maps", (int64_t)winner->tensor_map_count);
	for (size_t i = 0; i < winner->launch_count; i++)
		json_push(launches, record_to_json(&tuned_launch_record, &winner->launches[i]));
	json_put(json, "launches", launches);
	return json;
}

/* Returns the folder of the entry's sources, for the example. */
static const char *folder_of(const struct export_source *source)
{
	const struct tuned_entry *entry = source->entry_count ? source->entries[0] : NULL;
	const struct tuned_launch *launch =
		entry && entry->winner.launch_count ? entry->winner.launches : NULL;
	const size_t length = entry ? strlen(entry->operation) : 0;

	return launch && !(strncmp(launch->source, entry->operation, length) == 0 &&
				 launch->source[length] == '/')
		       ? "${CMAKE_CURRENT_SOURCE_DIR}) # the folder of the kernel's JSON"
		       : "/usr/local/share/tiletune/templates) # of your installation";
}

/* Returns whether the entry's options select the C++ dialect, for the example. */
static bool has_standard(const struct export_source *source)
{
	char *const *option = source->entry_count ? source->entries[0]->winner.options : NULL;

	while (option && *option && !compile_option_is_standard(*option))
		option++;
	return option && *option;
}

static enum status cmake_write(
	const struct export_source *source, struct text *text, struct error *err)
{
	CLEANUP(json_release) struct json *list = json_new_array();
	CLEANUP(text_release) struct text json = {0}, bracket = {0}, example = {0};
	const char *arch = source->tuned->device.arch;
	const bool is_named = arch && string_starts_with(arch, "sm_") &&
			      strspn(arch + 3, "0123456789af") == strlen(arch + 3);
	char hash[EXPORT_HASH_SIZE];

	for (size_t i = 0; i < source->entry_count; i++) {
		TRY(expect_items(source->entries[i], err));
		json_push(list, entry_json(source->entries[i]));
	}
	json_append(list, true, &json);
	export_example(source, " ", " ", &example);
	/* a bracket argument needs a delimiter that does not occur in the text */
	text_append(&bracket, "]==]");
	while (strstr(text_string(&json), bracket.data)) {
		bracket.data[bracket.length - 1] = '=';
		text_append_char(&bracket, ']');
	}
	bracket.data[bracket.length - 1] = '\0';
	export_hash(&json, hash);
	text_fill(export_cmake_in,
		(const struct text_part[]){{"FILE", source->name},
			{"EXAMPLE", text_string(&example)}, {"SOURCES", folder_of(source)},
			{"STANDARD", has_standard(source) ? "" : "CUDA_STANDARD 17 "},
			{"ARCH", is_named ? arch + 3 : "native"}, {"HASH", hash},
			{"BRACKET", bracket.data + 1}, {"JSON", text_string(&json)}, {0}},
		text);
	return STATUS_OK;
}

const struct export_format export_format_cmake = {
	.name = "cmake",
	.summary = "a module with a function that finds entries (CMake 3.19)",
	.builds = true,
	.write = cmake_write,
};
