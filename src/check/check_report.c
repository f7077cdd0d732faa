/* SPDX-License-Identifier: MIT */
#include "check/row.h"

#include "base/format_text.h"

/* Appends the problem's title, or all its keys if the entry can no longer be built. */
static void append_title(const struct check_row *row, struct text *text)
{
	const struct problem *problem = row->problem;

	text_appendf(
		text, "%s %s", row->entry.operation, problem ? problem->title : row->problem_text);
	if (row->entry.objective != OBJECTIVE_TIME)
		text_appendf(text, " (best %s)", objective_names[row->entry.objective]);
}

/* Verdicts from the least to the most important. */
static const enum check_verdict verdict_order[CHECK_VERDICT_COUNT] = {CHECK_SAME, CHECK_FASTER,
	CHECK_NOT_COMPARABLE, CHECK_UNCLEAR, CHECK_SLOWER, CHECK_OTHER_BITS, CHECK_FAILED};

/* Appends "1 slower, 3 same". */
static void append_counts(const struct check *check, struct text *text)
{
	CLEANUP(text_release) struct text list = {0};

	for (size_t i = CHECK_VERDICT_COUNT; i-- > 0;) {
		const size_t count = check_count(check, verdict_order[i]);

		if (count)
			text_appendf(&list, "%s%zu %s", list.length ? ", " : "", count,
				check_verdict_names[verdict_order[i]]);
	}
	text_append(text, text_string(&list));
}

static void append_environment(const struct check *check, struct text *text)
{
	for (size_t i = 0; i < check->environment_count; i++) {
		const struct environment_difference *item = &check->environment[i];

		format_put(text, format_shown, "  differs: %s: %s -> %s%s\n",
			environment_part_names[item->part], item->baseline, item->now,
			item->allowed ? "" : " (not allowed)");
	}
}

static bool is_same_reason(const struct check_row *row, const struct check_row *other)
{
	return row->verdict == CHECK_NOT_COMPARABLE && other->verdict == row->verdict &&
	       strcmp(row->reason, other->reason) == 0;
}

/* Prints one line for all rows that are not comparable for the same reason. */
static void text_row(const struct check *check, const struct check_row *row, struct text *text)
{
	size_t more = 0;

	for (const struct check_row *other = check->rows; other < row; other++)
		if (is_same_reason(row, other))
			return;
	for (const struct check_row *other = row + 1; other < check->rows + check->row_count;
		other++)
		more += is_same_reason(row, other);
	text_appendf(text, "%-14s ", check_verdict_names[row->verdict]);
	append_title(row, text);
	text_appendf(text, "  %s", row->entry.winner.result.family);
	if (more)
		text_appendf(text, ", and %zu more", more);
	if (row->now.rounds && row->baseline_us > 0)
		text_appendf(text, "  %.2f -> %.2f us", row->baseline_us, row->now.time_us);
	else if (row->now.rounds)
		text_appendf(text, "  %.2f us", row->now.time_us);
	/* rows without a finding take a single line */
	if (strcmp(row->reason, check_same_reason) == 0)
		text_append_char(text, '\n');
	else
		format_put(text, format_shown, "\n               %s\n", row->reason);
}

void check_report_text(const struct check *check, struct text *text)
{
	format_put(text, format_shown, "check of %s on %s", check->baseline->path,
		check->context->device->spec->title);
	if (check->measures)
		text_appendf(text, ", threshold %.3g%%\n", 100 * check->options.threshold_ratio);
	else
		text_append(text, ": resources only, nothing is timed\n");
	append_environment(check, text);
	for (size_t v = 0; v < CHECK_VERDICT_COUNT; v++)
		for (size_t i = 0; i < check->row_count; i++)
			if (check->rows[i].verdict == verdict_order[v])
				text_row(check, &check->rows[i], text);
	append_counts(check, text);
	text_append_char(text, '\n');
}

/* ---- Markdown: a verdict, a table, the differences ---- */
static const char *verdict_mark(enum check_verdict verdict)
{
	static const char *const marks[CHECK_VERDICT_COUNT] = {
		[CHECK_SAME] = "✅",
		[CHECK_FASTER] = "🚀",
		[CHECK_SLOWER] = "🔴",
		[CHECK_UNCLEAR] = "❔",
		[CHECK_NOT_COMPARABLE] = "➖",
		[CHECK_OTHER_BITS] = "🔀",
		[CHECK_FAILED] = "💥",
	};

	return marks[verdict];
}

