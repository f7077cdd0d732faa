/* SPDX-License-Identifier: MIT
 *
 * What build tools read.
 *
 * A CMake module: the entries as one JSON document, and a function that looks one up with
 * string(JSON) (CMake 3.19). A fragment for GNU make: one group of variables per entry and a
 * function that finds entries. Files that one build includes are joined: names of variables hold a
 * hash of the file's content.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "export/export.h"
#include "family/compile_option.h"

static void put_hash(const struct text *content, char hash[16])
{
	snprintf(hash, 16, "%08" PRIx32,
		(uint32_t)hash_bytes(text_string(content), content->length, 0));
}

/* {"operation", "problem": "M=...", "timing", "family", "configuration", "defines": "BM=128;...",
 * "time_us", "workspace_bytes", "tensor_maps", "launches": [...]} */
static struct json *launch_json(const struct tuned_launch *launch)
{
	const struct {
		const char *name;
		const uint32_t *dimensions;
	} sizes[] = {
		{"grid", launch->grid}, {"block", launch->block}, {"cluster", launch->cluster}};
	struct json *json = json_new_object(), *arguments = json_new_array();

	json_put_string(json, "source", launch->source);
	json_put_string(json, "entry", launch->entry);
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct json *list = json_new_array();

		for (size_t k = 0; k < 3; k++)
			json_push(list, json_new_int(sizes[i].dimensions[k]));
		json_put(json, sizes[i].name, list);
	}
	json_put_int(json, "smem_dynamic_bytes", launch->smem_dynamic_bytes);
	if (launch->repeat > 1)
		json_put_int(json, "repeat", launch->repeat);
	for (size_t i = 0; i < launch->argument_count; i++)
		json_push(arguments, named_value_custom.write(&launch->arguments[i]));
	json_put(json, "args", arguments);
	return json;
}

static void put_values(struct json *json, const char *name, const struct named_values *values,
	const char *separator)
{
	CLEANUP(text_release) struct text text = {0};

	named_values_format(values, separator, &text);
	json_put_string(json, name, text_string(&text));
}

/* As a list of CMake, where a ';' would begin another item. */
static void put_options(struct json *json, char *const *options)
{
	CLEANUP(text_release) struct text list = {0};

	for (; options && *options; options++) {
		text_append(&list, list.length ? ";" : "");
		for (const char *c = *options; *c; c++)
			text_append_char(&list, *c == ';' ? '_' : *c);
	}
	json_put_string(json, "options", text_string(&list));
}

static struct json *entry_json(const struct tuned_entry *entry)
{
	const struct tuned_row *winner = &entry->winner;
	struct json *json = json_new_object(), *launches = json_new_array();

	json_put_string(json, "operation", entry->operation);
	put_values(json, "problem", &entry->problem, ",");
	json_put_string(json, "timing", timing_names[entry->predicted]);
	if (!entry->predicted)
		json_put_string(json, "verified", verified_names[winner->verified]);
	json_put_string(json, "family", winner->family);
	put_values(json, "configuration", &winner->configuration, ",");
	put_values(json, "defines", &winner->defines, ";");
	put_options(json, winner->options);
	json_put_double(json, "time_us", winner->time.median);
	if (winner->workspace_bytes >= 0)
		json_put_int(json, "workspace_bytes", winner->workspace_bytes);
	json_put_int(json, "tensor_maps", (int64_t)winner->tensor_map_count);
	for (size_t i = 0; i < winner->launch_count; i++)
		json_push(launches, launch_json(&winner->launches[i]));
	json_put(json, "launches", launches);
	return json;
}

