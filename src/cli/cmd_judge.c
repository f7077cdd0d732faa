/* SPDX-License-Identifier: MIT
 *
 * tiletune judge: one verdict about one kernel.
 */
#include <stdio.h>

#include "base/file.h"
#include "base/memory.h"
#include "check/kernel_judgement.h"
#include "cli/common.h"

struct judge_command {
	struct common_options common;
	struct context_options device;
	struct string_list problems;
	const char *task, *baseline, *config, *threshold, *l2;
	double budget_s;
};

#define AT(member) offsetof(struct judge_command, member)

static const struct option judge_option_table[] = {
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM"),
	OPTION("task", 0, STRING, task, "TASK"),
	OPTION("baseline", 0, STRING, baseline, "FILE"),
	OPTION("config", 'c', STRING, config, "CONFIG"),
	OPTION("threshold", 't', STRING, threshold, "RATIO"),
	OPTION("budget", 'b', BUDGET, budget_s, "TIME"),
	CHOICE("l2", 0, STRING, l2, "STATE", common_l2_choice),
	DEVICE_OPTIONS,
	COMMON_OPTIONS,
	{0},
};

/* Finds what defines the operation. The judged kernel's own file never does, because its author
 * could choose inputs and tolerances for which a wrong kernel looks right. */
static enum status find_task(const struct judge_command *command, const char *kernel,
	const char **task, struct error *err)
{
	*task = command->task ? command->task : command->baseline;
	if (command->baseline && file_is_same(command->baseline, kernel))
		return error_set(err, STATUS_BAD_INPUT,
			"--baseline: expected another file than the judged kernel %s", kernel);
	if (*task && !(own_kernel_is_file(*task) && file_is_same(*task, kernel)))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT,
		"judge: %s cannot define its own inputs, reference and tolerances", kernel);
	return error_hint(err, "--task FILE.json or --task OPERATION defines them");
}

/* Loads the kernel, and the baseline unless it is the task's own kernel. */
static enum status load_families(const struct judge_command *command, const char *kernel,
	const char *task, const struct context *context, const struct operation *operation,
	struct family **family, struct family **baseline, struct error *err)
{
	CLEANUP(text_release) struct text unused = {0};

	TRY(catalogue_load_outside(&context->catalogue, kernel, operation, family, &unused, err));
	if (unused.length)
		common_notice("%s: %s do not count: %s defines them", kernel, unused.data, task);
	return command->baseline ? catalogue_load_outside(&context->catalogue, command->baseline,
					   operation, baseline, NULL, err)
				 : STATUS_OK;
}

static enum status judge(const struct judge_command *command, struct context *context,
	const struct problem *problem, const struct family *family, const struct family *baseline,
	const char *task, struct error *err)
{
	CLEANUP(kernel_judgement_release) struct kernel_judgement judgement = {0};
	CLEANUP(text_release) struct text text = {0};
	struct kernel_judgement_options options = {.config = command->config,
		.task = task,
		.threshold_ratio = 0.02,
		.budget_s = command->budget_s,
		.interrupted = &common_interrupted};

	if (command->threshold)
		TRY(common_threshold(command->threshold, &options.threshold_ratio, err));
	TRY(kernel_judgement_open(context, problem, family, baseline, &options, &judgement, err));
	common_graceful = 1;
	TRY(kernel_judgement_run(&judgement, err));
	kernel_judgement_text(&judgement, &text);
	common_print_lines(command->common.json ? stderr : stdout, text_string(&text));
	if (command->common.json) {
		CLEANUP(json_release) struct json *json = kernel_judgement_json(&judgement);

		TRY(common_write_json("-", json, err));
	}
	return kernel_judgement_status(&judgement);
}

static void family_drop(struct family **family)
{
	family_free(*family);
}

static enum status judge_run(void *options, const struct string_list *positional, struct error *err)
{
	struct judge_command *command = options;
	const char *kernel = positional->items[0], *task;
	CLEANUP(folders_release) struct folders folders = folders_find(&command->common.paths);
	CLEANUP(common_context_release) struct context context = {0};
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(family_drop) struct family *family = NULL;
	CLEANUP(family_drop) struct family *baseline = NULL;
	const struct operation *operation;

	TRY(find_task(command, kernel, &task, err));
	command->device.need_compiler = true;
	command->device.machine.l2_warm = common_l2_warm(command->l2);
	TRY(common_open(&command->device, task, &folders, &context, err));
	TRY(catalogue_operation(&context.catalogue, task, &operation, err));
	catalogue_show_defaults(&context.catalogue, command->common.verbose);
	TRY(common_problems(operation, &command->problems, NULL, &problems, err));
	if (problems.count != 1)
		return error_set(err, STATUS_BAD_INPUT, "judge: expected one problem, found %zu",
			problems.count);
	TRY(load_families(command, kernel, task, &context, operation, &family, &baseline, err));
	common_notices(&context);
	return judge(command, &context, problems.items[0], family, baseline, task, err);
}

const struct command command_judge = {
	.name = "judge",
	COMMAND_OPTIONS(struct judge_command, judge_option_table),
	.positional_min = 1,
	.positional_max = 1,
	.run = judge_run,
};
