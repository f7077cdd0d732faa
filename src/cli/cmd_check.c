/* SPDX-License-Identifier: MIT
 *
 * tiletune check: the regression gate for CI.
 */
#include <stdio.h>

#include "base/memory.h"
#include "check/check.h"
#include "cli/common.h"

struct check_command {
	struct common_options common;
	struct context_options device;
	struct string_list only, problems;
	const char *threshold, *allow, *junit, *markdown, *l2;
	double budget_s;
	bool update, keep_cubins, bits;
};

#define AT(member) offsetof(struct check_command, member)

static const char *part_choice(size_t index, const char **summary)
{
	static const char *const others[] = {"all", "none", NULL};

	(void)summary;
	return index < ENVIRONMENT_COUNT ? environment_part_names[index]
					 : others[index - ENVIRONMENT_COUNT];
}

static const struct option check_option_table[] = {
	OPTION("only", 0, STRINGS, only, "OPERATION"),
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM"),
	OPTION("threshold", 't', STRING, threshold, "RATIO"),
	OPTION("budget", 'b', BUDGET, budget_s, "TIME"),
	CHOICE("allow", 0, WORD, allow, "WHAT,...", part_choice),
	CHOICE("l2", 0, STRING, l2, "STATE", common_l2_choice),
	OPTION("bits", 0, FLAG, bits, NULL),
	OPTION("junit", 0, STRING, junit, "FILE"),
	OPTION("markdown", 0, STRING, markdown, "FILE"),
	OPTION("update", 0, FLAG, update, NULL),
	OPTION("keep-cubins", 0, FLAG, keep_cubins, NULL),
	DEVICE_OPTIONS,
	COMMON_OPTIONS,
	{0},
};

static enum status read_options(
	const struct check_command *command, struct check_options *options, struct error *err)
{
	*options = (struct check_options){.only = command->only.items,
		.problems = command->problems.items,
		.threshold_ratio = 0.05,
		.budget_s = command->budget_s,
		.bits = command->bits,
		.allowed = CHECK_ALLOWED_DEFAULT,
		.interrupted = &common_interrupted};
	if (command->allow)
		TRY(check_allowed_parse(command->allow, &options->allowed, err));
	return command->threshold
		       ? common_threshold(command->threshold, &options->threshold_ratio, err)
		       : STATUS_OK;
}

/* Adds a hint about where the baseline can be checked, if it is for another GPU. */
static void hint_at_device(const struct check *check, const struct folders *folders)
{
	CLEANUP(device_spec_release) struct device_spec *spec = NULL;
	const char *name = check->baseline->device.name;

	if (!(check->of_device & ~check->options.allowed & CHECK_DIFFERS(GPU)))
		return;
	if (common_device_spec(NULL, &check->baseline->device, folders, &spec, NULL) == STATUS_OK &&
		spec->from_sheet)
		common_print(stderr,
			"hint: the baseline is of %s; --device model:%s compares resources without "
			"that GPU\n",
			name, spec->name);
	else
		common_print(stderr, "hint: the baseline is of %s; check it there\n", name);
}

static enum status write_reports(const struct check_command *command, struct check *check,
	const struct folders *folders, struct error *err)
{
	CLEANUP(text_release) struct text text = {0}, junit = {0}, markdown = {0};
	CLEANUP(json_release) struct json *json = check_to_json(check);

	check_report_text(check, &text);
	check_report_junit(check, &junit);
	check_report_markdown(check, &markdown);
	common_print_lines(command->common.json ? stderr : stdout, text_string(&text));
	if (check->notice)
		common_notice_lines(check->notice);
	hint_at_device(check, folders);
	if (command->common.json)
		TRY(common_write_json("-", json, err));
	if (command->junit)
		TRY(common_write(command->junit, &junit, err));
	return command->markdown ? common_write(command->markdown, &markdown, err) : STATUS_OK;
}

static enum status write_baseline(const struct check_command *command, struct check *check,
	const char *run_id, struct error *err)
{
	FILE *out = command->common.json ? stderr : stdout;
	size_t kept = 0;

	if (!command->update && !command->keep_cubins)
		return STATUS_OK;
	if (check_status(check) != STATUS_OK) {
		common_notice("%s is not changed: the check did not pass", check->baseline->path);
		return STATUS_OK;
	}
	if (command->update && check->measures) {
		struct run run = run_of(check->context, run_id);

		tuned_put_run(check->baseline, &run);
	}
	if (command->update)
		TRY(check_update(check, run_id, err));
	if (command->keep_cubins)
		TRY(check_keep(check, &kept, err));
	TRY(tuned_save(check->baseline, check->baseline->path, NULL, err));
	if (command->update)
		common_print(out, "wrote %s\n", check->baseline->path);
	if (kept)
		common_print(out, "kept the cubins of %zu of %zu entries in %s\n", kept,
			check->row_count, check->kept_folder);
	if (command->keep_cubins && !kept)
		common_notice(
			"no cubins are kept: no entry was timed with the baseline's own kernel "
			"(--update makes today's kernels the baseline's)");
	return STATUS_OK;
}

/* ---- baselines whose entries need several devices ---- */
/* The operation whose program timed the entry, or NULL for kernels that tiletune timed. A check has
 * one device, which is a program or a GPU. */
static const char *served_by(const struct tuned_entry *entry)
{
	return entry->winner.result.by_program ? entry->operation : NULL;
}

static bool is_served_by(const struct tuned_entry *entry, const char *served)
{
	const char *by = served_by(entry);

	return by && served ? strcmp(by, served) == 0 : by == served;
}

