/* SPDX-License-Identifier: MIT
 *
 * tiletune lookup: the configuration that a tuned file has for a problem.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_write.h"
#include "cli/common.h"
#include "format/merge.h"
#include "format/tuned_index.h"
#include "learn/learned.h"
#include "lookup/lookup.h"

struct lookup_options {
	struct common_options common;
	struct string_list problems;
	const char *device, *objective;
	bool any_device, quick, no_learned;
};

#define AT(member) offsetof(struct lookup_options, member)

static const struct option lookup_option_table[] = {
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM",
		"M=4000,N=4096,K=4096,dtype=bf16; lists and ranges per key"),
	OPTION("device", 'd', STRING, device, "DEVICE",
		"that the problem is to run on: cuda:N, model:NAME; default: the file's own"),
	OPTION("any-device", 0, FLAG, any_device, NULL, "take what was tuned on another GPU model"),
	CHOICE("objective", 0, STRING, objective, "WHAT",
		"answer from entries that were tuned for it; default time",
		common_objective_choice),
	OPTION("quick", 0, FLAG, quick, NULL,
		"do not look for the model's best of all: a loss against the default only"),
	LEARNED_OPTION(no_learned),
	COMMON_OPTIONS,
	{0},
};

static enum status open_spec(const struct lookup_options *options, const struct tuned *tuned,
	const struct folders *folders, struct device_spec **spec, struct error *err)
{
	CLEANUP(gpu_model_release) struct gpu_model ours = {0};

	TRY(common_device_spec(options->device, &tuned->device, folders, spec, err));
	if (!options->device || options->any_device)
		return STATUS_OK;
	ours = gpu_model_of(*spec, (*spec)->title);
	if (gpu_model_same(&tuned->device, &ours))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "%s: expected a tuned file of %s, found one of %s",
		tuned->path, (*spec)->title, tuned->device.name);
	return error_hint(err, "--any-device takes what was tuned on another GPU model");
}

/* ---- a folder of tuned files ---- */
static enum status open_folder_spec(const struct lookup_options *options, const char *folder,
	const struct folders *folders, struct device_spec **spec, struct error *err)
{
	if (options->device)
		return common_device_spec(options->device, NULL, folders, spec, err);
	error_set(err, STATUS_BAD_INPUT,
		"%s: expected --device with a folder, which may have files of several GPU models",
		folder);
	return error_hint(err, "--device model:h200-sxm");
}

static bool is_asked(const struct tuned_index_item *item, const struct problem *problem,
	enum objective objective)
{
	return item->objective == objective && strcmp(item->problem, problem->text) == 0 &&
	       strcmp(item->operation, problem->operation->name) == 0;
}

static bool has_all(const struct tuned_index *index, const struct problem_list *problems,
	enum objective objective)
{
	bool all = true;

	for (size_t i = 0; i < problems->count && all; i++) {
		all = false;
		for (size_t k = 0; k < index->count && !all; k++)
			all = is_asked(&index->items[k], problems->items[i], objective);
	}
	return all;
}

/* Of the files of this GPU model those that have the problems; where some problem is not tuned,
 * all that have its operation: any of their configurations may be the best for it. */
static enum status load_folder(const char *folder, const struct device_spec *spec,
	const struct catalogue *catalogue, const struct problem_list *problems,
	enum objective objective, struct tuned *tuned, struct error *err)
{
	CLEANUP(tuned_index_release) struct tuned_index index = {0};
	struct gpu_model device = gpu_model_of(spec, spec->title);
	struct merge_summary summary = {0};
	const char *loaded = NULL;
	bool exact;

	tuned_init(tuned, folder, device);
	TRY(tuned_index_add_folder(&index, folder, &tuned->device, err));
	if (!index.count) {
		error_set(err, STATUS_BAD_INPUT, "%s: expected tuned files of %s, found none",
			folder, tuned->device.name);
		return error_hint(err, "--device names another GPU model");
	}
	exact = has_all(&index, problems, objective);
	for (size_t i = 0; i < index.count; i++) {
		const struct tuned_index_item *item = &index.items[i];
		CLEANUP(tuned_release) struct tuned next = {0};
		bool wanted = false;

		for (size_t k = 0; k < problems->count && !wanted; k++)
			wanted = exact ? is_asked(item, problems->items[k], objective)
				       : strcmp(item->operation,
						 problems->items[k]->operation->name) == 0;
		/* those of a file follow one another */
		if (!wanted || (loaded && strcmp(loaded, item->path) == 0))
			continue;
		loaded = item->path;
		TRY(tuned_load(item->path, &next, err));
		tuned_complete(&next, catalogue);
		TRY(tuned_merge(tuned, &next, MERGE_NEWEST, &summary, err));
	}
	return STATUS_OK;
}