static const char module_head[] =
	"# Tuned configurations from %s; made by `tiletune export --format cmake`.\n"
	"#\n"
	"#\tinclude(tuned.cmake)\n"
	"#\ttiletune_find(TUNED %s)\n"
	"#\tset(sources %s\n"
	"#\tadd_library(kernels OBJECT ${sources}/${TUNED_SOURCE}) # needs the language CUDA\n"
	"#\ttarget_include_directories(kernels PRIVATE ${sources})\n"
	"#\ttarget_compile_definitions(kernels PRIVATE ${TUNED_DEFINES})\n"
	"#\ttarget_compile_options(kernels PRIVATE ${TUNED_OPTIONS})\n"
	"#\tset_target_properties(kernels PROPERTIES %sCUDA_ARCHITECTURES %s)\n"
	"#\n"
	"# tiletune_find(PREFIX OPERATION KEY=VALUE...) looks for the one entry whose problem has "
	"all\n"
	"# of these keys, in all such files that were included, and sets PREFIX_FOUND, "
	"PREFIX_PROBLEM, PREFIX_FAMILY, "
	"PREFIX_CONFIGURATION,\n"
	"# PREFIX_DEFINES (a list for target_compile_definitions), PREFIX_OPTIONS (those of an own "
	"kernel),\n"
	"# PREFIX_TIME_US, PREFIX_TIMING,\n"
	"# PREFIX_VERIFIED (beside what its results were compared: reference, file, configuration, "
	"self),\n"
	"# PREFIX_WORKSPACE_BYTES, PREFIX_TENSOR_MAPS (not 0: the kernel takes TMA descriptors; "
	"what "
	"is\n"
	"# in them stands in a bundle, --format bundle, which tiletune_launch.h launches) and, of "
	"the\n"
	"# first launch, PREFIX_SOURCE, PREFIX_ENTRY, PREFIX_GRID, PREFIX_BLOCK, PREFIX_CLUSTER,\n"
	"# PREFIX_SMEM_DYNAMIC_BYTES; PREFIX_LAUNCHES is the JSON of all.\n"
	"# A family made of steps has no defines of its own: `tiletune export --format source` "
	"writes\n"
	"# each step's source with its defines.\n"
	"cmake_policy(PUSH)\n"
	"cmake_policy(VERSION 3.19)\n\n";

static const char module_tail[] =
	"function(tiletune_find prefix operation)\n"
	"\tset(matches 0)\n"
	"\tforeach(file IN LISTS TILETUNE_FILES)\n"
	"\t\tstring(JSON count LENGTH \"${TILETUNE_${file}}\")\n"
	"\t\tmath(EXPR last \"${count} - 1\")\n"
	"\t\tforeach(i RANGE ${last})\n"
	"\t\t\tif(i GREATER last)\n"
	"\t\t\t\tbreak()\n"
	"\t\t\tendif()\n"
	"\t\t\tstring(JSON its_operation GET \"${TILETUNE_${file}}\" ${i} operation)\n"
	"\t\t\tstring(JSON problem GET \"${TILETUNE_${file}}\" ${i} problem)\n"
	"\t\t\tif(NOT its_operation STREQUAL operation)\n"
	"\t\t\t\tcontinue()\n"
	"\t\t\tendif()\n"
	"\t\t\tstring(REPLACE \",\" \";\" keys \"${problem}\")\n"
	"\t\t\tset(missing ${ARGN})\n"
	"\t\t\tlist(REMOVE_ITEM missing ${keys})\n"
	"\t\t\tif(NOT missing)\n"
	"\t\t\t\tmath(EXPR matches \"${matches} + 1\")\n"
	"\t\t\t\tstring(JSON found GET \"${TILETUNE_${file}}\" ${i})\n"
	"\t\t\tendif()\n"
	"\t\tendforeach()\n"
	"\tendforeach()\n"
	"\tif(NOT matches EQUAL 1)\n"
	"\t\tset(${prefix}_FOUND FALSE PARENT_SCOPE)\n"
	"\t\treturn()\n"
	"\tendif()\n"
	"\tset(${prefix}_FOUND TRUE PARENT_SCOPE)\n"
	"\tforeach(name operation problem family configuration defines options time_us timing "
	"verified workspace_bytes tensor_maps launches)\n"
	"\t\tstring(JSON value ERROR_VARIABLE error GET \"${found}\" ${name})\n"
	"\t\tstring(TOUPPER \"${name}\" upper)\n"
	"\t\tset(${prefix}_${upper} \"${value}\" PARENT_SCOPE)\n"
	"\tendforeach()\n"
	"\tforeach(name source entry smem_dynamic_bytes)\n"
	"\t\tstring(JSON value ERROR_VARIABLE error GET \"${found}\" launches 0 ${name})\n"
	"\t\tstring(TOUPPER \"${name}\" upper)\n"
	"\t\tset(${prefix}_${upper} \"${value}\" PARENT_SCOPE)\n"
	"\tendforeach()\n"
	"\tforeach(name grid block cluster)\n"
	"\t\tset(sizes \"\")\n"
	"\t\tforeach(dimension 0 1 2)\n"
	"\t\t\tstring(JSON value ERROR_VARIABLE error GET \"${found}\" launches 0 ${name} "
	"${dimension})\n"
	"\t\t\tlist(APPEND sizes ${value})\n"
	"\t\tendforeach()\n"
	"\t\tstring(TOUPPER \"${name}\" upper)\n"
	"\t\tset(${prefix}_${upper} \"${sizes}\" PARENT_SCOPE)\n"
	"\tendforeach()\n"
	"endfunction()\n\n"
	"cmake_policy(POP)\n";

