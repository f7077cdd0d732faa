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
#include "format/tuned_index.h"

struct merge_options {
	struct common_options common;
	const char *output, *folder, *on_conflict;
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
	OPTION("update", 0, STRING, folder, "FOLDER",
		"instead: into this folder, one file for each GPU model"),
	CHOICE("on-conflict", 0, STRING, on_conflict, "RULE",
		"whose entry of a problem stays; default newest", rule_choice),
	COMMON_OPTIONS,
	{0},
};

/* What is joined: for each GPU model a tuned file and where it goes. */
struct merging {
	const struct merge_options *options;
	struct catalogue catalogue;
	bool complete; /* the catalogue is there */
	struct tuned *files;
	size_t count, capacity;
	struct merge_summary summary;
};

static void merging_release(struct merging *merging)
{
	for (size_t i = 0; i < merging->count; i++)
		tuned_release(&merging->files[i]);
	free(merging->files);
	catalogue_release(&merging->catalogue);
}

/* An entry from before its operation had all of its keys is one of today's problem. */
static enum status load(
	const struct merging *merging, const char *path, struct tuned *tuned, struct error *err)
{
	TRY(tuned_load(path, tuned, err));
	if (merging->complete)
		tuned_complete(tuned, &merging->catalogue);
	return STATUS_OK;
}

/* The file of this GPU model; the first one becomes it, where that is -o's. Takes next. */
static enum status find_file(
	struct merging *merging, struct tuned *next, struct tuned **into, struct error *err)
{
	const char *folder = merging->options->folder;
	CLEANUP(memory_free) char *path = NULL;

	for (size_t i = 0; i < merging->count; i++)
		if (!folder || gpu_model_same(&merging->files[i].device, &next->device)) {
			*into = &merging->files[i];
			return STATUS_OK;
		}
	ARRAY_GROW(merging->files, merging->count, merging->capacity);
	*into = &merging->files[merging->count++];
	**into = (struct tuned){0};
	path = folder ? gpu_model_path(folder, &next->device) : NULL;
	if (path && file_exists(path))
		return load(merging, path, *into, err);
	**into = *next;
	*next = (struct tuned){0};
	if (path) {
		free((*into)->path);
		(*into)->path = string_copy(path);
	}
	return STATUS_OK;
}

static enum status add_file(struct merging *merging, const char *path, struct error *err)
{
	CLEANUP(tuned_release) struct tuned next = {0};
	const char *rule = merging->options->on_conflict;
	struct tuned *into;

	TRY(load(merging, path, &next, err));
	TRY(find_file(merging, &next, &into, err));
	if (!next.path)
		return STATUS_OK;
	return tuned_merge(into, &next,
		(enum merge_rule)(rule ? name_find(rule, rule_names) : MERGE_NEWEST),
		&merging->summary, err);
}

static enum status write_merged(struct merging *merging, size_t files, struct error *err)
{
	const struct merge_options *options = merging->options;
	const bool machine =
		options->common.json || (options->output && strcmp(options->output, "-") == 0);
	const struct merge_summary *summary = &merging->summary;

	for (size_t i = 0; i < merging->count; i++) {
		struct tuned *tuned = &merging->files[i];
		const char *path = options->folder ? tuned->path : options->output;

		if (strcmp(path, "-") != 0)
			TRY(tuned_replace(tuned, path, err));
		if (machine)
			TRY(common_write_record(&tuned_record, tuned, err));
		fprintf(machine ? stderr : stdout, "%s: %zu %s%s", path, tuned->entry_count,
			tuned->entry_count == 1 ? "entry" : "entries",
			options->folder ? "\n" : " of ");
	}
	fprintf(machine ? stderr : stdout,
		"%zu files; in several files: %zu equal, %zu measured and predicted, %zu "
		"decided by the rule %s\n",
		files, summary->equal, summary->outranked, summary->conflicts,
		options->on_conflict ? options->on_conflict : rule_names[MERGE_NEWEST]);
	return STATUS_OK;
}

static enum status expect_place(const struct merge_options *options, struct error *err)
{
	if (!options->output == !options->folder)
		return error_set(err, STATUS_BAD_INPUT,
			"merge: expected -o FILE or --update FOLDER, found %s",
			options->output ? "both" : "none");
	if (options->output)
		return common_expect_output("output", options->output, NULL, err);
	if (!directory_exists(options->folder))
		return error_set(err, STATUS_BAD_INPUT,
			"--update: expected a folder, found none at %s", options->folder);
	if (options->common.json)
		return error_set(err, STATUS_BAD_INPUT,
			"--json: expected -o, as --update may write several files");
	return STATUS_OK;
}

/* Now, as those who read the folder may not be allowed to write to it. */
static enum status update_index(const char *folder, struct error *err)
{
	CLEANUP(tuned_index_release) struct tuned_index index = {0};

	return tuned_index_add_folder(&index, folder, NULL, err);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct merge_options *options = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(file_unlock) int lock = -1;
	CLEANUP(merging_release) struct merging merging = {.options = options};
	CLEANUP(memory_free) char *inside = NULL;

	TRY(expect_place(options, err));
	/* the output may be one of those that are read */
	inside = options->folder ? path_join(options->folder, "any") : string_copy(options->output);
	if (strcmp(inside, "-") != 0)
		TRY(file_lock(inside, &lock, err));
	merging.complete =
		catalogue_load(folders.templates, NULL, &merging.catalogue, NULL) == STATUS_OK;
	for (size_t i = 0; i < positional->count; i++)
		TRY(add_file(&merging, positional->items[i], err));
	TRY(write_merged(&merging, positional->count, err));
	return options->folder ? update_index(options->folder, err) : STATUS_OK;
}

const struct command command_merge = {
	.name = "merge",
	.summary = "Join tuned files of one GPU model, as of shards of a suite",
	.arguments = "TUNED.json... -o FILE | --update FOLDER",
	.description =
		"Files of different GPU models are refused (exit 2), and nothing is written;\n"
		"with --update each goes into its model's file (h200-sxm-132.json: sheet or name,\n"
		"and SMs), which is made or gets what it lacks; tune --known reads such a folder.\n"
		"Where two files have an entry of one problem:\n"
		"  - a measured one stays, a predicted one goes, whatever the rule;\n"
		"  - of two measured or two predicted ones --on-conflict says which stays:\n"
		"    newest, of the later run that was not stopped (default); fastest, with the\n"
		"    faster winner; first, of the file named first; fail: none, the command fails\n"
		"    (exit 2) and nothing is written;\n"
		"  - families that only the other one tuned are added, and the fastest of all\n"
		"    wins if it is ahead by more than 1%.\n"
		"Runs of all files are kept, so that every entry says where it was measured.",
	.examples = "  tiletune merge shard-*.json -o tuned.json\n"
		    "  tiletune merge tuned.json --update /shared/tuned",
	.options = merge_option_table,
	.options_size = sizeof(struct merge_options),
	.positional_min = 1,
	.positional_max = 4096,
	.run = run,
};