static void print_answer(const struct lookup_answer *answer, const struct problem *problem)
{
	CLEANUP(memory_free) char *configuration = NULL, *source = NULL;

	printf("%s %s\n  %s: %s\n", problem->operation->name, problem->text,
		lookup_grade_names[answer->grade], answer->why);
	if (answer->grade == LOOKUP_REFUSED)
		return;
	configuration = named_values_text(&answer->result->configuration);
	source = prediction_basis_text(answer->basis);
	printf("  %s {%s}\n  predicted %.2f us (%s)", answer->result->family, configuration,
		answer->predicted_us, source);
	if (isfinite(answer->model_best_us))
		printf(", the model's best %.2f us", answer->model_best_us);
	if (isfinite(answer->default_us))
		printf(", the family's default %.2f us", answer->default_us);
	putchar('\n');
	if (!answer->from->predicted && answer->from->winner.verified != VERIFIED_REFERENCE)
		printf("  verified: %s (compared with %s)\n",
			verified_names[answer->from->winner.verified],
			verified_words[answer->from->winner.verified]);
	if (answer->grade == LOOKUP_NEAREST)
		printf("  expected loss %.1f%%\n", 100 * answer->expected_loss_ratio);
}

static enum status answer_all(const struct lookup_request *request,
	const struct problem_list *problems, bool as_json, struct lookup_document *document,
	struct error *err)
{
	size_t refused = 0;

	document->answers = memory_zeroed(problems->count + 1, sizeof(*document->answers));
	for (size_t i = 0; i < problems->count; i++) {
		struct lookup_answer *answer = &document->answers[i];

		TRY(lookup_find(request, problems->items[i], answer, err));
		document->answer_count++;
		refused += answer->grade == LOOKUP_REFUSED;
		if (!as_json)
			print_answer(answer, problems->items[i]);
	}
	/* that something is refused is in the answer, too */
	if (as_json)
		TRY(common_write_record(&lookup_document_record, document, err));
	if (!refused)
		return STATUS_OK;
	error_set(err, STATUS_FAILED,
		"%s: expected a configuration that fits, found none for %zu of %zu "
		"problems",
		request->tuned->path, refused, problems->count);
	return error_hint(err, "`tiletune tune` finds and adds it");
}

static void document_release(struct lookup_document *document)
{
	for (size_t i = 0; i < document->answer_count; i++)
		lookup_answer_release(&document->answers[i]);
	free(document->answers);
	gpu_model_release(&document->device);
}

static enum status run_lookup(const struct lookup_options *options, const char *path,
	const struct problem_list *problems, const struct lookup_request *request,
	struct error *err)
{
	CLEANUP(document_release)
	struct lookup_document document = {
		.file = path, .device = gpu_model_of(request->device, request->device->title)};

	return answer_all(request, problems, options->common.json, &document, err);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct lookup_options *options = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(tuned_release) struct tuned tuned = {0};
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	CLEANUP(device_spec_release) struct device_spec *spec = NULL;
	CLEANUP(learned_release) struct learned learned = {0};
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	const char *path = positional->items[0];
	const struct operation *operation;
	struct lookup_request request = {.catalogue = &catalogue,
		.tuned = &tuned,
		.objective = common_objective(options->objective),
		.without_best = options->quick};

	if (!directory_exists(path))
		TRY(tuned_load(path, &tuned, err));
	TRY(catalogue_load(folders.templates, positional->items[1], &catalogue, err));
	TRY(catalogue_operation(&catalogue, positional->items[1], &operation, err));
	TRY(common_problems(operation, &options->problems, NULL, "lookup",
		"-p M=4096,N=4096,K=4096,dtype=bf16", &problems, err));
	if (tuned.path) {
		tuned_complete(&tuned, &catalogue);
		TRY(open_spec(options, &tuned, &folders, &spec, err));
	} else {
		TRY(open_folder_spec(options, path, &folders, &spec, err));
		TRY(load_folder(path, spec, &catalogue, &problems, request.objective, &tuned, err));
	}
	TRY(learned_open(options->no_learned ? LEARNED_NONE : LEARNED_ALL, folders.configs, NULL,
		spec->name, &catalogue, &learned, err));
	spec->learned = &learned;
	request.device = spec;
	return run_lookup(options, path, &problems, &request, err);
}

const struct command command_lookup = {
	.name = "lookup",
	.summary = "Find the best configuration of a tuned file for a problem, tuned or not",
	.arguments = "TUNED.json|FOLDER OPERATION -p PROBLEM...",
	.description =
		"Exact: the file has the problem. Nearest by model: of all configurations in the\n"
		"file that are legal for the problem, the one that the model predicts best,\n"
		"never one that is predicted slower than its family's default; with the expected\n"
		"loss against the model's best of all. The model is corrected by what timings\n"
		"on the GPU taught (configs/learned). Refused (exit code 1): no configuration "
		"fits.\nOf a FOLDER all tuned files of --device are asked; where they have all "
		"problems,\nonly files that have them are read (an index says which).",
	.examples = "  tiletune lookup tuned.json gemm -p M=4000,N=4096,K=4096,dtype=bf16 --json",
	.options = lookup_option_table,
	.options_size = sizeof(struct lookup_options),
	.positional_min = 2,
	.positional_max = 2,
	.run = run,
};