/* Of the example: where its sources lie. */
static const char *folder_of(const struct export_source *source)
{
	const struct tuned_entry *entry = source->entry_count ? source->entries[0] : NULL;
	/* a composite's sources are those of its steps */
	const struct tuned_launch *launch =
		entry && entry->winner.launch_count && !entry->winner.step_count
			? entry->winner.launches
			: NULL;
	const size_t length = entry ? strlen(entry->operation) : 0;

	return launch && !(strncmp(launch->source, entry->operation, length) == 0 &&
				 launch->source[length] == '/')
		       ? "${CMAKE_CURRENT_SOURCE_DIR}) # where the kernel's JSON lies"
		       : "/usr/local/share/tiletune/templates) # of your installation";
}

/* Of the example: whether its options choose the dialect. */
static bool has_standard(const struct export_source *source)
{
	char *const *option = source->entry_count ? source->entries[0]->winner.options : NULL;

	while (option && *option && !compile_option_is_standard(*option))
		option++;
	return option && *option;
}

static enum status write_cmake(
	const struct export_source *source, struct text *text, struct error *err)
{
	CLEANUP(json_release) struct json *list = json_new_array();
	CLEANUP(text_release) struct text json = {0}, bracket = {0}, example = {0};
	const char *arch = source->tuned->device.arch;
	const bool is_named = arch && string_starts_with(arch, "sm_") &&
			      strspn(arch + 3, "0123456789af") == strlen(arch + 3);
	char hash[16];

	(void)err;
	for (size_t i = 0; i < source->entry_count; i++)
		json_push(list, entry_json(source->entries[i]));
	export_example(source, " ", " ", &example);
	text_appendf(text, module_head, source->name, text_string(&example), folder_of(source),
		has_standard(source) ? "" : "CUDA_STANDARD 17 ", is_named ? arch + 3 : "native");
	json_append(list, true, &json);
	/* a bracket that does not stand in the text ends it */
	text_append(&bracket, "]==]");
	while (strstr(text_string(&json), bracket.data)) {
		bracket.data[bracket.length - 1] = '=';
		text_append_char(&bracket, ']');
	}
	put_hash(&json, hash);
	text_appendf(text, "set(TILETUNE_%s [%.*s[\n%s%s)\n", hash, (int)bracket.length - 2,
		bracket.data + 1, text_string(&json), bracket.data);
	text_appendf(text,
		"list(APPEND TILETUNE_FILES %s)\nlist(REMOVE_DUPLICATES TILETUNE_FILES)\n\n%s",
		hash, module_tail);
	return STATUS_OK;
}

const struct export_format export_format_cmake = {
	.name = "cmake",
	.summary = "a module with a function that finds entries (CMake 3.19)",
	.builds = true,
	.write = write_cmake,
};

/* ---- make ---- */
/* A value stands in recipes: what make or a shell would not take for a character of a word, or for
 * the blank between two, becomes '_'. */
static void append_value(struct text *text, const char *value)
{
	for (; *value; value++)
		text_append_char(text, isalnum((unsigned char)*value) || strchr(" _./+=:,-", *value)
					       ? *value
					       : '_');
}

/* PREFIX_NAME := what the format says. */
static void variable(
	struct text *text, const char *prefix, const char *name, const char *format, ...)
{
	CLEANUP(text_release) struct text value = {0};
	va_list args;

	va_start(args, format);
	text_append_args(&value, format, args);
	va_end(args);
	/* no blank at the end of the line: it would be part of the value */
	text_appendf(text, "%s_%s :=%s", prefix, name, value.length ? " " : "");
	append_value(text, text_string(&value));
	text_append_char(text, '\n');
}

/* A variable whose value was put together in text, which is emptied. */
static void built(struct text *text, const char *prefix, const char *name, struct text *value)
{
	variable(text, prefix, name, "%s", text_string(value));
	text_clear(value);
}

