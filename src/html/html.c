/* SPDX-License-Identifier: MIT */
#include "html/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_schema.h"
#include "report/format.h"
#include "figure/canvas.h"
#include "html/html_data.h"
#include "html/html_entry.h"
#include "report/comparison.h"

enum {
	HALF_PAGE = 560 /* figures wider than this get the whole width of the page */
};

void html_put(struct text *page, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	format_put_args(page, format_xml, format, args);
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

void html_time_cell(struct text *page, const char *attributes, double time_us)
{
	text_appendf(page, "<td%s%s class=\"n\" data-value=\"%.6g\">%s</td>",
		*attributes ? " " : "", attributes, time_us, format_time(time_us).text);
}

/* "M=16,N=32": lines break behind commas. */
static void html_list(struct text *page, const char *list)
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
		CLEANUP(text_release) struct text svg = {0}, title = {0}, caption = {0};
		double width = 0;

		more = figure_render(
			figure, report, entry, part, false, &svg, &title, &caption, &width);
		if (!more)
			return;
		html_put(page, "<figure class=\"card%s\"><h3>%s</h3><div class=\"scroll\">",
			width > HALF_PAGE ? " wide" : "", text_string(&title));
		text_append(page, text_string(&svg));
		html_put(page, "</div><figcaption>%s</figcaption></figure>\n",
			text_string(&caption));
	}
}

/* ---- the page ---- */
/* Whether no entry before it is of a device of this name. */
static bool is_first_of_device(const struct report *report, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(report_device_name(&report->entries[i]),
			    report_device_name(&report->entries[index])) == 0)
			return false;
	return true;
}

