/* SPDX-License-Identifier: MIT */
#include "compile/ptxas_report.h"

#include <stdio.h>

enum {
	USEFUL_LINES = 12,
	LINE_LENGTH_MAX = 300, /* template errors can be kilobytes long */
};

struct ptxas_report {
	struct compiler_entry *entries;
	size_t count;
	struct compiler_entry
		*current; /* the entry being compiled; NULL: not one of the named entries */
	bool in_callee;   /* inside the "Function properties" of a function that the entry calls */
};

/* Remarks of ptxas. They are recognised by code or by words, because codes differ between
 * releases. */
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

/* The entry whose name is the text from `name` to `end`; NULL if it is not a named entry. */
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

static int32_t clamped(long value)
{
	return value < 0 ? 0 : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

static int32_t sum(int32_t a, int32_t b)
{
	return clamped((long)a + b);
}

/* "1128 bytes stack frame, 1772 bytes spill stores, 1804 bytes spill loads" */
static bool read_properties(struct ptxas_report *report, const char *line)
{
	const char *frame = strstr(line, " bytes stack frame");
	struct kernel_resources *resources;
	long stack, stores, loads;

	if (!frame)
		return false;
	while (frame > line && frame[-1] >= '0' && frame[-1] <= '9')
		frame--;
	if (sscanf(frame, "%9ld bytes stack frame, %9ld bytes spill stores, %9ld bytes spill loads",
		    &stack, &stores, &loads) != 3)
		return false;
	if (!report->current)
		return true;
	resources = &report->current->resources;
	if (!report->in_callee)
		resources->stack_bytes = clamped(stack);
	resources->spill_store_bytes = sum(resources->spill_store_bytes, clamped(stores));
	resources->spill_load_bytes = sum(resources->spill_load_bytes, clamped(loads));
	return true;
}

/* "Used 48 registers, used 1 barriers, 1200 bytes smem, 364 bytes cmem[0]". Parts may be
 * missing, and there may be others. */
static bool read_usage(struct ptxas_report *report, const char *line)
{
	const char *item = after(line, ": Used ");
	struct kernel_resources *resources;

	if (!item || !strstr(item, "registers"))
		return false;
	if (!report->current)
		return true;
	resources = &report->current->resources;
	resources->smem_static_bytes = 0; /* the log omits it if it is 0 */
	resources->barriers = 0;
	while (item && *item) {
		char *end;
		long value;

		item += strspn(item, " ");
		if (strncmp(item, "used ", 5) == 0)
			item += 5;
		value = strtol(item, &end, 10);
		if (strncmp(end, " registers", 10) == 0)
			resources->regs_per_thread = clamped(value);
		else if (strncmp(end, " barriers", 9) == 0)
			resources->barriers = clamped(value);
		else if (strncmp(end, " bytes smem", 11) == 0)
			resources->smem_static_bytes = clamped(value);
		item = strchr(item, ',');
		item = item ? item + 1 : NULL;
	}
	return true;
}

/* Returns whether the line belongs to the report. */
static bool ptxas_report_read_line(struct ptxas_report *report, const char *line)
{
	const char *name;

	if (strncmp(line, "ptxas", 5) != 0)
		return false;
	name = after(line, "Compiling entry function '");
	if (name) {
		report->current = entry_find(report, name, "'");
		report->in_callee = false;
		return true;
	}
	name = after(line, "Function properties for ");
	if (name) {
		report->in_callee =
			!report->current || entry_find(report, name, "") != report->current;
		return true;
	}
	return read_properties(report, line) || read_usage(report, line) ||
	       strstr(line, ": Compile time = ") || strstr(line, " bytes gmem");
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

/* Returns a copy of the next line and advances *log; NULL at the end. The caller frees the line. */
static char *next_line(const char **log)
{
	size_t length = strcspn(*log, "\n");
	char *line;

	if (**log == '\0')
		return NULL;
	line = string_copy_bytes(*log, length);
	*log += length + ((*log)[length] == '\n');
	return line;
}

void ptxas_report_read(
	const char *log, struct compiler_entry *entries, size_t entry_count, struct text *rest)
{
	struct ptxas_report report = {.entries = entries, .count = entry_count};
	char *line;

	for (size_t i = 0; i < entry_count; i++)
		entries[i].resources = (struct kernel_resources){.regs_per_thread = -1,
			.smem_static_bytes = -1,
			.stack_bytes = -1,
			.barriers = -1,
			.blocks_per_sm = -1,
			.max_clusters = -1};
	while ((line = next_line(&log))) {
		if (!ptxas_report_read_line(&report, line)) {
			read_remark(&report, line);
			text_appendf(rest, "%s\n", line);
		}
		free(line);
	}
	for (size_t i = 0; i < entry_count; i++) {
		struct kernel_resources *resources = &entries[i].resources;

		if (resources->spill_store_bytes || resources->spill_load_bytes)
			resources->flags |= FLAG_MASK(SPILLS);
	}
}

static bool is_error(const char *line)
{
	return strstr(line, "error") || strstr(line, "fatal") || strstr(line, "Error");
}

void ptxas_report_shorten(const char *log, struct text *useful)
{
	const char *start = log;
	size_t kept = 0, dropped = 0;
	char *line;

	/* skip warnings, which come first and rarely explain the failure */
	for (const char *at = log; (line = next_line(&at)); start = at) {
		bool found = is_error(line);

		free(line);
		if (found)
			break;
	}
	if (*start == '\0')
		start = log;
	while ((line = next_line(&start))) {
		if (line[strspn(line, " \t\r")] == '\0') {
			free(line);
			continue;
		}
		if (kept < USEFUL_LINES) {
			text_append_bytes(useful, line, strnlen(line, LINE_LENGTH_MAX));
			text_append(useful, strlen(line) > LINE_LENGTH_MAX ? " ...\n" : "\n");
			kept++;
		} else {
			dropped++;
		}
		free(line);
	}
	if (dropped)
		text_appendf(useful,
			"(%zu more lines; set " COMPILER_LOG " to a file to get all of them)\n",
			dropped);
}