/* The check of the entries that the first check's device does not serve. */
struct check_part {
	struct string_list only;
	struct context context;
	struct check check;
};
struct parts {
	struct check_part *items;
	size_t count;
};

static void parts_release(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		check_release(&parts->items[i].check);
		common_context_release(&parts->items[i].context);
		string_list_release(&parts->items[i].only);
	}
	free(parts->items);
}

static struct check_row *find_row(const struct check *check, const struct check_row *like)
{
	for (size_t i = 0; i < check->row_count; i++)
		if (strcmp(check->rows[i].entry.operation, like->entry.operation) == 0 &&
			strcmp(check->rows[i].problem_text, like->problem_text) == 0 &&
			check->rows[i].entry.objective == like->entry.objective)
			return &check->rows[i];
	return NULL;
}

/* Checks the rows of `whole` that `served` serves, and puts the decided rows into `whole`. */
static enum status check_part(const struct check_command *command, const struct folders *folders,
	const char *served, struct check *whole, struct check_part *part, struct error *err)
{
	struct context_options device = command->device;
	struct check_options options = whole->options;

	for (size_t i = 0; i < whole->row_count; i++)
		if (is_served_by(&whole->rows[i].entry, served))
			string_list_add(&part->only, string_copy(whole->rows[i].entry.operation));
	options.only = part->only.items;
	options.problems = NULL;
	device.served = served;
	TRY(common_open(&device, NULL, folders, &part->context, err));
	TRY(check_open(&part->context, whole->baseline, &options, &part->check, err));
	TRY(check_run(&part->check, err));
	for (size_t i = 0; i < whole->row_count; i++) {
		struct check_row *row = find_row(&part->check, &whole->rows[i]), kept;

		if (!row)
			continue;
		kept = whole->rows[i];
		whole->rows[i] = *row;
		*row = kept;
	}
	return STATUS_OK;
}

static enum status check_others(const struct check_command *command, const struct folders *folders,
	struct check *check, struct parts *parts, struct error *err)
{
	const char *first = served_by(&check->rows[0].entry);

	/* a device that the user named serves only its own kind */
	if (command->device.device && strcmp(command->device.device, "auto") != 0)
		return STATUS_OK;
	parts->items = memory_zeroed(check->row_count, sizeof(*parts->items));
	for (size_t i = 0; i < check->row_count; i++) {
		const char *served = served_by(&check->rows[i].entry);
		bool is_done = is_served_by(&check->rows[i].entry, first);

		for (size_t k = 0; k < i; k++)
			is_done |= is_served_by(&check->rows[k].entry, served);
		if (!is_done)
			TRY(check_part(command, folders, served, check,
				&parts->items[parts->count++], err));
	}
	return STATUS_OK;
}

static enum status run_check(const struct check_command *command, struct check *check,
	const struct folders *folders, struct error *err)
{
	CLEANUP(parts_release) struct parts parts = {0};
	char run_id[RUN_ID_SIZE];

	common_graceful = 1;
	TRY(check_run(check, err));
	TRY(check_others(command, folders, check, &parts, err));
	run_new_id(run_id);
	TRY(write_reports(command, check, folders, err));
	TRY(write_baseline(command, check, run_id, err));
	return check_status(check);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	struct check_command *command = options_;
	const char *name = positional->count > 1 ? positional->items[1] : NULL;
	CLEANUP(own_kernel_release) struct own_kernel own = {0};
	CLEANUP(folders_release) struct folders folders = {0};
	CLEANUP(tuned_release) struct tuned baseline = {0};
	CLEANUP(common_context_release) struct context context = {0};
	CLEANUP(check_release) struct check check = {0};
	struct check_options options;
	enum status status;

	if (name && own_kernel_is_file(name)) {
		string_list_add(&command->common.paths, name);
		TRY(own_kernel_load(name, &own, err));
		name = own.name;
	}
	if (name)
		string_list_add(&command->only, name);
	folders = folders_of(&command->common.paths, positional->items[0]);
	TRY(read_options(command, &options, err));
	TRY(common_expect_output("junit", command->junit, positional, err));
	TRY(common_expect_output("markdown", command->markdown, positional, err));
	TRY(tuned_load(positional->items[0], &baseline, err));
	if (command->update || command->keep_cubins)
		TRY(common_expect_output("update", positional->items[0], NULL, err));
	command->device.program_starts = common_say_program;
	command->device.machine.l2_warm = common_l2_warm(command->l2);
	command->device.need_compiler = true;
	for (size_t i = 0; i < baseline.entry_count; i++) {
		if (!check_is_asked_for(&options, NULL, &baseline.entries[i]))
			continue;
		command->device.served = served_by(&baseline.entries[i]);
		break;
	}
	status = common_open(&command->device, NULL, &folders, &context, err);
	/* a check never falls back to a device model; the user must ask for one */
	if (status == STATUS_NO_DEVICE)
		error_hint(err, "compare resources without a GPU: --device model:%s",
			baseline.device.sheet ? baseline.device.sheet : "NAME");
	TRY(status);
	common_notices(&context);
	catalogue_show_defaults(&context.catalogue, command->common.verbose);
	TRY(check_open(&context, &baseline, &options, &check, err));
	if ((command->keep_cubins || command->bits) && !check.measures) {
		error_set(err, STATUS_BAD_INPUT, "--%s needs a GPU, not a device model",
			command->bits ? "bits" : "keep-cubins");
		return error_hint(err, "only a GPU gives digests and times");
	}
	return run_check(command, &check, &folders, err);
}

const struct command command_check = {
	.name = "check",
	COMMAND_OPTIONS(struct check_command, check_option_table),
	.positional_min = 1,
	.positional_max = 2,
	.run = run,
};
