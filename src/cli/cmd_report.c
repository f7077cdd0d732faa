/* SPDX-License-Identifier: MIT
 *
 * tiletune report: pages, figures and tables.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/file.h"
#include "cli/common.h"
#include "figure/figure.h"
#include "html/html.h"
#include "report/format.h"
#include "report/comparison.h"

struct report_command_options {
	struct string_list paths;
	const char *output, *svg;
};

#define AT(member) offsetof(struct report_command_options, member)

static const struct option report_option_table[] = {
	OPTION("output", 'o', STRING, output, "FILE",
		"write one HTML file; without it a table goes to stdout"),
	OPTION("svg", 0, STRING, svg, "DIR", "write every figure as an SVG file, too"),
	OPTION("path", 0, STRINGS, paths, "DIR",
		"look for templates/ and configs/ here first; an own kernel's file"),
	{0},
};

static enum status write_figure(const struct figure *figure, const struct report *report,
	const struct report_entry *entry, size_t part, const char *folder, bool *more,
	struct error *err)
{
	CLEANUP(text_release) struct text svg = {0}, ignored = {0};
	CLEANUP(memory_free) char *name = NULL, *path = NULL;
	char number[32] = "";
	double width;

	*more = figure_render(figure, report, entry, part, true, &svg, &ignored, &ignored, &width);
	if (!*more)
		return STATUS_OK;
	if (part)
		snprintf(number, sizeof(number), "-%zu", part + 1);
	name = string_format(
		"%s%s%s%s.svg", entry ? entry->slug : "", entry ? "-" : "", figure->name, number);
	path = path_join(folder, name);
	return file_write(path, svg.data, svg.length, err);
}

static enum status write_figures(const struct report *report, const char *folder, struct error *err)
{
	for (const struct figure *const *figure = figures; *figure; figure++)
		for (size_t i = 0; i < ((*figure)->of_report ? 1 : report->entry_count); i++) {
			bool more = true;

			for (size_t part = 0; more; part++)
				TRY(write_figure(*figure, report,
					(*figure)->of_report ? NULL : &report->entries[i], part,
					folder, &more, err));
		}
	return STATUS_OK;
}

/* ---- the table for a terminal ---- */
/* In ASCII, as all output for a terminal. */
static void time_of(struct text *table, double time_us)
{
	bool in_ms = time_us >= 1e4;

	text_appendf(table, "%s %s", format_number(in_ms ? time_us / 1e3 : time_us).text,
		in_ms ? "ms" : "us");
}

static void heading(const struct report_entry *entry, struct text *table)
{
	const struct run *run = entry->run;

	text_appendf(table, "%s: %s", entry->label,
		entry->device ? entry->device->name : "unknown device");
	if (run && run->driver && *run->driver)
		text_appendf(table, ", driver %s", run->driver);
	if (run && run->nvrtc)
		text_appendf(table, ", %s", run->nvrtc);
	if (run)
		text_appendf(table, ", %s", run->date);
	text_append(table, "\n");
}

static void outcomes(const struct report_entry *entry, struct text *table)
{
	const char *separator = "";

	if (!entry->candidate_count)
		return;
	text_append(table, "  outcomes: ");
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (entry->outcomes[i]) {
			text_appendf(table, "%s%s %zu", separator, outcome_name((enum outcome)i),
				entry->outcomes[i]);
			separator = ", ";
		}
	if (entry->legal > 0)
		text_appendf(table, " of %.0f legal", entry->legal);
	text_append(table, "\n");
}

static void model(const struct report_entry *entry, struct text *table)
{
	const struct tuned_model *quality = &entry->quality;

	if (!quality->measured)
		return;
	text_appendf(table,
		"  model: rank correlation %.2f over %" PRIu64
		" measured, the fastest is its number "
		"%" PRIu64 "; regret of its first 1/4/8/16: %.1f/%.1f/%.1f/%.1f%%\n",
		quality->rank_correlation, quality->measured, quality->rank_of_best,
		100 * quality->regret[0], 100 * quality->regret[1], 100 * quality->regret[2],
		100 * quality->regret[3]);
}

