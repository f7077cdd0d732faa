/* SPDX-License-Identifier: MIT */
#include "report/check_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "report/format.h"

/* "gemm M=4096,..." without defaults that no reader needs: the first four keys. */
static void append_title(const struct check_row *row, struct text *text)
{
	const char *end = row->problem;

	for (int keys = 0; keys < 4 && end && *end; keys++) {
		end = strchr(end, ',');
		end = end ? end + 1 : NULL;
	}
	text_appendf(text, "%s ", row->operation);
	if (end)
		text_append_bytes(text, row->problem, (size_t)(end - 1 - row->problem));
	else
		text_append(text, row->problem);
	if (row->entry.objective != OBJECTIVE_TIME)
		text_appendf(text, " (best %s)", objective_names[row->entry.objective]);
}

/* "1 slower, 3 same" */
static void append_counts(const struct check *check, struct text *text)
{
	static const enum check_verdict order[] = {CHECK_FAILED, CHECK_SLOWER, CHECK_UNCLEAR,
		CHECK_NOT_COMPARABLE, CHECK_SAME, CHECK_FASTER};
	bool any = false;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		size_t count = check_count(check, order[i]);

		if (!count)
			continue;
		text_appendf(
			text, "%s%zu %s", any ? ", " : "", count, check_verdict_names[order[i]]);
		any = true;
	}
}

static void append_identity(const struct check *check, struct text *text)
{
	for (size_t i = 0; i < check->identity.count; i++) {
		const struct check_trait_difference *item = &check->identity.items[i];

		text_appendf(text, "  differs: %s: %s -> %s%s\n", check_trait_names[item->trait],
			item->baseline, item->now,
			check->options.allowed & 1u << item->trait ? "" : " (not allowed)");
	}
}

static void text_row(const struct check_row *row, struct text *text)
{
	text_appendf(text, "%-14s ", check_verdict_names[row->verdict]);
	append_title(row, text);
	text_appendf(text, "  %s", row->family);
	if (row->now.blocks && row->baseline_us > 0)
		text_appendf(text, "  %.2f -> %.2f us", row->baseline_us, row->now.time_us);
	else if (row->now.blocks)
		text_appendf(text, "  %.2f us", row->now.time_us);
	text_appendf(text, "\n               %s\n", row->reason);
	if (row->better)
		text_appendf(text, "               better: %s\n", row->better);
}

void check_report_text(const struct check *check, struct text *text)
{
	text_appendf(text, "check of %s on %s", check->baseline->path,
		device_spec(check->context->device)->title);
	if (check->measures)
		text_appendf(text, ", threshold %.3g%%, confidence %.4g%%\n",
			100 * check->options.threshold_ratio,
			100 * check->options.confidence_ratio);
	else
		text_append(text, ": resources only, nothing is timed\n");
	append_identity(check, text);
	for (size_t i = 0; i < check->row_count; i++)
		text_row(&check->rows[i], text);
	append_counts(check, text);
	text_append_char(text, '\n');
}

/* ---- Markdown: a verdict, a table, what differs ---- */
/* What would end a cell, or begin a tag. */
static void append_cell(struct text *text, const char *cell)
{
	for (; *cell; cell++) {
		if (*cell == '|')
			text_append(text, "\\|");
		else if (*cell == '<')
			text_append(text, "&lt;");
		else
			text_append_char(text, *cell == '\n' ? ' ' : *cell);
	}
}

static const char *mark(enum check_verdict verdict)
{
	static const char *const marks[CHECK_VERDICT_COUNT] = {
		[CHECK_SAME] = "✅",
		[CHECK_FASTER] = "🚀",
		[CHECK_SLOWER] = "🔴",
		[CHECK_UNCLEAR] = "❔",
		[CHECK_NOT_COMPARABLE] = "➖",
		[CHECK_FAILED] = "💥",
	};

	return marks[verdict];
}

static void markdown_row(const struct check_row *row, struct text *text)
{
	struct text title = {0};

	append_title(row, &title);
	text_appendf(text, "| %s %s | ", mark(row->verdict), check_verdict_names[row->verdict]);
	append_cell(text, title.data);
	text_append(text, " | `");
	append_cell(text, row->family);
	text_append(text, "` | ");
	if (row->baseline_us > 0)
		text_appendf(text, "%.2f", row->baseline_us);
	text_append(text, " | ");
	if (row->now.blocks)
		text_appendf(text, "%.2f", row->now.time_us);
	text_append(text, " | ");
	if (row->slowdown.value > 0)
		text_appendf(text, "%+.1f%%", 100 * (row->slowdown.value - 1));
	text_append(text, " | ");
	append_cell(text, row->reason);
	if (row->better) {
		text_append(text, "; better: ");
		append_cell(text, row->better);
	}
	text_append(text, " |\n");
	text_release(&title);
}

