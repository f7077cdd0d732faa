/* SPDX-License-Identifier: MIT
 *
 * tiletune lookup: the configuration that a tuned file has for a problem.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_write.h"
#include "cli/common.h"
#include "lookup/lookup.h"

struct lookup_options {
	struct common_options common;
	struct string_list problems;
	const char *device, *objective;
	bool any_device, quick;
};

#define AT(member) offsetof(struct lookup_options, member)

static const struct option lookup_option_table[] = {
	{"problem", 'p', OPTION_STRINGS, AT(problems), "PROBLEM",
		"M=4000,N=4096,K=4096,dtype=bf16; lists and ranges per key", NULL},
	{"device", 'd', OPTION_STRING, AT(device), "DEVICE",
		"that the problem is to run on: cuda:N, model:NAME; default: the file's own", NULL},
	{"any-device", 0, OPTION_FLAG, AT(any_device), NULL,
		"take what was tuned on another GPU model", NULL},
	{"objective", 0, OPTION_STRING, AT(objective), "WHAT",
		"answer from entries that were tuned for it; default time",
		common_objective_choice},
	{"quick", 0, OPTION_FLAG, AT(quick), NULL,
		"do not look for the model's best of all: a loss against the default only", NULL},
	COMMON_OPTIONS(struct lookup_options),
	{0},
};

static enum status open_spec(const struct lookup_options *options, const struct tuned *tuned,
	const struct folders *folders, struct device_spec **spec, struct error *err)
{
	struct gpu_model ours;
	enum status status = common_device_spec(options->device, tuned, folders, spec, err);

	if (status != STATUS_OK || !options->device || options->any_device)
		return status;
	ours = gpu_model_of(*spec, (*spec)->title);
	if (!gpu_model_same(&tuned->device, &ours)) {
		error_set(err, STATUS_BAD_INPUT, "%s: expected a tuned file of %s, found one of %s",
			tuned->path, (*spec)->title, tuned->device.name);
		status = error_hint(err, "--any-device takes what was tuned on another GPU model");
	}
	gpu_model_release(&ours);
	return status;
}

static void print_configuration(const struct tuned_row *result)
{
	char *configuration = named_values_text(&result->configuration);

	printf("  %s {%s}\n", result->family, configuration);
	free(configuration);
}

static void print_answer(const struct lookup_answer *answer, const struct problem *problem)
{
	printf("%s %s\n  %s: %s\n", operation_name(problem->operation), problem->text,
		lookup_grade_names[answer->grade], answer->why);
	if (answer->grade == LOOKUP_REFUSED)
		return;
	print_configuration(answer->result);
	printf("  predicted %.2f us", answer->predicted_us);
	if (isfinite(answer->model_best_us))
		printf(", the model's best %.2f us", answer->model_best_us);
	if (isfinite(answer->default_us))
		printf(", the family's default %.2f us", answer->default_us);
	putchar('\n');
	if (answer->grade == LOOKUP_NEAREST)
		printf("  expected loss %.1f%%\n", 100 * answer->expected_loss_ratio);
}

static enum status answer_all(const struct lookup_request *request,
	const struct problem_list *problems, bool prints, struct lookup_document *document,
	struct error *err)
{
	size_t refused = 0;

	document->answers = memory_zeroed(problems->count + 1, sizeof(*document->answers));
	for (size_t i = 0; i < problems->count; i++) {
		struct lookup_answer *answer = &document->answers[i];

		if (lookup_find(request, problems->items[i], answer, err) != STATUS_OK)
			return err->status;
		document->answer_count++;
		refused += answer->grade == LOOKUP_REFUSED;
		if (prints)
			print_answer(answer, problems->items[i]);
	}
	if (!refused)
		return STATUS_OK;
	error_set(err, STATUS_FAILED,
		"%s: expected a configuration that fits, found none for %zu of %zu "
		"problems",
		request->tuned->path, refused, problems->count);
	return error_hint(err, "`tiletune tune` finds and adds it");
}

static enum status write_answers(const struct lookup_document *document, struct error *err)
{
	struct json *json = record_to_json(&lookup_document_record, document);
	enum status status = common_write_json("-", json, err);

	json_free(json);
	return status;
}

static enum status run_lookup(const struct lookup_options *options,
	const struct string_list *positional, const struct lookup_request *request,
	struct error *err)
{
	struct problem_list problems = {0};
	struct lookup_document document = {.file = positional->items[0],
		.device = gpu_model_of(request->device, request->device->title)};
	const bool as_json = options->common.json;
	struct error written = {0};
	const struct operation *operation;
	enum status status =
		catalogue_operation(request->catalogue, positional->items[1], &operation, err);

	if (status == STATUS_OK)
		status = common_problems(operation, &options->problems, NULL, "lookup",
			"-p M=4096,N=4096,K=4096,dtype=bf16", &problems, err);
	if (status == STATUS_OK) {
		status = answer_all(request, &problems, !as_json, &document, err);
		/* that something is refused is in the answer, too */
		if ((status == STATUS_OK || status == STATUS_FAILED) && as_json &&
			write_answers(&document, &written) != STATUS_OK) {
			*err = written;
			status = written.status;
		}
	}
	for (size_t i = 0; i < document.answer_count; i++)
		lookup_answer_release(&document.answers[i]);
	free(document.answers);
	gpu_model_release(&document.device);
	problem_list_release(&problems);
	return status;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct lookup_options *options = options_;
	struct folders folders = folders_find(&options->common.paths);
	struct catalogue catalogue = {0};
	struct device_spec *spec = NULL;
	struct corrections corrections = {0};
	struct tuned tuned = {0};
	enum status status = tuned_load(positional->items[0], &tuned, err);

	if (status == STATUS_OK)
		status = catalogue_load((const char *const *)folders.templates,
			positional->items[1], &catalogue, err);
	if (status == STATUS_OK)
		status = open_spec(options, &tuned, &folders, &spec, err);
	if (status == STATUS_OK)
		status = corrections_load((const char *const *)folders.configs, spec->name,
			&catalogue, &corrections, err);
	if (status == STATUS_OK) {
		const struct lookup_request request = {.catalogue = &catalogue,
			.device = spec,
			.corrections = &corrections,
			.tuned = &tuned,
			.objective = common_objective(options->objective),
			.without_best = options->quick};

		status = run_lookup(options, positional, &request, err);
	}
	corrections_release(&corrections);
	device_spec_free(spec);
	catalogue_release(&catalogue);
	tuned_release(&tuned);
	folders_release(&folders);
	return status;
}

const struct command command_lookup = {
	.name = "lookup",
	.summary = "Find the best configuration of a tuned file for a problem, tuned or not",
	.arguments = "TUNED.json OPERATION -p PROBLEM...",
	.description =
		"Exact: the file has the problem. Nearest by model: of all configurations in the "
		"file\n"
		"that are legal for the problem, the one that the model predicts best, never one "
		"that\n"
		"is predicted slower than its family's default; with the expected loss against "
		"the\n"
		"model's best of all. The model is corrected by timings where "
		"configs/corrections\n"
		"has the GPU. Refused (exit code 1): no configuration fits.",
	.examples = "  tiletune lookup tuned.json gemm -p M=4000,N=4096,K=4096,dtype=bf16 --json",
	.options = lookup_option_table,
	.options_size = sizeof(struct lookup_options),
	.positional_min = 2,
	.positional_max = 2,
	.run = run,
};
