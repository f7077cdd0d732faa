/* SPDX-License-Identifier: MIT
 *
 * A check as JUnit XML, as GitLab and GitHub's actions show it.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "report/check_report.h"

/* Attribute and element text; what XML 1.0 does not allow becomes a question mark. */
static void append_xml(struct text *text, const char *string)
{
	for (; *string; string++) {
		unsigned char c = (unsigned char)*string;

		if (c == '<')
			text_append(text, "&lt;");
		else if (c == '>')
			text_append(text, "&gt;");
		else if (c == '&')
			text_append(text, "&amp;");
		else if (c == '"')
			text_append(text, "&quot;");
		else if (c == '\n')
			text_append(text, "&#10;");
		else
			text_append_char(text, c < 0x20 && c != '\t' ? '?' : (char)c);
	}
}

static void append_attribute(struct text *text, const char *name, const char *value)
{
	text_appendf(text, " %s=\"", name);
	append_xml(text, value);
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
	const char *verdict = check_verdict_name(row->verdict);
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
	append_xml(text, row->family);
	text_append(text, " {");
	append_xml(text, row->configuration);
	text_append(text, "}&#10;");
	append_xml(text, message);
	text_append(text, "</system-out>\n    </testcase>\n");
	free(class);
	free(message);
}

static void append_properties(const struct check *check, struct text *text)
{
	text_append(text, "    <properties>\n");
	text_append(text, "      <property name=\"device\"");
	append_attribute(text, "value", device_identity(check->bench->device)->name);
	text_append(text, "/>\n");
	for (size_t i = 0; i < check->identity.count; i++) {
		const struct check_trait_difference *item = &check->identity.items[i];
		char *name = string_format("differs.%s", check_trait_name(item->trait));
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
