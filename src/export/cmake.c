/* SPDX-License-Identifier: MIT
 *
 * A CMake module: the entries as one JSON document, and a function that looks one up with
 * string(JSON) (CMake 3.19).
 */
#include <stdlib.h>

#include "base/memory.h"
#include "export/export.h"

/* {"operation", "problem": "M=...", "timing", "family", "configuration", "defines": "BM=128;...",
 * "time_us", "workspace_bytes", "launches": [...]} */
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
	struct text text = {0};

	named_values_format(values, separator, &text);
	json_put_string(json, name, text_string(&text));
	text_release(&text);
}

static struct json *entry_json(const struct tuned_entry *entry)
{
	const struct tuned_row *winner = &entry->winner;
	struct json *json = json_new_object(), *launches = json_new_array();

	json_put_string(json, "operation", entry->operation);
	put_values(json, "problem", &entry->problem, ",");
	json_put_string(json, "timing", timing_names[entry->predicted]);
	json_put_string(json, "family", winner->family);
	put_values(json, "configuration", &winner->configuration, ",");
	put_values(json, "defines", &winner->defines, ";");
	json_put_double(json, "time_us", winner->time.median);
	if (winner->workspace_bytes >= 0)
		json_put_int(json, "workspace_bytes", winner->workspace_bytes);
	for (size_t i = 0; i < winner->launch_count; i++)
		json_push(launches, launch_json(&winner->launches[i]));
	json_put(json, "launches", launches);
	return json;
}

static const char module_head[] =
	"# Tuned configurations from %s; made by `tiletune export --format cmake`.\n"
	"#\n"
	"#\tinclude(tuned.cmake)\n"
	"#\ttiletune_find(TUNED gemm M=4096 N=4096 K=4096 dtype=bf16)\n"
	"#\ttarget_compile_definitions(kernels PRIVATE ${TUNED_DEFINES})\n"
	"#\n"
	"# tiletune_find(PREFIX OPERATION KEY=VALUE...) looks for the one entry whose problem has "
	"all\n"
	"# of these keys and sets PREFIX_FOUND, PREFIX_PROBLEM, PREFIX_FAMILY, "
	"PREFIX_CONFIGURATION,\n"
	"# PREFIX_DEFINES (a list for target_compile_definitions), PREFIX_TIME_US, PREFIX_TIMING,\n"
	"# PREFIX_WORKSPACE_BYTES and, of the first launch, PREFIX_SOURCE, PREFIX_ENTRY, "
	"PREFIX_GRID,\n"
	"# PREFIX_BLOCK, PREFIX_CLUSTER, PREFIX_SMEM_DYNAMIC_BYTES; PREFIX_LAUNCHES is the JSON of "
	"all.\n"
	"# A family made of steps has no defines of its own: `tiletune export --format source` "
	"writes\n"
	"# each step's source with its defines.\n"
	"cmake_policy(PUSH)\n"
	"cmake_policy(VERSION 3.19)\n\n";

static const char module_tail[] =
	"function(tiletune_find prefix operation)\n"
	"\tset(found \"\")\n"
	"\tstring(JSON count LENGTH \"${TILETUNE_JSON}\")\n"
	"\tmath(EXPR last \"${count} - 1\")\n"
	"\tforeach(i RANGE ${last})\n"
	"\t\tif(i GREATER last)\n"
	"\t\t\tbreak()\n"
	"\t\tendif()\n"
	"\t\tstring(JSON its_operation GET \"${TILETUNE_JSON}\" ${i} operation)\n"
	"\t\tstring(JSON problem GET \"${TILETUNE_JSON}\" ${i} problem)\n"
	"\t\tif(NOT its_operation STREQUAL operation)\n"
	"\t\t\tcontinue()\n"
	"\t\tendif()\n"
	"\t\tstring(REPLACE \",\" \";\" keys \"${problem}\")\n"
	"\t\tset(missing ${ARGN})\n"
	"\t\tlist(REMOVE_ITEM missing ${keys})\n"
	"\t\tif(NOT missing)\n"
	"\t\t\tlist(APPEND found ${i})\n"
	"\t\tendif()\n"
	"\tendforeach()\n"
	"\tlist(LENGTH found matches)\n"
	"\tif(NOT matches EQUAL 1)\n"
	"\t\tset(${prefix}_FOUND FALSE PARENT_SCOPE)\n"
	"\t\treturn()\n"
	"\tendif()\n"
	"\tset(${prefix}_FOUND TRUE PARENT_SCOPE)\n"
	"\tforeach(name operation problem family configuration defines time_us timing "
	"workspace_bytes launches)\n"
	"\t\tstring(JSON value ERROR_VARIABLE error GET \"${TILETUNE_JSON}\" ${found} ${name})\n"
	"\t\tstring(TOUPPER \"${name}\" upper)\n"
	"\t\tset(${prefix}_${upper} \"${value}\" PARENT_SCOPE)\n"
	"\tendforeach()\n"
	"\tforeach(name source entry smem_dynamic_bytes)\n"
	"\t\tstring(JSON value ERROR_VARIABLE error GET \"${TILETUNE_JSON}\" ${found} launches 0 "
	"${name})\n"
	"\t\tstring(TOUPPER \"${name}\" upper)\n"
	"\t\tset(${prefix}_${upper} \"${value}\" PARENT_SCOPE)\n"
	"\tendforeach()\n"
	"\tforeach(name grid block cluster)\n"
	"\t\tset(sizes \"\")\n"
	"\t\tforeach(dimension 0 1 2)\n"
	"\t\t\tstring(JSON value ERROR_VARIABLE error GET \"${TILETUNE_JSON}\" ${found} launches 0 "
	"${name} ${dimension})\n"
	"\t\t\tlist(APPEND sizes ${value})\n"
	"\t\tendforeach()\n"
	"\t\tstring(TOUPPER \"${name}\" upper)\n"
	"\t\tset(${prefix}_${upper} \"${sizes}\" PARENT_SCOPE)\n"
	"\tendforeach()\n"
	"endfunction()\n\n"
	"cmake_policy(POP)\n";

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	struct json *list = json_new_array();
	char *printed;

	(void)err;
	for (size_t i = 0; i < source->entry_count; i++)
		json_push(list, entry_json(source->entries[i]));
	printed = json_print(list, true);
	text_appendf(text, module_head, source->name);
	/* JSON strings cannot hold this bracket by themselves: names and numbers have none */
	text_appendf(text, "set(TILETUNE_JSON [==[\n%s\n]==])\n\n", printed);
	text_append(text, module_tail);
	free(printed);
	json_free(list);
	return STATUS_OK;
}

const struct export_format export_format_cmake = {
	.name = "cmake",
	.summary = "a module with a function that finds entries (CMake 3.19)",
	.write = write,
};
