/* SPDX-License-Identifier: MIT
 *
 * tiletune lookup: prints the configuration that a tuned file has for a problem.
 */
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/common.h"
#include "score/learned.h"
#include "advise/lookup.h"

struct lookup_options {
	struct common_options common;
	struct string_list problems;
	const char *device, *objective;
	bool any_device, quick, no_learned, bits, assume;
};

#define AT(member) offsetof(struct lookup_options, member)

static const struct option lookup_option_table[] = {
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM"),
	OPTION("device", 'd', STRING, device, "DEVICE"),
	OPTION("any-device", 0, FLAG, any_device, NULL),
	CHOICE("objective", 0, STRING, objective, "WHAT", common_objective_choice),
	OPTION("bits", 0, FLAG, bits, NULL),
	OPTION("assume", 0, FLAG, assume, NULL),
	OPTION("quick", 0, FLAG, quick, NULL),
	OPTION("no-learned", 0, FLAG, no_learned, NULL),
	OPTION("verbose", 'v', FLAG, common.verbose, NULL),
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
	error_set(err, STATUS_BAD_INPUT, "%s: the file is for %s, not for %s", tuned->path,
		tuned->device.name, (*spec)->title);
	return error_hint(
		err, "accept entries that were tuned on another GPU model with --any-device");
}

static void print_answer(const struct lookup_answer *answer, const struct problem *problem)
{
	CLEANUP(memory_free) char *configuration = NULL, *source = NULL, *words = NULL;

	common_print(stdout, "%s %s\n  %s: %s\n", problem->operation->name, problem->title,
		lookup_grade_names[answer->grade], answer->why);
	if (answer->grade == LOOKUP_REFUSED)
		return;
	configuration = named_values_text(&answer->result.configuration);
	source = prediction_basis_text(answer->basis);
	common_print(stdout, "  %s {%s}\n", answer->result.result.family, configuration);
	if (!(answer->predicted_us > 0)) /* no model can predict a program */
		common_print(stdout, "  not predicted");
	else
		common_print(stdout, "  predicted %.2f us (%s)", answer->predicted_us, source);
	if (isfinite(answer->model_best_us) && answer->predicted_us > 0)
		common_print(stdout, ", the model's best %.2f us", answer->model_best_us);
	if (isfinite(answer->default_us) && answer->predicted_us > 0)
		common_print(stdout, ", the family's default %.2f us", answer->default_us);
	putchar('\n');
	words = verified_words(
		answer->from->winner.result.verified, answer->from->winner.result.by_program);
	if (!answer->from->predicted && words)
		common_print(stdout, "  %s\n", words);
	if (answer->grade != LOOKUP_EXACT && answer->predicted_us > 0)
		common_print(stdout, "  expected loss %.1f%%\n", 100 * answer->expected_loss_ratio);
}

static void put_answer(struct tuned *answers, const struct tuned *file,
	const struct lookup_answer *answer, const struct problem *problem)
{
	CLEANUP(tuned_entry_release) struct tuned_entry entry = lookup_entry(answer, problem);
	const char *kept;

	tuned_copy_run(answers, file, entry.run);
	tuned_put_entry(answers, &entry, NULL, &kept);
}

static enum status answer_all(const struct lookup_request *request,
	const struct problem_list *problems, bool as_json, struct tuned *answers, struct error *err)
{
	CLEANUP(text_release) struct text reasons = {0};
	size_t refused = 0;

	for (size_t i = 0; i < problems->count; i++) {
		CLEANUP(lookup_answer_release) struct lookup_answer answer = {0};

		TRY(lookup_find(request, problems->items[i], &answer, err));
		if (answer.grade == LOOKUP_REFUSED && !refused++)
			text_appendf(&reasons, "; the first: %s", answer.why);
		if (!as_json)
			print_answer(&answer, problems->items[i]);
		else if (answer.grade != LOOKUP_REFUSED)
			put_answer(answers, request->tuned, &answer, problems->items[i]);
	}
	if (as_json)
		TRY(common_write_tuned(answers, err));
	if (!refused)
		return STATUS_OK;
	error_set(err, STATUS_FAILED, "%s: no configuration fits %zu of %zu problems%s",
		request->tuned->path, refused, problems->count,
		as_json ? text_string(&reasons) : "");
	return error_hint(err, "find and add one with `tiletune tune%s`%s",
		request->bits ? " --bits invariant=KEY" : "",
		request->bits && !request->assume
			? "; or accept unmeasured problems of the class with --assume"
			: "");
}

/* Loads the operation from the templates, or else from the own kernel NAME.json next to the tuned
 * file. */
static enum status load_operation(const struct folders *folders, const char *tuned,
	const char *name, struct catalogue *catalogue, const struct operation **operation,
	struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(tuned);
	CLEANUP(memory_free) char *file = string_format("%s/%s.json", folder, name);

	if (catalogue_load(folders->templates, name, catalogue, err) == STATUS_OK &&
		catalogue_operation(catalogue, name, operation, err) == STATUS_OK)
		return STATUS_OK;
	catalogue_release(catalogue);
	if (!file_exists(file) ||
		catalogue_load(folders->templates, file, catalogue, NULL) != STATUS_OK)
		return err->status;
	*err = (struct error){0};
	return catalogue_operation(catalogue, file, operation, err);
}

static enum status lookup_run(
	void *options_, const struct string_list *positional, struct error *err)
{
	const struct lookup_options *options = options_;
	CLEANUP(folders_release)
	struct folders folders = folders_of(&options->common.paths, positional->items[0]);
	CLEANUP(tuned_release) struct tuned tuned = {0}, answers = {0};
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	CLEANUP(device_spec_release) struct device_spec *spec = NULL;
	CLEANUP(learned_release) struct learned learned = {0};
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	const char *path = positional->items[0];
	const struct operation *operation;
	struct lookup_request request = {.catalogue = &catalogue,
		.tuned = &tuned,
		.objective = common_objective(options->objective),
		.bits = options->bits || options->assume,
		.assume = options->assume,
		.without_best = options->quick};

	TRY(common_expect_tuned(path, err));
	TRY(load_operation(&folders, path, positional->items[1], &catalogue, &operation, err));
	catalogue_show_defaults(&catalogue, options->common.verbose);
	TRY(common_problems(operation, &options->problems, NULL, &problems, err));
	TRY(tuned_load(path, &tuned, err));
	tuned_complete(&tuned, &catalogue);
	TRY(open_spec(options, &tuned, &folders, &spec, err));
	TRY(learned_open(&(struct learned_choice){.none = options->no_learned}, folders.configs,
		spec->name, &catalogue, &learned, err));
	spec->learned = &learned;
	request.device = spec;
	tuned_init(&answers, "", gpu_model_of(spec, spec->title));
	return answer_all(&request, &problems, options->common.json, &answers, err);
}

const struct command command_lookup = {
	.name = "lookup",
	COMMAND_OPTIONS(struct lookup_options, lookup_option_table),
	.positional_min = 2,
	.positional_max = 2,
	.run = lookup_run,
};
