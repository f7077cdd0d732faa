/* SPDX-License-Identifier: MIT */
#include "html/html.h"

#include <stdlib.h>
#include <string.h>

#include "figure/assets.h"
#include "figure/figure.h"
#include "report/format.h"

enum {
	HALF_PAGE = 560 /* figures wider than this get the whole width of the page */
};

void html_text(struct text *page, const char *string)
{
	canvas_escape(page, string);
}

void html_cell(struct text *page, const char *class, const char *format, ...)
{
	struct text string = {0};
	va_list args;

	va_start(args, format);
	text_append_args(&string, format, args);
	va_end(args);
	text_appendf(page, "<td%s%s%s>", class ? " class=\"" : "", class ? class : "",
		class ? "\"" : "");
	html_text(page, text_string(&string));
	text_append(page, "</td>");
	text_release(&string);
}

void html_time_cell(struct text *page, double time_us)
{
	struct text string = {0};

	format_time(&string, time_us);
	text_appendf(page, "<td class=\"n\" data-value=\"%.6g\">%s</td>", time_us, string.data);
	text_release(&string);
}

void html_list(struct text *page, const char *list)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		char *part;

		length += list[length] == ',';
		part = string_copy_bytes(list, length);
		html_text(page, part);
		if (list[length])
			text_append(page, "<wbr>");
		free(part);
		list += length;
	}
}

void html_configuration(struct text *page, const char *configuration)
{
	/* what serves the steps of a composite family is a sentence, not a list */
	if (strchr(configuration, '{')) {
		text_append(page, "<span class=\"steps\">");
		html_text(page, configuration);
		text_append(page, "</span>");
		return;
	}
	text_append(page, "<span class=\"chips\">");
	for (const char *at = configuration; *at;) {
		size_t length = strcspn(at, ","), name = strcspn(at, "=");
		char *part = string_copy_bytes(at, length);

		if (name < length)
			part[name] = '\0';
		text_append(page, "<span class=\"chip\">");
		html_text(page, part);
		if (name < length) {
			text_append(page, "=<b>");
			html_text(page, part + name + 1);
			text_append(page, "</b>");
		}
		text_append(page, "</span> ");
		free(part);
		at += length + (at[length] == ',');
	}
	text_append(page, "</span>");
}

const char *html_device_name(const struct report_entry *entry)
{
	const char *name = report_string(&entry->device, "name");

	return name ? name : "?";
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
			text_appendf(page, "<figure class=\"card%s\"><h3>",
				width > HALF_PAGE ? " wide" : "");
			html_text(page, text_string(&title));
			text_append(page, "</h3><div class=\"scroll\">");
			text_append(page, text_string(&svg));
			text_append(page, "</div><figcaption>");
			html_text(page, text_string(&caption));
			text_append(page, "</figcaption></figure>\n");
		}
		text_release(&svg);
		text_release(&title);
		text_release(&caption);
	}
}

static void head(const struct report *report, struct text *page)
{
	text_append(page,
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n<title>tiletune: ");
	if (report->entry_count == 1) {
		html_text(page, report->entries[0].operation);
		text_append_char(page, ' ');
		html_text(page, report->entries[0].title);
	} else {
		text_appendf(page, "%zu problems", report->entry_count);
	}
	text_append(page, " on ");
	html_text(page, html_device_name(&report->entries[0]));
	text_append(page, "</title>\n<style>\n");
	text_appendf(page,
		":root{%s}\n@media (prefers-color-scheme:dark){:root{%s}}\n"
		":root[data-theme=light]{color-scheme:light;%s}\n"
		":root[data-theme=dark]{color-scheme:dark;%s}\n%s%s</style></head>\n",
		asset_palette_light_css, asset_palette_dark_css, asset_palette_light_css,
		asset_palette_dark_css, asset_figure_css, asset_page_css);
}

static void navigation(const struct report *report, bool sweep, bool comparison, struct text *page)
{
	text_append(page,
		"<header class=\"top\"><strong>tiletune</strong><nav aria-label=\"Sections\">"
		"<a href=\"#answer\">Answer</a>");
	if (comparison)
		text_append(page, "<a href=\"#comparison\">Comparison</a>");
	if (sweep)
		text_append(page, "<a href=\"#sizes\">Sizes</a>");
	text_appendf(page,
		"<a href=\"#problems\">%s</a><a href=\"#device\">Device</a></nav>"
		"<button id=\"theme\" type=\"button\" hidden>Theme: auto</button></header>\n",
		report->entry_count > 1 ? "Problems" : "Details");
}

void html_page(const struct report *report, struct text *page)
{
	struct text wide = {0}, compared = {0};

	html_figure(&figure_waves, report, NULL, &wide);
	html_comparison(report, &compared);
	head(report, page);
	text_append(page, "<body>\n<svg class=\"figure defs\" width=\"0\" height=\"0\" "
			  "aria-hidden=\"true\">");
	text_append(page, asset_patterns_svg);
	text_append(page, "</svg>\n");
	navigation(report, wide.length > 0, compared.length > 0, page);
	text_append(page, "<main>\n");
	html_answer(report, page);
	if (compared.length)
		text_appendf(page, "<section id=\"comparison\"><h2>Comparison</h2>\n%s</section>\n",
			compared.data);
	if (wide.length)
		text_appendf(page,
			"<section id=\"sizes\"><h2>Across sizes</h2>\n"
			"<div class=\"figures\">%s</div></section>\n",
			wide.data);
	text_append(page, "<section id=\"problems\">\n");
	for (size_t i = 0; i < report->entry_count; i++)
		html_entry(report, i, page);
	text_append(page, "</section>\n");
	html_device(report, page);
	text_append(page,
		"</main>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n"
		"<div id=\"live\" class=\"unseen\" aria-live=\"polite\"></div>\n<script>\n");
	text_append(page, asset_script_js);
	text_append(page, "</script>\n</body></html>\n");
	text_release(&wide);
	text_release(&compared);
}
