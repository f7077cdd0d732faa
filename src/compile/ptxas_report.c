/* SPDX-License-Identifier: MIT */
#include "compile/ptxas_report.h"

#include <ctype.h>
#include <stdlib.h>

enum {
	USEFUL_LINES = 12,
	LINE_LENGTH_MAX = 300,
};

struct ptxas_report {
	struct compiler_entry *entries;
	size_t count;
	/* entry being compiled; NULL if it is not in the unit's list */
	struct compiler_entry *current;
	bool in_callee; /* the properties belong to a function that the entry calls */
};

/* Remarks of ptxas, by code or by words, because codes differ between releases. */
static const struct remark {
	const char *mark;
	uint32_t flag;
} remarks[] = {
	{"(C7508)", FLAG_MASK(SETMAXNREG_IGNORED)},
	{"'setmaxnreg' ignored", FLAG_MASK(SETMAXNREG_IGNORED)},
	{"(C7510)", FLAG_MASK(WGMMA_SERIALIZED)},
	{"(C7511)", FLAG_MASK(WGMMA_SERIALIZED)},
	{"(C7515)", FLAG_MASK(WGMMA_SERIALIZED)},
	{"wgmma.mma_async instructions are serialized", FLAG_MASK(WGMMA_SERIALIZED)},
};

/* Returns NULL if the name is not an entry of the unit. */
static struct compiler_entry *entry_find(
	const struct ptxas_report *report, const char *name, const char *end)
{
	size_t length = strcspn(name, end);

	for (size_t i = 0; i < report->count; i++)
		if (strlen(report->entries[i].symbol) == length &&
			memcmp(report->entries[i].symbol, name, length) == 0)
			return &report->entries[i];
	return NULL;
}

static const char *after(const char *line, const char *words)
{
	const char *found = strstr(line, words);

	return found ? found + strlen(words) : NULL;
}

/* Returns the number before the words, or `otherwise` if the line lacks them. */
static int32_t number_before(const char *line, const char *words, int32_t otherwise)
{
	const char *found = strstr(line, words), *number = found;
	long value;

	while (number && number > line && isdigit((unsigned char)number[-1]))
		number--;
	if (number == found)
		return otherwise;
	value = strtol(number, NULL, 10);
	return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

static int32_t sum(int32_t a, int32_t b)
{
	return a > INT32_MAX - b ? INT32_MAX : a + b;
}

/* Reads "1128 bytes stack frame, 1772 bytes spill stores, 1804 bytes spill loads". */
static void read_properties(const char *line, bool in_callee, struct kernel_resources *resources)
{
	if (!in_callee)
		resources->stack_bytes = number_before(line, " bytes stack frame", -1);
	resources->spill_store_bytes =
		sum(resources->spill_store_bytes, number_before(line, " bytes spill stores", 0));
	resources->spill_load_bytes =
		sum(resources->spill_load_bytes, number_before(line, " bytes spill loads", 0));
}

/* Reads "Used 48 registers, used 1 barriers, 1200 bytes smem, 364 bytes cmem[0]". ptxas omits
 * numbers that are 0. */
static void read_usage(const char *line, struct kernel_resources *resources)
{
	resources->regs_per_thread = number_before(line, " registers", -1);
	resources->barriers = number_before(line, " barriers", 0);
	resources->smem_static_bytes = number_before(line, " bytes smem", 0);
}

static bool read_line(struct ptxas_report *report, const char *line)
{
	struct kernel_resources unnamed = {0};
	struct kernel_resources *resources =
		report->current ? &report->current->resources : &unnamed;
	const char *name;

	if (!string_starts_with(line, "ptxas"))
		return false;
	if ((name = after(line, "Compiling entry function '")) != NULL) {
		report->current = entry_find(report, name, "'");
		report->in_callee = false;
	} else if ((name = after(line, "Function properties for ")) != NULL) {
		report->in_callee =
			!report->current || entry_find(report, name, "") != report->current;
	} else if (number_before(line, " bytes spill loads", -1) >= 0) {
		read_properties(line, report->in_callee, resources);
	} else if (strstr(line, ": Used ") && strstr(line, "registers")) {
		read_usage(line, resources);
	} else {
		return strstr(line, ": Compile time = ") || strstr(line, " bytes gmem");
	}
	return true;
}

static void read_remark(struct ptxas_report *report, const char *line)
{
	const char *name = after(line, "function '");
	struct compiler_entry *entry = name ? entry_find(report, name, "'") : NULL;
	uint32_t flags = 0;

	for (size_t i = 0; i < ARRAY_COUNT(remarks); i++)
		if (strstr(line, remarks[i].mark))
			flags |= remarks[i].flag;
	for (size_t i = 0; i < report->count; i++)
		if (!entry || entry == &report->entries[i])
			report->entries[i].resources.flags |= flags;
}

void ptxas_report_read(
	const char *log, struct compiler_entry *entries, size_t entry_count, struct text *rest)
{
	struct ptxas_report report = {.entries = entries, .count = entry_count};
	size_t length;

	for (size_t i = 0; i < entry_count; i++)
		entries[i].resources = (struct kernel_resources){.regs_per_thread = -1,
			.smem_static_bytes = -1,
			.stack_bytes = -1,
			.barriers = -1,
			.blocks_per_sm = -1,
			.max_clusters = -1};
	for (; *log; log += length + (log[length] == '\n')) {
		CLEANUP(memory_free) char *line = NULL;

		length = strcspn(log, "\n");
		line = string_copy_bytes(log, length);
		if (read_line(&report, line))
			continue;
		read_remark(&report, line);
		text_appendf(rest, "%s\n", line);
	}
	for (size_t i = 0; i < entry_count; i++) {
		struct kernel_resources *resources = &entries[i].resources;

		if (resources->spill_store_bytes || resources->spill_load_bytes)
			resources->flags |= FLAG_MASK(SPILLS);
	}
}

/* Finds the first error, which follows the warnings. */
static const char *first_error(const char *log)
{
	static const char *const words[] = {"error", "fatal", "Error"};
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		const char *found = strstr(log, words[i]);

		if (found && (!first || found < first))
			first = found;
	}
	while (first && first > log && first[-1] != '\n')
		first--;
	return first ? first : log;
}

void ptxas_report_shorten(const char *log, struct text *useful)
{
	size_t count = 0, length;

	for (const char *line = first_error(log); *line; line += length + (line[length] == '\n')) {
		length = strcspn(line, "\n");
		if (strspn(line, " \t\r") >= length || ++count > USEFUL_LINES)
			continue;
		text_append_bytes(
			useful, line, length < LINE_LENGTH_MAX ? length : LINE_LENGTH_MAX);
		text_append(useful, length > LINE_LENGTH_MAX ? " ...\n" : "\n");
	}
	if (count > USEFUL_LINES)
		text_appendf(useful,
			"(%zu more lines; set " COMPILER_LOG " to a file to get all of them)\n",
			count - USEFUL_LINES);
}
