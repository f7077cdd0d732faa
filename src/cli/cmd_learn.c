/* SPDX-License-Identifier: MIT
 *
 * tiletune learn: what journals teach of a GPU beyond physics.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_write.h"
#include "cli/common.h"
#include "learn/own.h"

struct learn_options {
	struct common_options common;
	const char *output, *cache, *drop;
};

#define AT(member) offsetof(struct learn_options, member)

static const struct option learn_option_table[] = {
	OPTION("output", 'o', STRING, output, "FILE",
		"write what was learned there; else it is this machine's own from now on"),
	OPTION("drop", 0, STRING, drop, "DEVICE",
		"forget what was learned here of a device (`tiletune devices` lists them)"),
	OPTION("cache-dir", 0, STRING, cache, "DIR",
		"where what was learned here is kept; default: the user's"),
	COMMON_OPTIONS,
	{0},
};

struct learning {
	char *own_folder; /* NULL: nothing is kept */
	struct folders folders;
	struct catalogue catalogue;
	struct device_spec *device;
	struct gpu_model model; /* of the first run */
	struct training training;
	struct learned_file file;
};

/* All runs are of the GPU model of the first. */
static enum status expect_device(struct learning *learning, const struct journal_record *record,
	const char *path, struct error *err)
{
	for (size_t i = 0; i < record->run_count; i++) {
		const struct gpu_model *model = &record->runs[i].device;

		if (!learning->device) {
			record_copy(&gpu_model_record, model, &learning->model);
			TRY(common_device_spec(
				NULL, model, &learning->folders, &learning->device, err));
			learning->training.device = learning->device;
		}
		if (!gpu_model_same(model, &learning->model))
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected runs on %s, found one on %s", path,
				learning->model.name, model->name);
	}
	return STATUS_OK;
}

static enum status add_timings(void *context, const struct timings *timings, struct error *err)
{
	struct learning *learning = context;

	if (learning->own_folder)
		TRY(own_add(learning->own_folder, learning->device->name, timings, err));
	return training_add(&learning->training, timings, err);
}

static enum status add_journal(struct learning *learning, const char *path, struct error *err)
{
	CLEANUP(journal_record_release) struct journal_record record = {0};

	TRY(journal_read(path, &record, err));
	common_journal_notice(&record);
	TRY(expect_device(learning, &record, path, err));
	return timings_of_journal(&record, add_timings, learning, err);
}

static void print_learned(const struct learned_file *file)
{
	printf("%-28s %8s %9s   of problems left out, first predicted / best\n"
	       "%-28s %8s %9s %10s %18s %18s\n",
		"", "", "", "family", "timings", "problems", "left out", "physics (lowest)",
		"learned (lowest)");
	for (size_t i = 0; i < file->family_count; i++) {
		const struct learned_family *family = &file->families[i];
		const struct left_out *left = &family->left_out;

		printf("%-28s %8" PRIu64 " %9" PRIu64 " %10" PRIu64
		       "    %.4f (%.4f)    %.4f (%.4f)\n",
			family->name, family->timings, family->problems, left->problems,
			left->physics_mean, left->physics_lowest, left->learned_mean,
			left->learned_lowest);
	}
}

static void learning_release(struct learning *learning)
{
	free(learning->own_folder);
	learned_file_release(&learning->file);
	training_release(&learning->training);
	gpu_model_release(&learning->model);
	device_spec_free(learning->device);
	catalogue_release(&learning->catalogue);
	folders_release(&learning->folders);
}

/* In the file that was named, or here. */
static enum status keep(struct learning *learning, const char *output, struct error *err)
{
	CLEANUP(learned_release) struct learned shipped = {0};
	CLEANUP(json_release)
	struct json *json = record_to_json(&learned_file_record, &learning->file);

	if (output)
		return common_write_json(output, json, err);
	TRY(learned_open(LEARNED_SHIPPED, learning->folders.configs, NULL, learning->device->name,
		&learning->catalogue, &shipped, err));
	return own_fit(learning->own_folder, learning->device, &learning->catalogue, &shipped, err);
}

static enum status drop(const struct learn_options *options, struct error *err)
{
	CLEANUP(memory_free) char *folder = NULL;
	bool found;

	TRY(path_cache_folder(options->cache, &folder, err));
	TRY(own_drop(folder, options->drop, &found, err));
	return found ? STATUS_OK
		     : error_set(err, STATUS_BAD_INPUT,
			       "--drop: expected a device of which something was learned in %s, "
			       "found %s",
			       folder, options->drop);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct learn_options *options = options_;
	CLEANUP(learning_release)
	struct learning learning = {.folders = folders_find(&options->common.paths)};

	TRY(common_expect_output("output", options->output, positional, err));
	if (options->drop)
		return drop(options, err);
	if (!positional->count)
		return error_set(err, STATUS_BAD_INPUT,
			"learn: expected journals, or --drop DEVICE, found neither");
	if (!options->output)
		TRY(path_cache_folder(options->cache, &learning.own_folder, err));
	TRY(catalogue_load(learning.folders.templates, NULL, &learning.catalogue, err));
	learning.training.catalogue = &learning.catalogue;
	for (size_t i = 0; i < positional->count; i++)
		TRY(add_journal(&learning, positional->items[i], err));
	if (!learning.training.count)
		return error_set(err, STATUS_BAD_INPUT,
			"learn: expected timings of families that are there, found none");
	training_fit(&learning.training, true, &learning.file);
	if (options->common.json)
		TRY(common_write_record(&learned_file_record, &learning.file, err));
	else
		print_learned(&learning.file);
	return keep(&learning, options->output, err);
}

const struct command command_learn = {
	.name = "learn",
	.summary = "Learn from journals how far measured times are from the predicted ones",
	.arguments = "JOURNAL... [-o FILE] | --drop DEVICE",
	.description =
		"Of each family with timings enough: trees over problem, configuration and score\n"
		"that predict by how much the physics is off on this GPU. What is printed comes\n"
		"from problems that were left out. Without -o it is kept beside the kernels'\n"
		"cache, where every `tiletune tune` on that GPU adds what it measures.",
	.examples = "  tiletune learn tuned.journal.jsonl -o configs/learned/my-gpu.json",
	.options = learn_option_table,
	.options_size = sizeof(struct learn_options),
	.positional_max = 4096,
	.run = run,
};
