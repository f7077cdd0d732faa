/* SPDX-License-Identifier: MIT
 *
 * One header for C (C99 and up) and C++ (C++11 and up), without dependencies: tables and a look-up
 * function.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "export/export.h"
#include "report/format.h"

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
	" *\t\ttiletune_find(\"%s\");\n"
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
	" * Kernels that take tensor maps (TMA descriptors) cannot be launched from this table: "
	"their\n"
	" * dimensions are in a bundle, `--format bundle`, which tiletune_launch.h launches.\n"
	" */\n"
	"#ifndef TILETUNE_TUNED_H\n"
	"#define TILETUNE_TUNED_H 0x%s\n\n"
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
	"\tunsigned tensor_map_count; /* not 0: launched from a bundle */\n"
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
	"#elif TILETUNE_TUNED_H != 0x%s\n"
	"#error \"two different headers of tiletune export: merge the tuned files, then export "
	"one\"\n"
	"#endif\n";

static void append_launch(struct text *text, const struct tuned_launch *launch)
{
	const uint32_t *const sizes[] = {launch->grid, launch->block, launch->cluster};
	CLEANUP(text_release) struct text list = {0};

	export_arguments(launch, ",", &list);
	format_put(text, append_string, "\t{%s, %s, %s", launch->source, launch->entry,
		text_string(&list));
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		text_append(text, ", {");
		export_dimensions(sizes[i], ", ", text);
		text_append_char(text, '}');
	}
	text_appendf(
		text, ", %" PRId64 ", %" PRIu32 "},\n", launch->smem_dynamic_bytes, launch->repeat);
}

static void append_entry(struct text *text, const struct tuned_entry *entry, size_t first_launch)
{
	const struct tuned_row *winner = &entry->winner;
	CLEANUP(memory_free) char *problem = named_values_text(&entry->problem);
	CLEANUP(memory_free) char *configuration = named_values_text(&winner->configuration);
	CLEANUP(text_release) struct text defines = {0};

	export_defines(winner, &defines);
	if (!entry->predicted && winner->verified != VERIFIED_REFERENCE)
		text_appendf(text, "\t/* verified: %s */\n", verified_names[winner->verified]);
	format_put(text, append_string, "\t{%s, %s,\n\t\t%s, %s,\n\t\t%s,\n\t\t", entry->operation,
		problem, winner->family, configuration, text_string(&defines));
	export_number(winner->time.median, text);
	text_appendf(text, ", %d, %" PRId64 "ULL, %zu, tiletune_launches + %zu, %zu},\n",
		!entry->predicted, winner->workspace_bytes > 0 ? winner->workspace_bytes : 0,
		winner->launch_count, first_launch, winner->tensor_map_count);
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	CLEANUP(text_release) struct text entries = {0}, table = {0}, example = {0};
	char hash[9];
	size_t launches = 0;

	if (!source->entry_count)
		return error_set(
			err, STATUS_BAD_INPUT, "%s: expected entries, found none", source->name);
	append_string(&table, source->tuned->device.name);
	text_append(&table, "\n\nstatic const struct tiletune_launch tiletune_launches[] = {\n");
	for (size_t i = 0; i < source->entry_count; i++) {
		const struct tuned_row *winner = &source->entries[i]->winner;

		append_entry(&entries, source->entries[i], launches);
		for (size_t k = 0; k < winner->launch_count; k++)
			append_launch(&table, &winner->launches[k]);
		launches += winner->launch_count;
	}
	if (!launches)
		text_append(
			&table, "\t{\"\", \"\", \"\", {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0},\n");
	text_appendf(&table,
		"};\n\n#define TILETUNE_ENTRY_COUNT %zuu\n"
		"static const struct tiletune_entry tiletune_entries[] = {\n%s};\n\n",
		source->entry_count, text_string(&entries));
	/* two headers in one file: the guard would drop the second */
	snprintf(hash, sizeof(hash), "%08" PRIx32,
		(uint32_t)hash_bytes(text_string(&table), table.length, 0));
	export_example(source, "\", \"", ",", &example);
	text_appendf(text, head, source->name, text_string(&example), hash);
	text_append(text, text_string(&table));
	text_appendf(text, tail, hash);
	return STATUS_OK;
}

const struct export_format export_format_c_header = {
	.name = "c-header",
	.summary = "one self-contained C and C++ header: table, look-up, launch geometry, -D list",
	.builds = true,
	.write = write,
};
