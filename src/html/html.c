/* SPDX-License-Identifier: MIT */
#include "html/html.h"

#include <stdlib.h>
#include <string.h>

#include "report/format.h"

enum {
	HALF_PAGE = 560, /* figures wider than this get the whole width of the page */
	SPEC_SIZE = 16
};

/* One conversion, whose format is not a literal. */
static void put_one(struct text *page, const char *spec, ...)
{
	va_list args;

	va_start(args, spec);
	text_append_args(page, spec, args);
	va_end(args);
}

static void put_string(struct text *page, const char *string, int length)
{
	char *part = string_copy_bytes(
		string, length < 0 ? strlen(string) : strnlen(string, (size_t)length));

	format_xml(page, part);
	free(part);
}

static void put_args(struct text *page, const char *format, va_list args)
{
	for (const char *at = format; *at;) {
		size_t length = strcspn(at, "%");
		char spec[SPEC_SIZE];
		int precision = -1;

		text_append_bytes(page, at, length);
		at += length;
		if (!*at)
			return;
		length = strcspn(at + 1, "sdufg%") + 2;
		if (length >= SPEC_SIZE)
			BUG("a conversion of html_put() is unknown: %s", at);
		string_put(spec, length + 1, at);
		at += length;
		if (strstr(spec, ".*"))
			precision = va_arg(args, int);
		switch (spec[length - 1]) {
		case 's':
			put_string(page, va_arg(args, const char *), precision);
			break;
		case 'd':
			put_one(page, spec, va_arg(args, int));
			break;
		case 'u':
			put_one(page, spec, va_arg(args, size_t));
			break;
		case '%':
			text_append_char(page, '%');
			break;
		default:
			put_one(page, spec, va_arg(args, double));
		}
	}
}

void html_put(struct text *page, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_args(page, format, args);
	va_end(args);
}

void html_table_open(struct text *page, const char *class, const char *heads)
{
	html_put(page, "<div class=\"scroll\" tabindex=\"0\"><table class=\"%s\"><thead><tr>",
		class);
	for (size_t length; *heads; heads += length + (heads[length] == '|')) {
		length = strcspn(heads, "|");
		html_put(page, "<th scope=\"col\">%.*s</th>", (int)length, heads);
	}
	text_append(page, "</tr></thead><tbody>\n");
}

void html_table_close(struct text *page)
{
	text_append(page, "</tbody></table></div>\n");
}

void html_cell(struct text *page, const char *attributes, const char *format, ...)
{
	va_list args;

	text_appendf(page, "<td%s%s>", *attributes ? " " : "", attributes);
	va_start(args, format);
	put_args(page, format, args);
	va_end(args);
	text_append(page, "</td>");
}

void html_time_cell(struct text *page, const char *attributes, double time_us)
{
	text_appendf(page, "<td%s%s class=\"n\" data-value=\"%.6g\">%s</td>",
		*attributes ? " " : "", attributes, time_us, format_time(time_us).text);
}

void html_list(struct text *page, const char *list)
{
	while (*list) {
		size_t length = strcspn(list, ",");

		length += list[length] == ',';
		html_put(page, "%.*s", (int)length, list);
		list += length;
		text_append(page, *list ? "<wbr>" : "");
	}
}

void html_figure(const struct figure *figure, const struct report *report,
	const struct report_entry *entry, struct text *page)
{
	bool more = true;

	for (size_t part = 0; more; part++) {
		struct text svg = {0}, title = {0}, caption = {0};
		double width = 0;

		more = figure_render(
			figure, report, entry, part, false, &svg, &title, &caption, &width);
		if (more) {
			html_put(page, "<figure class=\"card%s\"><h3>%s</h3><div class=\"scroll\">",
				width > HALF_PAGE ? " wide" : "", text_string(&title));
			text_append(page, text_string(&svg));
			html_put(page, "</div><figcaption>%s</figcaption></figure>\n",
				text_string(&caption));
		}
		text_release(&svg);
		text_release(&title);
		text_release(&caption);
	}
}
