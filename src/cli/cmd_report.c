/* SPDX-License-Identifier: MIT
 *
 * tiletune report: writes an HTML page, or prints a table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/file.h"
#include "cli/common.h"
#include "report/page.h"

struct report_command_options {
	struct string_list paths, libraries;
	const char *output;
	bool verbose;
};

#define AT(member) offsetof(struct report_command_options, member)

static const struct option report_option_table[] = {
	OPTION("output", 'o', STRING, output, "FILE"),
	OPTION("library", 0, STRINGS, libraries, "FILE"),
	OPTION("path", 0, PLACES, paths, "DIR"),
	OPTION("verbose", 'v', FLAG, verbose, NULL),
	{0},
};

/* Only ASCII is used, as in all terminal output. */
static void time_of(double time_us)
{
	bool in_ms = time_us >= 1e4;

	common_print(stdout, "%s %s", format_number(in_ms ? time_us / 1e3 : time_us).text,
		in_ms ? "ms" : "us");
}

static void heading(const struct report_entry *entry)
{
	const struct run *run = entry->run;

	common_print(stdout, "%s: %s", entry->label, entry->device->name);
	if (run && run->driver && *run->driver)
		common_print(stdout, ", driver %s", run->driver);
	if (run && run->nvrtc)
		common_print(stdout, ", %s", run->nvrtc);
	if (run)
		common_print(stdout, ", %s", run->date);
	common_print(stdout, "\n");
}

static void outcomes(const struct report_entry *entry)
{
	CLEANUP(text_release) struct text list = {0};

	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (entry->outcomes[i])
			text_appendf(&list, "%s%s %zu", list.length ? ", " : "",
				outcome_name((enum outcome)i), entry->outcomes[i]);
	if (!list.length)
		return;
	common_print(stdout, "  outcomes: %s", list.data);
	if (entry->legal > 0)
		common_print(stdout, " of %.0f legal", entry->legal);
	common_print(stdout, "\n");
}

static void model(const struct report_entry *entry)
{
	const struct tuned_model *quality = entry->tuned ? entry->tuned->model : NULL;

	if (!quality || !quality->measured)
		return;
	common_print(stdout,
		"  model: rank correlation %.2f over %" PRIu64
		" measured, the fastest is its number "
		"%" PRIu64 "\n",
		quality->rank_correlation, quality->measured, quality->rank_of_best);
}

static void problem(const struct report_entry *entry)
{
	const struct result *winner = entry->winner;
	const struct tuned_entry *tuned = entry->tuned;
	const struct launch_score *launch = NULL;
	CLEANUP(memory_free) char *words = NULL;

	common_print(stdout, "\n%s %s\n", entry->operation, entry->title);
	if (!winner) {
		common_print(stdout, "  no candidate has a time\n");
		outcomes(entry);
		return;
	}
	if (winner->score.launch_count)
		launch = &winner->score.launches[winner->score.longest];
	common_print(stdout, "  ");
	time_of(winner->time.median);
	if (entry->tflops > 0)
		common_print(stdout, ", %.1f TFLOP/s", entry->tflops);
	common_print(stdout, "%s: %s {%s}\n", entry->predicted ? " (predicted)" : "",
		winner->family, entry->configuration);
	if (tuned && tuned->l2 != L2_UNKNOWN)
		common_print(stdout, "  timed in a %s L2\n", l2_state_names[tuned->l2]);
	words = verified_words(winner->verified, winner->by_program);
	if (!entry->predicted && words)
		common_print(stdout, "  %s\n", words);
	if (launch)
		common_print(stdout,
			"  %.0f tiles in %.2f waves, %d block%s per SM (%s), bound "
			"by "
			"%s\n",
			launch->tiles, launch->waves_exact, launch->blocks_per_sm,
			launch->blocks_per_sm == 1 ? "" : "s",
			occupancy_limiter_names[launch->occupancy_limiter],
			bound_kind_names[launch->bound]);
	for (size_t i = 0; tuned && i < tuned->family_count; i++) {
		const struct tuned_row *row = &tuned->families[i];

		common_print(stdout, "  best of %s: ", row->result.family);
		time_of(row->result.time.median);
		common_print(stdout, ", %.2f times as long\n",
			row->result.time.median / winner->time.median);
	}
	outcomes(entry);
	model(entry);
}

static void report_table(const struct report *report)
{
	for (size_t i = 0; i < report->entry_count; i++) {
		const struct report_entry *entry = &report->entries[i];

		if (!i || entry->label != report->entries[i - 1].label ||
			entry->run != report->entries[i - 1].run) {
			fputs(i ? "\n" : "", stdout);
			heading(entry);
		}
		problem(entry);
	}
}

static enum status report_run(
	void *options_, const struct string_list *positional, struct error *err)
{
	const struct report_command_options *options = options_;
	CLEANUP(folders_release)
	struct folders folders = folders_of(&options->paths, positional->items[0]);
	struct report_options wanted = {.paths = positional->items,
		.path_count = positional->count,
		.template_folders = folders.templates,
		.shows_defaults = options->verbose};
	CLEANUP(report_release) struct report report = {0};
	CLEANUP(text_release) struct text text = {0};

	TRY(common_expect_output("output", options->output, positional, err));
	TRY(report_open(&wanted, &report, err));
	for (size_t i = 0; i < report.source_count; i++)
		common_journal_notice(&report.sources[i].journal);
	if (report.notice)
		common_notice("%s", report.notice);
	if (!options->output) {
		report_table(&report);
		return STATUS_OK;
	}
	report.libraries = options->libraries.items;
	TRY(page_write(&report, folders.configs, &text, err));
	TRY(common_write(options->output, &text, err));
	common_say_wrote(options->output);
	return STATUS_OK;
}

const struct command command_report = {
	.name = "report",
	COMMAND_OPTIONS(struct report_command_options, report_option_table),
	.positional_min = 1,
	.positional_max = 64,
	.run = report_run,
};
