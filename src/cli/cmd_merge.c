/* SPDX-License-Identifier: MIT
 *
 * tiletune merge: merges several tuned files into one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/common.h"
#include "format/merge.h"

struct merge_options {
	struct common_options common;
	const char *output;
};

#define AT(member) offsetof(struct merge_options, member)

static const struct option merge_option_table[] = {
	OPTION("output", 'o', STRING, output, "FILE"),
	COMMON_OPTIONS,
	{0},
};

static enum status write_merged(const struct merge_options *options, struct tuned *merged,
	const struct merge_summary *summary, size_t files, struct error *err)
{
	const bool to_stdout = strcmp(options->output, "-") == 0;
	const bool machine = options->common.json || to_stdout;

	if (!to_stdout)
		TRY(tuned_replace(merged, options->output, err));
	if (machine)
		TRY(common_write_tuned(merged, err));
	common_print(machine ? stderr : stdout,
		"%s: %zu %s of %zu files; in several files: %zu equal, %zu measured and predicted, "
		"%zu decided by their dates\n",
		options->output, merged->entry_count,
		merged->entry_count == 1 ? "entry" : "entries", files, summary->equal,
		summary->outranked, summary->conflicts);
	return STATUS_OK;
}

static enum status merge_run(
	void *options_, const struct string_list *positional, struct error *err)
{
	const struct merge_options *options = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(file_unlock) struct file_lock lock = {.fd = -1};
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	CLEANUP(tuned_release) struct tuned merged = {0};
	struct merge_summary summary = {0};
	bool is_complete;

	if (!options->output)
		return error_set(
			err, STATUS_BAD_INPUT, "merge: -o FILE, the output file, is missing");
	TRY(common_expect_output("output", options->output, NULL, err));
	/* the output may also be one of the inputs */
	if (strcmp(options->output, "-") != 0)
		TRY(file_lock(options->output, &lock, err));
	is_complete = catalogue_load(folders.templates, NULL, &catalogue, NULL) == STATUS_OK;
	for (size_t i = 0; i < positional->count; i++)
		TRY(tuned_merge_file(&merged, positional->items[i], is_complete ? &catalogue : NULL,
			&summary, err));
	return write_merged(options, &merged, &summary, positional->count, err);
}

const struct command command_merge = {
	.name = "merge",
	COMMAND_OPTIONS(struct merge_options, merge_option_table),
	.positional_min = 1,
	.positional_max = 4096,
	.run = merge_run,
};
