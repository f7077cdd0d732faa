/* SPDX-License-Identifier: MIT
 *
 * tiletune lookup: what a tuned file knows for a problem.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/common.h"
#include "tune/lookup.h"

struct lookup_options {
	struct common_options common;
	struct string_list problems;
	const char *device;
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
	{"quick", 0, OPTION_FLAG, AT(quick), NULL,
		"do not look for the model's best of all: a loss against the default only", NULL},
	COMMON_OPTIONS(struct lookup_options),
	{0},
};

/* GPU number N of this machine. */
static enum status spec_of_gpu(
	const char *number, char **configs, struct device_spec **spec, struct error *err)
{
	struct device_options options = {.config_folders = (const char *const *)configs};
	struct device_listing *list = NULL;
	size_t count = 0;
	char *why = NULL, *end;
	unsigned long index = strtoul(number, &end, 10);
	enum status status = device_list_cuda(&options, &list, &count, &why, err);

	if (status == STATUS_OK && (*end || index >= count))
		status = error_set(err, STATUS_NO_DEVICE, "cuda:%s: expected one of %zu GPUs%s%s",
			number, count, why ? ": " : "", why ? why : "");
	if (status == STATUS_OK)
		status = device_spec_match(
			&list[index].facts, (const char *const *)configs, spec, err);
	free(list);
	free(why);
	return status;
}

