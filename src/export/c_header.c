/* SPDX-License-Identifier: MIT
 *
 * One header for C (C99 and up) and C++ (C++11 and up), without dependencies: tables and a look-up
 * function.
 */
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

static void append_string(struct text *text, const char *string)
{
	text_append_char(text, '"');
	for (; *string; string++) {
		unsigned char c = (unsigned char)*string;

		if (c == '"' || c == '\\')
			text_appendf(text, "\\%c", c);
		else if (c < 0x20 || c == 0x7f || c == '?') /* trigraphs, too */
			text_appendf(text, "\\%03o", c);
		else
			text_append_char(text, (char)c);
	}
	text_append_char(text, '"');
}

static const char head[] =
	"/* Tuned configurations from %s; made by `tiletune export --format c-header`.\n"
	" *\n"
	" *\tconst struct tiletune_entry *e =\n"
	" *\t\ttiletune_find(\"gemm\", \"M=4096,N=4096,K=4096,dtype=bf16\");\n"
	" *\n"
	" * gives the one entry whose problem has all of these keys, or a null pointer where there "
	"is\n"
	" * none, or more than one. `defines` is what the source is compiled with; launches follow "
	"one\n"
	" * another, each with its grid, block, cluster and dynamic shared memory; `args` are the\n"
	" * kernel's arguments by name, numbers as they are. A family made of steps has no defines "
	"of\n"
	" * its own: `tiletune export --format source` writes each step's source with its "
	"defines.\n"
	" */\n"
	"#ifndef TILETUNE_TUNED_H\n"
	"#define TILETUNE_TUNED_H\n\n"
	"struct tiletune_launch {\n"
	"\tconst char *source, *entry, *args;\n"
	"\tunsigned grid[3], block[3], cluster[3];\n"
	"\tunsigned smem_dynamic_bytes, repeat;\n"
	"};\n\n"
	"struct tiletune_entry {\n"
	"\tconst char *operation, *problem, *family, *configuration, *defines;\n"
	"\tdouble time_us; /* measured or predicted: is_measured */\n"
	"\tint is_measured;\n"
	"\tunsigned long long workspace_bytes;\n"
	"\tunsigned launch_count;\n"
	"\tconst struct tiletune_launch *launches;\n"
	"};\n\n"
	"#define TILETUNE_DEVICE ";

static const char tail[] =
	"/* Whether the list \"a=1,b=2\" has this item of so many characters. */\n"
	"static inline int tiletune_has(const char *list, const char *item, unsigned long size)\n"
	"{\n"
	"\twhile (*list) {\n"
	"\t\tunsigned long length = 0, same = 0;\n\n"
	"\t\twhile (list[length] && list[length] != ',')\n"
	"\t\t\tlength++;\n"
	"\t\twhile (same < length && same < size && list[same] == item[same])\n"
	"\t\t\tsame++;\n"
	"\t\tif (length == size && same == size)\n"
	"\t\t\treturn 1;\n"
	"\t\tlist += length;\n"
	"\t\tlist += *list == ',';\n"
	"\t}\n"
	"\treturn 0;\n"
	"}\n\n"
	"static inline int tiletune_matches(const struct tiletune_entry *entry,\n"
	"\tconst char *operation, const char *problem)\n"
	"{\n"
	"\tconst char *a = entry->operation;\n\n"
	"\twhile (*a && *a == *operation) {\n"
	"\t\ta++;\n"
	"\t\toperation++;\n"
	"\t}\n"
	"\tif (*a || *operation)\n"
	"\t\treturn 0;\n"
	"\twhile (*problem) {\n"
	"\t\tunsigned long length = 0;\n\n"
	"\t\twhile (problem[length] && problem[length] != ',')\n"
	"\t\t\tlength++;\n"
	"\t\tif (!tiletune_has(entry->problem, problem, length))\n"
	"\t\t\treturn 0;\n"
	"\t\tproblem += length;\n"
	"\t\tproblem += *problem == ',';\n"
	"\t}\n"
	"\treturn 1;\n"
	"}\n\n"
	"static inline const struct tiletune_entry *tiletune_find(\n"
	"\tconst char *operation, const char *problem)\n"
	"{\n"
	"\tconst struct tiletune_entry *found = 0;\n"
	"\tunsigned i;\n\n"
	"\tfor (i = 0; i < TILETUNE_ENTRY_COUNT; i++) {\n"
	"\t\tif (!tiletune_matches(&tiletune_entries[i], operation, problem))\n"
	"\t\t\tcontinue;\n"
	"\t\tif (found)\n"
	"\t\t\treturn 0;\n"
	"\t\tfound = &tiletune_entries[i];\n"
	"\t}\n"
	"\treturn found;\n"
	"}\n\n"
	"#endif\n";