static void problem(const struct report_entry *entry, struct text *table)
{
	const struct report_result *winner = &entry->winner;
	const struct launch_score *launch = report_longest(&winner->score);

	text_appendf(table, "\n%s %s\n", entry->operation, entry->title);
	if (!entry->has_winner) {
		text_append(table, "  no candidate has a time\n");
		outcomes(entry, table);
		return;
	}
	text_append(table, "  ");
	time_of(table, winner->time_us);
	if (winner->tflops > 0)
		text_appendf(table, ", %.1f TFLOP/s", winner->tflops);
	text_appendf(table, "%s: %s {%s}\n", entry->predicted ? " (predicted)" : "", winner->family,
		winner->configuration);
	if (!entry->predicted && winner->verified != VERIFIED_REFERENCE)
		text_appendf(table, "  verified: %s (compared with %s)\n",
			verified_names[winner->verified], verified_words[winner->verified]);
	if (launch)
		text_appendf(table,
			"  %.0f tiles in %.0f wave%s (%.2f exactly), %d block%s per SM (%s), bound "
			"by "
			"%s\n",
			launch->tiles, launch->waves, launch->waves > 1 ? "s" : "",
			launch->waves_exact, launch->blocks_per_sm,
			launch->blocks_per_sm == 1 ? "" : "s",
			occupancy_limiter_names[launch->occupancy_limiter],
			bound_kind_names[launch->bound]);
	for (size_t i = 0; i < entry->family_count; i++) {
		if (strcmp(entry->families[i].family, winner->family) == 0)
			continue;
		text_appendf(table, "  best of %s: ", entry->families[i].family);
		time_of(table, entry->families[i].time_us);
		text_appendf(table, ", %.2f times as long\n",
			entry->families[i].time_us / winner->time_us);
	}
	outcomes(entry, table);
	model(entry, table);
}

static void compare(const struct report *report, struct text *table)
{
	struct comparison comparison;

	comparison_make(report, &comparison);
	if (comparison.count)
		text_append(table, "\nThe same problem in several files:\n");
	for (size_t i = 0; i < comparison.count; i++) {
		const struct comparison_row *row = &comparison.rows[i];

		text_appendf(table, "  %s %s: %s ", row->first->operation, row->first->title,
			row->first->label);
		time_of(table, row->first->winner.time_us);
		text_appendf(table, ", %s ", row->second->label);
		time_of(table, row->second->winner.time_us);
		text_appendf(table, ": x%.3f, %s\n", row->ratio, row->verdict);
	}
	comparison_release(&comparison);
}

static void report_table(const struct report *report, struct text *table)
{
	for (size_t i = 0; i < report->entry_count; i++) {
		const struct report_entry *entry = &report->entries[i];

		if (!i || entry->label != report->entries[i - 1].label ||
			entry->run != report->entries[i - 1].run) {
			text_append(table, i ? "\n" : "");
			heading(entry, table);
		}
		problem(entry, table);
	}
	compare(report, table);
}

/* ---- the command ---- */
static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct report_command_options *options = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->paths);
	struct report_options wanted = {.paths = positional->items,
		.path_count = positional->count,
		.template_folders = folders.templates,
		.config_folders = folders.configs};
	CLEANUP(report_release) struct report report = {0};
	CLEANUP(text_release) struct text text = {0};

	TRY(common_expect_output("output", options->output, positional, err));
	if (options->svg) {
		CLEANUP(memory_free) char *path = string_format("%s/figure.svg", options->svg);

		TRY(directory_make(options->svg, err));
		TRY(common_expect_output("svg", path, NULL, err));
	}
	TRY(report_open(&wanted, &report, err));
	for (size_t i = 0; i < report.source_count; i++)
		common_journal_notice(&report.sources[i].journal);
	if (report.notice)
		fprintf(stderr, "notice: %s\n", report.notice);
	if (options->output)
		html_page(&report, &text);
	else if (!options->svg)
		report_table(&report, &text);
	if (options->output || !options->svg)
		TRY(common_write(options->output ? options->output : "-", text.data, err));
	return options->svg ? write_figures(&report, options->svg, err) : STATUS_OK;
}

const struct command command_report = {
	.name = "report",
	.summary = "Show tuned files and journals as one HTML page, as SVG figures, or as a table",
	.arguments = "TUNED.json|JOURNAL... [-o report.html] [--svg DIR]",
	.description =
		"The answer first, then why: heat map over tile shapes, waves, roofline,\n"
		"predicted against measured, search progress, outcomes with reasons, all\n"
		"candidates, device and toolchain. One file, nothing from the network. A journal\n"
		"beside a tuned file (X.journal.jsonl[.gz] beside X.json) is read with it;\n"
		"several files are compared.",
	.examples = "  tiletune report tuned.json -o report.html\n"
		    "  tiletune report monday.json tuesday.json -o both.html --svg figures",
	.options = report_option_table,
	.options_size = sizeof(struct report_command_options),
	.positional_min = 1,
	.positional_max = 64,
	.run = run,
};