void check_report_markdown(const struct check *check, struct text *text)
{
	text_append(text, "### tiletune check: ");
	append_counts(check, text);
	text_append(text, "\n\nBaseline `");
	append_cell(text, check->baseline->path);
	text_append(text, "` on ");
	append_cell(text, device_spec(check->context->device)->title);
	if (check->measures)
		text_appendf(text, ", threshold %.3g%%, confidence %.4g%%.\n\n",
			100 * check->options.threshold_ratio,
			100 * check->options.confidence_ratio);
	else
		text_append(text, "; kernels were compiled, not timed.\n\n");
	text_append(text, "| verdict | problem | family | baseline µs | now µs | time | why |\n"
			  "|---|---|---|---:|---:|---:|---|\n");
	for (size_t i = 0; i < check->row_count; i++)
		markdown_row(&check->rows[i], text);
	for (size_t i = 0; i < check->identity.count; i++) {
		const struct check_trait_difference *item = &check->identity.items[i];

		text_appendf(text, "%s- %s: ", i ? "" : "\nNot as in the baseline:\n\n",
			check_trait_names[item->trait]);
		append_cell(text, item->baseline);
		text_append(text, " → ");
		append_cell(text, item->now);
		text_append(text,
			check->options.allowed & 1u << item->trait ? "\n" : " (not allowed)\n");
	}
}

/* ---- JUnit XML, as GitLab and GitHub's actions show it ---- */
static void append_attribute(struct text *text, const char *name, const char *value)
{
	text_appendf(text, " %s=\"", name);
	format_xml(text, value);
	text_append_char(text, '"');
}

static void append_message(
	struct text *text, const char *element, const char *type, const char *message)
{
	text_appendf(text, "      <%s", element);
	if (type)
		append_attribute(text, "type", type);
	append_attribute(text, "message", message);
	text_append(text, "/>\n");
}

static void append_case(const struct check_row *row, struct text *text)
{
	const char *verdict = check_verdict_names[row->verdict];
	char *class = string_format("tiletune.%s", row->operation);
	char *message = string_format("%s: %s", verdict, row->reason);

	text_append(text, "    <testcase");
	append_attribute(text, "classname", class);
	append_attribute(text, "name", row->problem);
	text_appendf(text, " time=\"%.9f\">\n", row->now.blocks ? row->now.time_us * 1e-6 : 0);
	if (row->verdict == CHECK_FAILED)
		append_message(text, "error", verdict, message);
	else if (row->verdict == CHECK_SLOWER)
		append_message(text, "failure", verdict, message);
	else if (row->verdict == CHECK_UNCLEAR || row->verdict == CHECK_NOT_COMPARABLE)
		append_message(text, "skipped", NULL, message);
	text_append(text, "      <system-out>");
	format_xml(text, row->family);
	text_append(text, " {");
	format_xml(text, row->configuration);
	text_append(text, "}&#10;");
	format_xml(text, message);
	text_append(text, "</system-out>\n    </testcase>\n");
	free(class);
	free(message);
}

static void append_properties(const struct check *check, struct text *text)
{
	text_append(text, "    <properties>\n");
	text_append(text, "      <property name=\"device\"");
	append_attribute(text, "value", device_identity(check->context->device)->name);
	text_append(text, "/>\n");
	for (size_t i = 0; i < check->identity.count; i++) {
		const struct check_trait_difference *item = &check->identity.items[i];
		char *name = string_format("differs.%s", check_trait_names[item->trait]);
		char *value = string_format("%s -> %s", item->baseline, item->now);

		text_append(text, "      <property");
		append_attribute(text, "name", name);
		append_attribute(text, "value", value);
		text_append(text, "/>\n");
		free(name);
		free(value);
	}
	text_append(text, "    </properties>\n");
}

void check_report_junit(const struct check *check, struct text *text)
{
	char date[CLOCK_DATE_SIZE];
	char *counts = string_format(
		"tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", check->row_count,
		check_count(check, CHECK_SLOWER), check_count(check, CHECK_FAILED),
		check_count(check, CHECK_UNCLEAR) + check_count(check, CHECK_NOT_COMPARABLE));

	clock_date(date);
	date[19] = '\0'; /* without the Z, as the schema of JUnit has it */
	text_appendf(text,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"tiletune check\" %s>\n"
		"  <testsuite",
		counts);
	append_attribute(text, "name", check->baseline->path);
	text_appendf(text, " %s timestamp=\"%s\">\n", counts, date);
	append_properties(check, text);
	for (size_t i = 0; i < check->row_count; i++)
		append_case(&check->rows[i], text);
	text_append(text, "  </testsuite>\n</testsuites>\n");
	free(counts);
}