static void head(const struct report *report, struct text *page)
{
	text_append(page,
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n<title>tiletune: ");
	if (report->entry_count == 1)
		html_put(page, "%s %s", report->entries[0].operation, report->entries[0].title);
	else
		html_put(page, "%zu problems", report->entry_count);
	html_put(page, " on %s</title>\n<style>\n", report_device_name(&report->entries[0]));
	text_appendf(page,
		":root{%s}\n@media (prefers-color-scheme:dark){:root{%s}}\n"
		":root[data-theme=light]{color-scheme:light;%s}\n"
		":root[data-theme=dark]{color-scheme:dark;%s}\n%s%s</style></head>\n",
		asset_palette_light_css, asset_palette_dark_css, asset_palette_light_css,
		asset_palette_dark_css, asset_figure_css, asset_page_css);
}

static void navigation(const struct report *report, bool sweep, bool comparison, struct text *page)
{
	text_appendf(page,
		"<header class=\"top\"><strong>tiletune</strong><nav aria-label=\"Sections\">"
		"<a href=\"#answer\">Answer</a>%s%s<a href=\"#problems\">%s</a>"
		"<a href=\"#device\">Device</a></nav>"
		"<button id=\"theme\" type=\"button\" hidden>Theme: auto</button></header>\n",
		comparison ? "<a href=\"#comparison\">Comparison</a>" : "",
		sweep ? "<a href=\"#sizes\">Sizes</a>" : "",
		report->entry_count > 1 ? "Problems" : "Details");
}

/* ---- the answer: one problem's winner, or a table of all winners ---- */
/* Share of the fastest pipe at boost clock, as a bar. */
static void peak_cell(const struct report_entry *entry, struct text *page)
{
	struct ceiling ceilings[CEILINGS_MAX];
	double share = ceilings_find(entry, ceilings)
			       ? 100 * entry->winner.tflops / ceilings[0].tflops
			       : 0;

	if (share > 0)
		text_appendf(page,
			"<td data-label=\"Of peak\" class=\"n peak\" "
			"style=\"--share:%.0f%%\">%.0f%%</td>",
			share, share);
	else
		text_append(page, "<td></td>");
}

/* On a narrow screen the cells of a row stand below each other, each with its label. */
static void answer_row(const struct report_entry *entry, bool labels, struct text *page)
{
	const struct launch_score *launch = report_longest(&entry->winner.score);

	html_put(page, "<tr><th scope=\"row\" class=\"breaks\"><a href=\"#%s\">%s ", entry->slug,
		entry->operation);
	html_list(page, entry->title);
	text_append(page, "</a></th>");
	if (labels)
		html_put(page, "<td data-label=\"File\">%s</td>", entry->label);
	if (!entry->has_winner) {
		text_append(page, "<td colspan=\"7\">no candidate has a time</td></tr>\n");
		return;
	}
	html_time_cell(page, "data-label=\"Time\"", entry->winner.time_us);
	html_put(page, "<td data-label=\"TFLOP/s\" class=\"n\">%.1f</td>", entry->winner.tflops);
	peak_cell(entry, page);
	html_put(page, "<td data-label=\"Family\">%s</td>", entry->winner.family);
	if (launch)
		html_put(page,
			"<td data-label=\"Waves\" class=\"n\">%.2f</td>"
			"<td data-label=\"Bound\">%s</td>",
			launch->waves_exact, bound_kind_names[launch->bound]);
	else
		text_append(page, "<td></td><td></td>");
	text_append(page, "<td data-label=\"Configuration\" class=\"mono breaks\">");
	html_list(page, entry->winner.configuration);
	text_append(page, "</td></tr>\n");
}

static void answer_table(const struct report *report, struct text *page)
{
	bool labels = false;

	for (size_t i = 1; i < report->entry_count; i++)
		labels |= report->entries[i].label != report->entries[0].label;
	text_append(page, "<div class=\"card\">");
	html_table_open(page, "sortable answers",
		labels ? "Problem|File|Time|TFLOP/s|Of peak|Family|Waves|Bound|Configuration"
		       : "Problem|Time|TFLOP/s|Of peak|Family|Waves|Bound|Configuration");
	for (size_t i = 0; i < report->entry_count; i++)
		answer_row(&report->entries[i], labels, page);
	html_table_close(page);
	text_append(page, "</div>\n");
}

static void answer(const struct report *report, struct text *page)
{
	const struct report_entry *first = &report->entries[0];
	size_t predicted = 0;

	text_append(page, "<section id=\"answer\"><h1>");
	if (report->entry_count == 1)
		html_put(page, "%s <span class=\"problem\">%s</span>", first->operation,
			first->title);
	else
		html_put(page, "%zu problems, tuned", report->entry_count);
	text_append(page, "</h1>\n<p class=\"where\">on ");
	for (size_t i = 0; i < report->entry_count; i++) {
		predicted += report->entries[i].predicted;
		if (is_first_of_device(report, i))
			html_put(page, "%s%s", i ? " and " : "",
				report_device_name(&report->entries[i]));
	}
	if (!predicted)
		text_append(page, "; all times measured");
	else if (predicted == report->entry_count)
		text_append(page, "; all times <b>predicted</b> by the model");
	else
		html_put(page, "; %zu of the times <b>predicted</b> by the model", predicted);
	text_append(page, "</p>\n");
	if (report->entry_count == 1)
		html_winner(first, page);
	else
		answer_table(report, page);
	text_append(page, "</section>\n");
}

/* ---- two runs, or two GPUs, beside each other ---- */
static void comparison_row(const struct comparison_row *pair, struct text *page)
{
	const struct report_entry *sides[] = {pair->first, pair->second};

	html_put(page, "<tr><th scope=\"row\" class=\"breaks\">%s ", pair->second->operation);
	html_list(page, pair->second->title);
	text_append(page, "</th>");
	for (int i = 0; i < 2; i++) {
		html_put(page, "<td>%s</td>", sides[i]->label);
		html_time_cell(page, "", sides[i]->winner.time_us);
		html_put(page, "<td>%s</td>", sides[i]->winner.family);
	}
	text_appendf(page, "<td class=\"n\">%.3f</td><td%s>%s</td></tr>\n", pair->ratio,
		strcmp(pair->verdict, "slower") == 0   ? " class=\"bad\""
		: strcmp(pair->verdict, "faster") == 0 ? " class=\"good\""
						       : "",
		pair->verdict);
}

static void compare(const struct report *report, struct text *page)
{
	CLEANUP(comparison_release) struct comparison comparison = {0};

	comparison_make(report, &comparison);
	if (!comparison.count)
		return;
	text_append(page, "<div class=\"figures\">");
	html_figure(&figure_comparison, report, NULL, page);
	text_append(page, "</div><div class=\"card\">");
	html_table_open(page, "sortable",
		"Problem|First|Time|Family|Second|Time|Family|Second / first|The second is");
	for (size_t i = 0; i < comparison.count; i++)
		comparison_row(&comparison.rows[i], page);
	html_table_close(page);
	text_append(page, "</div>\n");
}

/* ---- device and toolchain: where the numbers are from ---- */
static void fact(const struct record_cell *cell, void *context)
{
	struct text *page = context;
	const char *string = record_cell_string(cell);
	const double number = record_cell_number(cell);

	if (!string && !isfinite(number))
		return;
	html_put(page, "<tr><th scope=\"row\">%s%s</th><td>", cell->prefix, cell->member->name);
	if (string)
		html_put(page, "%s", string);
	else
		html_put(page, "%.10g", number);
	if (string_ends_with(cell->member->name, "_bytes"))
		html_put(page, " <span class=\"muted\">(%s)</span>", format_bytes(number).text);
	text_append(page, "</td></tr>\n");
}

static void facts_table(struct text *page, const char *title, const char *name,
	const struct record *record, const void *value)
{
	html_put(page,
		"<div class=\"card scroll\" tabindex=\"0\"><h3>%s%s</h3><table "
		"class=\"facts\"><tbody>\n",
		title, name);
	record_cells(record, value, fact, page);
	text_append(page, "</tbody></table></div>\n");
}

static void device(const struct report *report, struct text *page)
{
	text_append(page,
		"<section id=\"device\"><h2>Device and toolchain</h2><div class=\"figures\">\n");
	for (size_t i = 0; i < report->entry_count; i++) {
		const struct report_entry *entry = &report->entries[i];
		bool new_run = entry->run != NULL;

		for (size_t k = 0; k < i; k++)
			new_run &= report->entries[k].run != entry->run;
		if (entry->device && is_first_of_device(report, i))
			facts_table(page, "", report_device_name(entry), &gpu_model_record,
				entry->device);
		if (new_run)
			facts_table(page, "Run of ", entry->label, &run_record, entry->run);
	}
	text_append(page, "</div></section>\n");
}

void html_page(const struct report *report, struct text *page)
{
	CLEANUP(text_release) struct text wide = {0}, compared = {0};

	html_figure(&figure_waves, report, NULL, &wide);
	compare(report, &compared);
	head(report, page);
	text_appendf(page,
		"<body>\n<svg class=\"figure defs\" width=\"0\" height=\"0\" "
		"aria-hidden=\"true\">%s</svg>\n",
		asset_patterns_svg);
	navigation(report, wide.length > 0, compared.length > 0, page);
	text_append(page, "<main>\n");
	answer(report, page);
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
	html_data_names(page);
	device(report, page);
	text_appendf(page,
		"</main>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n<div id=\"live\" "
		"class=\"unseen\" aria-live=\"polite\"></div>\n<script>\n%s</script>\n"
		"</body></html>\n",
		asset_script_js);
}