static void launch_variables(
	struct text *text, const char *entry, size_t index, const struct tuned_launch *launch)
{
	const struct {
		const char *name;
		const uint32_t *dimensions;
	} sizes[] = {
		{"GRID", launch->grid}, {"BLOCK", launch->block}, {"CLUSTER", launch->cluster}};
	CLEANUP(text_release) struct text value = {0};
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "%s_%zu", entry, index);
	variable(text, prefix, "SOURCE", "%s", launch->source);
	variable(text, prefix, "ENTRY", "%s", launch->entry);
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		export_dimensions(sizes[i].dimensions, " ", &value);
		built(text, prefix, sizes[i].name, &value);
	}
	variable(text, prefix, "SMEM_DYNAMIC_BYTES", "%" PRId64, launch->smem_dynamic_bytes);
	variable(text, prefix, "REPEAT", "%" PRIu32, launch->repeat);
	export_arguments(launch, " ", &value);
	built(text, prefix, "ARGS", &value);
}

static void entry_variables(
	struct text *text, const char *hash, size_t index, const struct tuned_entry *entry)
{
	const struct tuned_row *winner = &entry->winner;
	CLEANUP(text_release) struct text value = {0};
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "TILETUNE_%s_%zu", hash, index);
	text_append_char(text, '\n');
	variable(text, prefix, "OPERATION", "%s", entry->operation);
	named_values_format(&entry->problem, " ", &value);
	built(text, prefix, "PROBLEM", &value);
	variable(text, prefix, "FAMILY", "%s", winner->family);
	named_values_format(&winner->configuration, " ", &value);
	built(text, prefix, "CONFIGURATION", &value);
	export_defines(winner, &value);
	built(text, prefix, "DEFINES", &value);
	export_number(winner->time.median, &value);
	built(text, prefix, "TIME_US", &value);
	variable(text, prefix, "TIMING", "%s", timing_names[entry->predicted]);
	if (!entry->predicted)
		variable(text, prefix, "VERIFIED", "%s", verified_names[winner->verified]);
	variable(text, prefix, "WORKSPACE_BYTES", "%" PRId64,
		winner->workspace_bytes > 0 ? winner->workspace_bytes : 0);
	variable(text, prefix, "TENSOR_MAPS", "%zu", winner->tensor_map_count);
	for (size_t i = 0; i < winner->launch_count; i++)
		text_appendf(&value, "%s%zu", i ? " " : "", i);
	built(text, prefix, "LAUNCHES", &value);
	for (size_t i = 0; i < winner->launch_count; i++)
		launch_variables(text, prefix, i, &winner->launches[i]);
}

static enum status write_make(
	const struct export_source *source, struct text *text, struct error *err)
{
	CLEANUP(text_release) struct text example = {0}, content = {0}, names = {0};
	char hash[16];

	(void)err;
	for (size_t i = 0; i < source->entry_count; i++)
		entry_variables(&content, "", i, source->entries[i]);
	put_hash(&content, hash);
	for (size_t i = 0; i < source->entry_count; i++)
		text_appendf(&names, " %s_%zu", hash, i);
	export_example(source, ",", " ", &example);
	text_appendf(text,
		"# Tuned configurations from %s; made by `tiletune export --format make`.\n"
		"#\n"
		"#\tinclude tuned.mk\n"
		"#\tE := $(call tiletune_find,%s)\n"
		"#\tNVCCFLAGS += $(TILETUNE_$(E)_DEFINES)\n"
		"#\n"
		"# tiletune_find: the entries whose problem has all of these keys, of all such "
		"files that\n# were included. A family made of steps has no defines of its own: "
		"`tiletune export --format "
		"source`\n"
		"# writes each step's source with its defines.\n"
		"tiletune_find = $(strip $(foreach e,$(TILETUNE_ENTRIES),$(if $(filter $(1),"
		"$(TILETUNE_$(e)_OPERATION)),$(if $(filter-out $(TILETUNE_$(e)_PROBLEM),$(2)),,"
		"$(e)))))\n\nTILETUNE_ENTRIES := $(filter-out%s,$(TILETUNE_ENTRIES))%s\n",
		source->name, text_string(&example), text_string(&names), text_string(&names));
	for (size_t i = 0; i < source->entry_count; i++)
		entry_variables(text, hash, i, source->entries[i]);
	return STATUS_OK;
}

const struct export_format export_format_make = {
	.name = "make",
	.summary = "variables for GNU make, and a function that finds entries",
	.builds = true,
	.write = write_make,
};
