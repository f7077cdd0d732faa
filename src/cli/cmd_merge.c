/* SPDX-License-Identifier: MIT
 *
 * tiletune merge: one tuned file out of several.
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
	const char *output, *on_conflict;
};

#define AT(member) offsetof(struct merge_options, member)

static const char *const rule_names[] = {[MERGE_NEWEST] = "newest",
	[MERGE_FASTEST] = "fastest",
	[MERGE_FIRST] = "first",
	[MERGE_FAIL] = "fail",
	NULL};

static const char *rule_choice(size_t index, const char **summary)
{
	(void)summary;
	return rule_names[index];
}

static const struct option merge_option_table[] = {
	OPTION("output", 'o', STRING, output, "FILE",
		"the merged file; may be one of those that are read"),
	CHOICE("on-conflict", 0, STRING, on_conflict, "RULE",
		"whose entry of a problem stays; default newest", rule_choice),
	COMMON_OPTIONS,
	{0},
};

static enum status write_merged(const struct merge_options *options, struct tuned *tuned,
	size_t files, const struct merge_summary *summary, struct error *err)
{
	bool machine = strcmp(options->output, "-") == 0 || options->common.json;
	const size_t count = tuned->entry_count;

	if (strcmp(options->output, "-") != 0)
		TRY(tuned_replace(tuned, options->output, err));
	if (machine)
		TRY(common_write_record(&tuned_record, tuned, err));
	fprintf(machine ? stderr : stdout,
		"%s: %zu %s of %zu files; in several files: %zu equal, %zu measured and "
		"predicted, %zu decided by the rule %s\n",
		options->output, count, count == 1 ? "entry" : "entries", files, summary->equal,
		summary->outranked, summary->conflicts,
		options->on_conflict ? options->on_conflict : rule_names[MERGE_NEWEST]);
	return STATUS_OK;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct merge_options *options = options_;
	const int rule =
		options->on_conflict ? name_find(options->on_conflict, rule_names) : MERGE_NEWEST;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	CLEANUP(file_unlock) int lock = -1;
	CLEANUP(tuned_release) struct tuned merged = {0};
	struct merge_summary summary = {0};
	bool complete;

	if (!options->output)
		return error_set(err, STATUS_BAD_INPUT, "merge: expected -o FILE, found none");
	TRY(common_expect_output("output", options->output, err));
	/* the output may be one of those that are read */
	if (strcmp(options->output, "-") != 0)
		TRY(file_lock(options->output, &lock, err));
	/* an entry from before its operation had all of its keys is one of today's problem */
	complete = catalogue_load(folders.templates, NULL, &catalogue, NULL) == STATUS_OK;
	TRY(tuned_load(positional->items[0], &merged, err));
	if (complete)
		tuned_complete(&merged, &catalogue);
	for (size_t i = 1; i < positional->count; i++) {
		CLEANUP(tuned_release) struct tuned next = {0};

		TRY(tuned_load(positional->items[i], &next, err));
		if (complete)
			tuned_complete(&next, &catalogue);
		TRY(tuned_merge(&merged, &next, (enum merge_rule)rule, &summary, err));
	}
	return write_merged(options, &merged, positional->count, &summary, err);
}

const struct command command_merge = {
	.name = "merge",
	.summary = "Join tuned files of one GPU model, as of shards of a suite",
	.arguments = "TUNED.json... -o FILE",
	.description =
		"Files of different GPU models are refused (exit 2), and nothing is written.\n"
		"Where two files have an entry of one problem:\n"
		"  - a measured one stays, a predicted one goes, whatever the rule;\n"
		"  - of two measured or two predicted ones --on-conflict says which stays:\n"
		"    newest, of the later run (default); fastest, with the faster winner; first,\n"
		"    of the file named first; fail: none, the command fails (exit 2) and nothing\n"
		"    is written;\n"
		"  - families that only the other one tuned are added, and the fastest of all\n"
		"    wins if it is ahead by more than 1%.\n"
		"Runs of all files are kept, so that every entry says where it was measured.",
	.examples = "  tiletune merge shard-*.json -o tuned.json",
	.options = merge_option_table,
	.options_size = sizeof(struct merge_options),
	.positional_min = 1,
	.positional_max = 4096,
	.run = run,
};