static void markdown_row(const struct check_row *row, struct text *text)
{
	CLEANUP(text_release) struct text title = {0};

	append_title(row, &title);
	format_put(text, format_markdown, "| %s %s | %s | %s | ", verdict_mark(row->verdict),
		check_verdict_names[row->verdict], title.data, row->entry.winner.result.family);
	if (row->baseline_us > 0)
		text_appendf(text, "%.2f", row->baseline_us);
	text_append(text, " | ");
	if (row->now.rounds)
		text_appendf(text, "%.2f", row->now.time_us);
	text_append(text, " | ");
	if (row->slowdown.ratio.value > 0)
		text_appendf(text, "%+.1f%%", 100 * (row->slowdown.ratio.value - 1));
	format_put(text, format_markdown, " | %s |\n", row->reason);
}

void check_report_markdown(const struct check *check, struct text *text)
{
	text_append(text, "### tiletune check: ");
	append_counts(check, text);
	format_put(text, format_markdown, "\n\nBaseline %s on %s", check->baseline->path,
		check->context->device->spec->title);
	if (check->measures)
		text_appendf(text, ", threshold %.3g%%.\n\n", 100 * check->options.threshold_ratio);
	else
		text_append(text, "; kernels were compiled, not timed.\n\n");
	text_append(text, "| verdict | problem | family | baseline µs | now µs | time | why |\n"
			  "|---|---|---|---:|---:|---:|---|\n");
	for (size_t v = CHECK_VERDICT_COUNT; v-- > 0;)
		for (size_t i = 0; i < check->row_count; i++)
			if (check->rows[i].verdict == verdict_order[v])
				markdown_row(&check->rows[i], text);
	for (size_t i = 0; i < check->environment_count; i++) {
		const struct environment_difference *item = &check->environment[i];

		text_append(text, i ? "" : "\nNot as in the baseline:\n\n");
		format_put(text, format_markdown, "- %s: %s → %s%s\n",
			environment_part_names[item->part], item->baseline, item->now,
			item->allowed ? "" : " (not allowed)");
	}
}

static void append_case(const struct check_row *row, struct text *text)
{
	static const char *const elements[CHECK_VERDICT_COUNT] = {[CHECK_FAILED] = "error",
		[CHECK_SLOWER] = "failure",
		[CHECK_OTHER_BITS] = "failure",
		[CHECK_UNCLEAR] = "skipped",
		[CHECK_NOT_COMPARABLE] = "skipped"};
	const char *verdict = check_verdict_names[row->verdict], *element = elements[row->verdict];

	format_put(text, format_xml,
		"    <testcase classname=\"tiletune.%s\" name=\"%s\" time=\"%.9f\">\n",
		row->entry.operation, row->problem_text,
		row->now.rounds ? row->now.time_us * 1e-6 : 0);
	if (element) {
		text_appendf(text, "      <%s", element);
		if (strcmp(element, "skipped") != 0)
			text_appendf(text, " type=\"%s\"", verdict);
		format_put(text, format_xml, " message=\"%s: %s\"/>\n", verdict, row->reason);
	}
	format_put(text, format_xml,
		"      <system-out>%s {%s}&#10;%s: %s</system-out>\n    </testcase>\n",
		row->entry.winner.result.family, row->configuration, verdict, row->reason);
}

void check_report_junit(const struct check *check, struct text *text)
{
	char date[CLOCK_DATE_SIZE];
	CLEANUP(memory_free)
	char *counts = string_format(
		"tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", check->row_count,
		check_count(check, CHECK_SLOWER) + check_count(check, CHECK_OTHER_BITS),
		check_count(check, CHECK_FAILED),
		check_count(check, CHECK_UNCLEAR) + check_count(check, CHECK_NOT_COMPARABLE));

	clock_date(date);
	date[19] = '\0'; /* JUnit's schema has no "Z" at the end */
	text_appendf(text,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"tiletune check\" %s>\n  <testsuite",
		counts);
	format_put(text, format_xml, " name=\"%s\"", check->baseline->path);
	text_appendf(text, " %s timestamp=\"%s\">\n    <properties>\n", counts, date);
	format_put(text, format_xml, "      <property name=\"device\" value=\"%s\"/>\n",
		check->context->device->identity.name);
	for (size_t i = 0; i < check->environment_count; i++) {
		const struct environment_difference *item = &check->environment[i];

		format_put(text, format_xml,
			"      <property name=\"differs.%s\" value=\"%s -&gt; %s\"/>\n",
			environment_part_names[item->part], item->baseline, item->now);
	}
	text_append(text, "    </properties>\n");
	for (size_t i = 0; i < check->row_count; i++)
		append_case(&check->rows[i], text);
	text_append(text, "  </testsuite>\n</testsuites>\n");
}