static void append_dimensions(struct text *text, const struct json_at *launch, const char *key)
{
	text_append(text, ", {");
	export_dimensions(launch, key, ", ", text);
	text_append_char(text, '}');
}

static void append_number(
	struct text *text, const struct json_at *object, const char *key, const char *otherwise)
{
	struct json_at member;

	if (json_find(object, key, &member) && json_type(&member) == JSON_NUMBER)
		export_value(&member, text);
	else
		text_append(text, otherwise);
}

static void append_launch(struct text *text, const struct json_at *launch)
{
	struct json_at arguments;
	struct text list = {0};

	if (json_find(launch, "args", &arguments))
		for (size_t i = 0; i < json_count(&arguments); i++) {
			struct json_at argument = json_item(&arguments, i);

			text_append(&list, i ? "," : "");
			export_value(&argument, &list);
		}
	text_append(text, "\t{");
	append_string(text, export_string(launch, "source"));
	text_append(text, ", ");
	append_string(text, export_string(launch, "entry"));
	text_append(text, ", ");
	append_string(text, text_string(&list));
	append_dimensions(text, launch, "grid");
	append_dimensions(text, launch, "block");
	append_dimensions(text, launch, "cluster");
	text_append(text, ", ");
	append_number(text, launch, "smem_dynamic_bytes", "0");
	text_append(text, ", ");
	append_number(text, launch, "repeat", "1");
	text_append(text, "},\n");
	text_release(&list);
}

static void append_entry(struct text *text, const struct json_at *entry,
	const struct json_at *winner, size_t first_launch)
{
	struct text value = {0};
	struct json_at time;

	text_append(text, "\t{");
	append_string(text, export_string(entry, "operation"));
	text_append(text, ", ");
	export_member_pairs(entry, "problem", ",", &value);
	append_string(text, text_string(&value));
	text_append(text, ",\n\t\t");
	append_string(text, export_string(winner, "family"));
	text_append(text, ", ");
	text_clear(&value);
	export_member_pairs(winner, "configuration", ",", &value);
	append_string(text, text_string(&value));
	text_append(text, ",\n\t\t");
	text_clear(&value);
	export_defines(winner, &value);
	append_string(text, text_string(&value));
	text_append(text, ",\n\t\t");
	if (json_find(winner, "time_us", &time))
		append_number(text, &time, "median", "0");
	else
		text_append_char(text, '0');
	text_appendf(text, ", %d, ", strcmp(export_string(entry, "timing"), "measured") == 0);
	append_number(text, winner, "workspace_bytes", "0");
	text_appendf(text, "ULL, %zu, tiletune_launches + %zu},\n", export_launch_count(winner),
		first_launch);
	text_release(&value);
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	struct json_at root = json_root(source->tuned->root, source->name), device, winner;
	struct text entries = {0};
	size_t launches = 0;

	if (!source->entry_count)
		return error_set(
			err, STATUS_BAD_INPUT, "%s: expected entries, found none", source->name);
	text_appendf(text, head, source->name);
	append_string(
		text, json_find(&root, "device", &device) ? export_string(&device, "name") : "");
	text_append(text, "\n\nstatic const struct tiletune_launch tiletune_launches[] = {\n");
	for (size_t i = 0; i < source->entry_count; i++) {
		if (!json_find(&source->entries[i], "winner", &winner))
			continue;
		append_entry(&entries, &source->entries[i], &winner, launches);
		for (size_t k = 0; k < export_launch_count(&winner); k++) {
			struct json_at launch = export_launch(&winner, k);

			append_launch(text, &launch);
			launches++;
		}
	}
	if (!launches)
		text_append(text, "\t{\"\", \"\", \"\", {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0},\n");
	text_appendf(text,
		"};\n\n#define TILETUNE_ENTRY_COUNT %zuu\n"
		"static const struct tiletune_entry tiletune_entries[] = {\n%s};\n\n",
		source->entry_count, text_string(&entries));
	text_append(text, tail);
	text_release(&entries);
	return STATUS_OK;
}

const struct export_format export_format_c_header = {
	.name = "c-header",
	.summary = "one self-contained C and C++ header: table, look-up, launch geometry, -D list",
	.write = write,
};
