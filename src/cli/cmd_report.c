/* SPDX-License-Identifier: MIT
 *
 * tiletune report: pages, figures and tables.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/common.h"
#include "figure/figure.h"
#include "html/html_page.h"
#include "report/report_table.h"

struct report_command_options {
	struct string_list paths;
	const char *output, *svg;
};

#define AT(member) offsetof(struct report_command_options, member)

static const struct option report_option_table[] = {
	{"output", 'o', OPTION_STRING, AT(output), "FILE",
		"write one HTML file; without it a table goes to stdout", NULL},
	{"svg", 0, OPTION_STRING, AT(svg), "DIR", "write every figure as an SVG file, too", NULL},
	{"path", 0, OPTION_STRINGS, AT(paths), "DIR", "look for templates/ and configs/ here first",
		NULL},
	{0},
};

static enum status write_figure(const struct figure *figure, const struct report *report,
	const struct report_entry *entry, size_t part, const char *folder, bool *more,
	struct error *err)
{
	struct text svg = {0}, ignored = {0};
	double width;
	enum status status = STATUS_OK;

	*more = figure_render(figure, report, entry, part, true, &svg, &ignored, &ignored, &width);
	if (*more) {
		char *number = part ? string_format("-%zu", part + 1) : string_copy("");
		char *name = string_format("%s%s%s%s.svg", entry ? entry->slug : "",
			entry ? "-" : "", figure->name, number);
		char *path = path_join(folder, name);

		status = file_write(path, svg.data, svg.length, err);
		free(number);
		free(name);
		free(path);
	}
	text_release(&svg);
	text_release(&ignored);
	return status;
}

static enum status write_figures(const struct report *report, const char *folder, struct error *err)
{
	enum status status = directory_make(folder, err);

	for (const struct figure *const *figure = figures; *figure; figure++)
		for (size_t i = 0; i < ((*figure)->of_report ? 1 : report->entry_count); i++) {
			bool more = true;

			for (size_t part = 0; more && status == STATUS_OK; part++)
				status = write_figure(*figure, report,
					(*figure)->of_report ? NULL : &report->entries[i], part,
					folder, &more, err);
		}
	return status;
}

static enum status write_page(const struct report *report, const char *path, struct error *err)
{
	struct text page = {0};
	enum status status;

	html_page(report, &page);
	status = common_write(path, page.data, err);
	text_release(&page);
	return status;
}

static enum status write_table(const struct report *report, struct error *err)
{
	struct text table = {0};
	enum status status;

	report_table(report, &table);
	status = common_write("-", text_string(&table), err);
	text_release(&table);
	return status;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct report_command_options *options = options_;
	struct folders folders = folders_find(&options->paths);
	struct report_options wanted = {.paths = positional->items,
		.path_count = positional->count,
		.template_folders = (const char *const *)folders.templates,
		.config_folders = (const char *const *)folders.configs};
	struct report report;
	enum status status = report_open(&wanted, &report, err);

	if (status == STATUS_OK && report.notice)
		fprintf(stderr, "notice: %s\n", report.notice);
	if (status == STATUS_OK) {
		if (options->output)
			status = write_page(&report, options->output, err);
		if (status == STATUS_OK && options->svg)
			status = write_figures(&report, options->svg, err);
		if (status == STATUS_OK && !options->output && !options->svg)
			status = write_table(&report, err);
		report_release(&report);
	}
	folders_release(&folders);
	return status;
}

const struct command command_report = {
	.name = "report",
	.summary = "Show tuned files and journals as one HTML page, as SVG figures, or as a table",
	.arguments = "TUNED.json|JOURNAL... [-o report.html] [--svg DIR]",
	.description =
		"The answer first, then why: heat map over tile shapes, waves, roofline, "
		"predicted\n"
		"against measured, search progress, outcomes with reasons, all candidates, device "
		"and\n"
		"toolchain. One file, nothing from the network. A journal beside a tuned file\n"
		"(X.journal.jsonl[.gz] beside X.json) is read with it; several files are compared.",
	.examples = "  tiletune report tuned.json -o report.html\n"
		    "  tiletune report monday.json tuesday.json -o both.html --svg figures",
	.options = report_option_table,
	.options_size = sizeof(struct report_command_options),
	.positional_min = 1,
	.positional_max = 64,
	.run = run,
};