/* The GPU model that the file is of: its sheet, or what the file says of it. */
static enum status spec_of_file(
	const struct tuned *tuned, char **configs, struct device_spec **spec, struct error *err)
{
	struct json_at root = json_root(tuned->root, tuned->path), device;
	struct device_facts facts = {.warp_size = 32};
	const char *sheet = NULL, *name = "";
	int64_t capability = 0;

	if (json_member(&root, "device", &device, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	json_member_string(&device, "sheet", &sheet, NULL);
	if (sheet)
		return device_spec_load(sheet, (const char *const *)configs, spec, err);
	json_member_string(&device, "name", &name, NULL);
	json_member_int(&device, "compute_capability", &capability, NULL);
	json_member_int(&device, "sm_count", &facts.sm_count, NULL);
	json_member_int(&device, "l2_bytes", &facts.l2_bytes, NULL);
	json_member_int(&device, "dram_bytes", &facts.dram_bytes, NULL);
	json_member_int(&device, "smem_per_sm_bytes", &facts.smem_per_sm_bytes, NULL);
	json_member_int(&device, "smem_per_block_bytes", &facts.smem_per_block_bytes, NULL);
	json_member_int(&device, "regs_per_sm", &facts.regs_per_sm, NULL);
	string_put(facts.name, sizeof(facts.name), name);
	facts.compute_capability = (int)capability;
	return device_spec_match(&facts, (const char *const *)configs, spec, err);
}

static enum status open_spec(const struct lookup_options *options, const struct tuned *tuned,
	char **configs, struct device_spec **spec, struct error *err)
{
	struct json *ours;
	enum status status;

	if (!options->device)
		return spec_of_file(tuned, configs, spec, err);
	if (string_starts_with(options->device, "cuda:"))
		status = spec_of_gpu(options->device + strlen("cuda:"), configs, spec, err);
	else if (string_starts_with(options->device, "model:"))
		status = device_spec_load(options->device + strlen("model:"),
			(const char *const *)configs, spec, err);
	else
		status = error_set(err, STATUS_BAD_INPUT,
			"--device: expected cuda:N or model:NAME, found %s", options->device);
	if (status != STATUS_OK || options->any_device)
		return status;
	ours = tuned_device_json(*spec, (*spec)->title);
	if (tuned_same_device(tuned, ours, NULL) != STATUS_OK) {
		struct json_at root = json_root(tuned->root, tuned->path), device;
		const char *name = "?";

		if (json_find(&root, "device", &device))
			json_member_string(&device, "name", &name, NULL);
		error_set(err, STATUS_BAD_INPUT, "%s: expected a tuned file of %s, found one of %s",
			tuned->path, (*spec)->title, name);
		status = error_hint(err, "--any-device takes what was tuned on another GPU model");
	}
	json_free(ours);
	return status;
}

static void print_configuration(const struct json *result)
{
	struct json_at at = json_root(result, ""), configuration;
	const char *family = "";
	struct text text = {0};

	json_member_string(&at, "family", &family, NULL);
	if (json_find(&at, "configuration", &configuration))
		for (size_t i = 0; i < json_count(&configuration); i++) {
			struct json_at member = json_item(&configuration, i);
			char *value = json_print(member.node, false);

			text_appendf(&text, "%s%s=%s", i ? "," : "", member.key, value);
			free(value);
		}
	printf("  %s {%s}\n", family, text_string(&text));
	text_release(&text);
}

static void print_answer(const struct lookup_answer *answer, const struct problem *problem)
{
	printf("%s %s\n  %s: %s\n", operation_name(problem->operation), problem->text,
		lookup_grade_name(answer->grade), answer->why);
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

static enum status answer_all(const struct lookup_options *options,
	const struct lookup_request *request, const struct problem_list *problems,
	struct json *answers, struct error *err)
{
	size_t refused = 0;

	for (size_t i = 0; i < problems->count; i++) {
		struct lookup_answer answer;

		if (lookup_find(request, problems->items[i], &answer, err) != STATUS_OK)
			return err->status;
		refused += answer.grade == LOOKUP_REFUSED;
		if (options->common.json)
			json_push(answers, lookup_answer_to_json(&answer, problems->items[i]));
		else
			print_answer(&answer, problems->items[i]);
		lookup_answer_release(&answer);
	}
	if (!refused)
		return STATUS_OK;
	error_set(err, STATUS_FAILED,
		"%s: expected something that serves, found nothing for %zu of "
		"%zu problems",
		request->tuned->path, refused, problems->count);
	return error_hint(err, "`tiletune tune` finds and adds it");
}

static enum status write_answers(const struct lookup_request *request, struct json *answers,
	const char *path, struct error *err)
{
	struct json *json = json_new_object();
	enum status status;

	json_put_string(json, "format", "tiletune.lookup/1");
	json_put_string(json, "file", path);
	json_put(json, "device", tuned_device_json(request->device, request->device->title));
	json_put(json, "answers", json_copy(answers));
	status = common_write_json("-", json, err);
	json_free(json);
	return status;
}

static enum status run_lookup(const struct lookup_options *options,
	const struct string_list *positional, const struct lookup_request *request,
	struct error *err)
{
	struct problem_list problems = {0};
	struct json *answers = json_new_array();
	struct error written = {0};
	const struct operation *operation;
	enum status status =
		catalogue_operation(request->catalogue, positional->items[1], &operation, err);

	for (size_t i = 0; i < options->problems.count && status == STATUS_OK; i++)
		status = problem_parse(operation, options->problems.items[i], &problems, err);
	if (status == STATUS_OK && !problems.count) {
		error_set(err, STATUS_BAD_INPUT, "lookup: expected a problem, found none");
		status = error_hint(err, "-p M=4096,N=4096,K=4096,dtype=bf16");
	}
	if (status == STATUS_OK) {
		status = answer_all(options, request, &problems, answers, err);
		/* that something is refused is in the answer, too */
		if ((status == STATUS_OK || status == STATUS_FAILED) && options->common.json &&
			write_answers(request, answers, positional->items[0], &written) !=
				STATUS_OK) {
			*err = written;
			status = written.status;
		}
	}
	json_free(answers);
	problem_list_release(&problems);
	return status;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct lookup_options *options = options_;
	char **roots = roots_find(&options->common.paths);
	char **templates = workbench_folders((const char *const *)roots, "templates");
	char **configs = workbench_folders((const char *const *)roots, "configs");
	struct catalogue catalogue = {0};
	struct device_spec *spec = NULL;
	struct tuned tuned = {0};
	enum status status = tuned_load(positional->items[0], &tuned, err);

	if (status == STATUS_OK)
		status = catalogue_load(
			(const char *const *)templates, positional->items[1], &catalogue, err);
	if (status == STATUS_OK)
		status = open_spec(options, &tuned, configs, &spec, err);
	if (status == STATUS_OK) {
		const struct lookup_request request = {.catalogue = &catalogue,
			.device = spec,
			.tuned = &tuned,
			.without_best = options->quick};

		status = run_lookup(options, positional, &request, err);
	}
	device_spec_free(spec);
	catalogue_release(&catalogue);
	tuned_release(&tuned);
	roots_free(templates);
	roots_free(configs);
	roots_free(roots);
	return status;
}

const struct command command_lookup = {
	.name = "lookup",
	.summary = "Find the best that a tuned file knows for a problem, tuned or not",
	.arguments = "TUNED.json OPERATION -p PROBLEM...",
	.description =
		"Exact: the file has the problem. Nearest by model: of all configurations in the "
		"file\n"
		"that are legal for the problem, the one that the model predicts best, never one "
		"that\n"
		"is predicted slower than its family's default; with the loss that is to be "
		"expected\n"
		"against the best that the model knows. Refused (exit code 1): nothing serves.",
	.examples = "  tiletune lookup tuned.json gemm -p M=4000,N=4096,K=4096,dtype=bf16 --json",
	.options = lookup_option_table,
	.options_size = sizeof(struct lookup_options),
	.positional_min = 2,
	.positional_max = 2,
	.run = run,
};
