/* SPDX-License-Identifier: MIT */
#include "check/check.h"

#include <stdio.h>

#include "check/row.h"

/* ---- differences of the environment ---- */
const char *const environment_part_names[ENVIRONMENT_COUNT + 1] = {
	[ENVIRONMENT_GPU] = "gpu",
	[ENVIRONMENT_SM_COUNT] = "sm_count",
	[ENVIRONMENT_MIG] = "mig",
	[ENVIRONMENT_UUID] = "uuid",
	[ENVIRONMENT_DRIVER] = "driver",
	[ENVIRONMENT_NVRTC] = "nvrtc",
	[ENVIRONMENT_KERNEL] = "kernel",
};

static enum status parse_part(const char *name, uint32_t *allowed, struct error *err)
{
	const int part = name_find(name, environment_part_names);
	const char *nearest;

	if (part >= 0)
		*allowed |= 1u << part;
	else if (strcmp(name, "all") == 0)
		*allowed = (1u << ENVIRONMENT_COUNT) - 1;
	if (part >= 0 || strcmp(name, "all") == 0 || strcmp(name, "none") == 0)
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT,
		"--allow: expected names from gpu, sm_count, mig, uuid, driver, nvrtc, kernel, "
		"all, none, found \"%s\"",
		name);
	nearest = name_nearest(name, environment_part_names);
	return nearest ? error_hint(err, "did you mean %s?", nearest) : STATUS_BAD_INPUT;
}

enum status check_allowed_parse(const char *text, uint32_t *allowed, struct error *err)
{
	CLEANUP(memory_free) char *copy = string_copy(text);
	char *rest = copy, *name;

	*allowed = 0;
	while ((name = strsep(&rest, ",")) != NULL)
		TRY(parse_part(name, allowed, err));
	return STATUS_OK;
}

static void environment_add(
	struct check *check, enum environment_part part, const char *baseline, const char *now)
{
	for (size_t i = 0; i < check->environment_count; i++)
		if (check->environment[i].part == part &&
			strcmp(check->environment[i].baseline, baseline) == 0 &&
			strcmp(check->environment[i].now, now) == 0)
			return;
	ARRAY_GROW(check->environment, check->environment_count, check->environment_capacity);
	check->environment[check->environment_count++] =
		(struct environment_difference){.part = part,
			.baseline = string_copy(baseline),
			.now = string_copy(now),
			.allowed = check->options.allowed & 1u << part};
}

static void compare_device(struct check *check)
{
	const struct device *device = check->context->device;
	const char *name = device->identity.name;
	const struct gpu_model *then = &check->baseline->device;
	CLEANUP(gpu_model_release) struct gpu_model now = gpu_model_of(device->spec, name);

	if (then->sm_count != now.sm_count) {
		char count_then[24], count_now[24];

		snprintf(count_then, sizeof(count_then), "%lld", (long long)then->sm_count);
		snprintf(count_now, sizeof(count_now), "%lld", (long long)now.sm_count);
		environment_add(check, ENVIRONMENT_SM_COUNT, count_then, count_now);
		check->of_device |= CHECK_DIFFERS(SM_COUNT);
	}
	now.sm_count = then->sm_count;
	if (!gpu_model_same(then, &now)) {
		environment_add(check, ENVIRONMENT_GPU, then->name, name);
		check->of_device |= CHECK_DIFFERS(GPU);
	}
}

static uint32_t compare_run(struct check *check, const struct tuned_entry *entry)
{
	const struct context *context = check->context;
	const struct device_identity *device = &context->device->identity;
	const struct run none = {0};
	const struct run *found = tuned_row_run(check->baseline, entry, &entry->winner);
	const struct run *run = found ? found : &none;
	const struct {
		enum environment_part part;
		const char *then, *now;
	} parts[] = {
		{ENVIRONMENT_MIG, run->mig, device->mig},
		{ENVIRONMENT_UUID, run->uuid, device->uuid},
		{ENVIRONMENT_DRIVER, run->driver, device->driver},
		{ENVIRONMENT_NVRTC, run->nvrtc,
			context->compiler ? compiler_identity(context->compiler) : ""},
	};
	uint32_t differs = 0;

	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		const char *then = parts[i].then;

		/* ignore values that one side does not know */
		if (!then || !then[0] || !parts[i].now[0] || strcmp(then, parts[i].now) == 0)
			continue;
		environment_add(check, parts[i].part, then, parts[i].now);
		differs |= 1u << parts[i].part;
	}
	return differs;
}

bool check_is_asked_for(const struct check_options *options, const struct problem_list *problems,
	const struct tuned_entry *entry)
{
	bool is_one = !options->only || !options->only[0];

	for (size_t i = 0; options->only && options->only[i]; i++)
		is_one |= strcmp(options->only[i], entry->operation) == 0;
	if (is_one && problems && problems->count) {
		CLEANUP(memory_free) char *text = named_values_text(&entry->problem);

		is_one = false;
		for (size_t i = 0; i < problems->count; i++)
			is_one |= strcmp(problems->items[i]->text, text) == 0;
	}
	return is_one;
}

static enum status read_problems(struct check *check, struct error *err)
{
	const char *const *only = check->options.only, *const *texts = check->options.problems;
	const struct operation *operation;

	if (!texts || !texts[0])
		return STATUS_OK;
	if (!only || !only[0])
		return error_set(err, STATUS_BAD_INPUT, "check: -p needs an operation before it");
	while (only[1])
		only++;
	TRY(catalogue_operation(&check->context->catalogue, only[0], &operation, err));
	for (; *texts; texts++)
		TRY(problem_parse(operation, *texts, &check->problems, err));
	return STATUS_OK;
}

/* Reports an error, because an empty check means that the user mistyped a name. */
static enum status nothing_to_check(const struct check *check, struct error *err)
{
	if (!check->options.only || !check->options.only[0])
		return error_set(err, STATUS_BAD_INPUT, "%s: the file has no entries to check",
			check->baseline->path);
	return error_set(err, STATUS_BAD_INPUT, "%s: the file has no entry of the operation %s%s%s",
		check->baseline->path, check->options.only[0],
		check->problems.count ? " with " : "",
		check->problems.count ? check->problems.items[0]->text : "");
}

/* Sets the verdict "not comparable" if a difference is not allowed. */
static void compare_environment(struct check *check, struct check_row *row)
{
	CLEANUP(text_release) struct text names = {0};

	row->differs = check->of_device | compare_run(check, &row->entry);
	if (row->kernel_changed)
		row->differs |= CHECK_DIFFERS(KERNEL);
	for (int i = 0; i < ENVIRONMENT_COUNT; i++)
		if (row->differs & ~check->options.allowed & 1u << i)
			text_append_listed(&names, environment_part_names[i]);
	if (names.length)
		check_row_decide(row, CHECK_NOT_COMPARABLE,
			"the environment differs from the baseline in %s (tolerate this with "
			"--allow)",
			names.data);
}

/* Names the searched folders if the catalogue lacks the entry's family. */
static enum status expect_family(const struct check *check, const struct tuned_entry *entry,
	const struct family **family, struct error *err)
{
	const struct catalogue *catalogue = &check->context->catalogue;
	CLEANUP(memory_free) char *problem = named_values_text(&entry->problem);
	CLEANUP(text_release) struct text folders = {0};
	const struct operation *operation;

	if (catalogue_operation(catalogue, entry->operation, &operation, err) == STATUS_OK &&
		catalogue_family(catalogue, operation, entry->winner.result.family, family, err) ==
			STATUS_OK)
		return STATUS_OK;
	for (char **folder = catalogue->template_folders; *folder; folder++)
		text_append_listed(&folders, *folder);
	error_context(err, "%s: %s %s", check->baseline->path, entry->operation, problem);
	return error_hint(err,
		"searched in %s; add folders, or the JSON of your own kernel, with --path or "
		"TILETUNE_PATH",
		text_string(&folders));
}

static enum status open_rows(struct check *check, struct error *err)
{
	const struct tuned *baseline = check->baseline;

	check->rows = memory_zeroed(baseline->entry_count + 1, sizeof(*check->rows));
	compare_device(check);
	for (size_t i = 0; i < baseline->entry_count; i++) {
		struct check_row *row = &check->rows[check->row_count];
		const struct family *family;

		if (!check_is_asked_for(&check->options, &check->problems, &baseline->entries[i]))
			continue;
		TRY(expect_family(check, &baseline->entries[i], &family, err));
		check_row_open(&baseline->entries[i], row);
		if ((family->program ? family : NULL) != check->context->program)
			check_row_decide(row, CHECK_NOT_COMPARABLE,
				"%s cannot run on %s; check it separately with --only %s",
				family->name, check->context->device->identity.name,
				baseline->entries[i].operation);
		if (check->measures && (baseline->entries[i].objective == OBJECTIVE_WARM_TIME) !=
					       check->context->l2_warm)
			check_row_decide(row, CHECK_NOT_COMPARABLE,
				"its times were measured with a %s L2; check it with --l2 %s",
				check->context->l2_warm ? "cold" : "warm",
				check->context->l2_warm ? "cold" : "warm");
		/* decide first, because a kernel that does not build for another GPU has not failed
		 */
		if (check->of_device & ~check->options.allowed)
			compare_environment(check, row);
		check_row_build(check, row);
		check->row_count++;
	}
	return STATUS_OK;
}

static void add_changed_kernels(struct check *check)
{
	size_t changed = 0, known = 0;
	char now[64];

	for (size_t i = 0; i < check->row_count; i++) {
		known += check->rows[i].can_run;
		changed += check->rows[i].kernel_changed;
	}
	if (!changed)
		return;
	snprintf(now, sizeof(now), "changed in %zu of %zu entries", changed, known);
	environment_add(check, ENVIRONMENT_KERNEL, "as tuned", now);
}

enum status check_open(struct context *context, struct tuned *baseline,
	const struct check_options *options, struct check *check, struct error *err)
{
	struct text notice = {0};

	*check = (struct check){.context = context,
		.baseline = baseline,
		.options = *options,
		.evaluator = {.context = context,
			.interrupted = options->interrupted,
			.keeps_pruned = true,
			.outlives_references = true}};
	if (!context->device->kind->compiles && !context->program)
		return error_set(err, STATUS_BAD_INPUT,
			"check needs a GPU or a device model, not a recording");
	check->measures = context->device->kind->measures;
	check->kept_folder = check_kept_folder(baseline->path);
	TRY(read_problems(check, err));
	TRY(open_rows(check, err));
	for (size_t i = 0; check->measures && i < check->row_count; i++)
		check_kept_load(check->kept_folder, &check->rows[i], &notice);
	check->notice = notice.length ? text_detach(&notice) : NULL;
	return check->row_count ? STATUS_OK : nothing_to_check(check, err);
}

const char check_same_reason[] = "the same resources; not timed";

static void judge_resources(struct check_row *row)
{
	CLEANUP(text_release) struct text worse = {0};
	CLEANUP(text_release) struct text all = {0};

	check_differences_list(row, true, &worse);
	check_differences_list(row, false, &all);
	if (row->kernel_changed)
		text_appendf(&all, "%sthe kernel changed", all.length ? "; " : "");
	check_row_decide(row, worse.length ? CHECK_SLOWER : CHECK_SAME, "%s",
		all.length ? all.data : check_same_reason);
}

enum status check_run(struct check *check, struct error *err)
{
	TRY(check_compile(check, err));
	for (size_t i = 0; i < check->row_count; i++) {
		if (check->rows[i].can_run)
			check_resources(check, &check->rows[i]);
		compare_environment(check, &check->rows[i]);
	}
	add_changed_kernels(check);
	if (check->measures)
		return check_measure(check, err);
	for (size_t i = 0; i < check->row_count; i++)
		if (check->rows[i].can_run)
			judge_resources(&check->rows[i]);
	return STATUS_OK;
}

size_t check_count(const struct check *check, enum check_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < check->row_count; i++)
		count += check->rows[i].verdict == verdict;
	return count;
}

enum status check_status(const struct check *check)
{
	if (check_count(check, CHECK_FAILED))
		return STATUS_FAILED;
	if (check_count(check, CHECK_SLOWER) || check_count(check, CHECK_OTHER_BITS))
		return STATUS_REGRESSION;
	if (check_count(check, CHECK_UNCLEAR) || check_count(check, CHECK_NOT_COMPARABLE))
		return STATUS_INCONCLUSIVE;
	return STATUS_OK;
}

void check_release(struct check *check)
{
	evaluator_release(&check->evaluator); /* freed before the rows, from which trials borrow */
	for (size_t i = 0; i < check->row_count; i++)
		check_row_release(&check->rows[i]);
	free(check->rows);
	free(check->kept_folder);
	free(check->notice);
	for (size_t i = 0; i < check->environment_count; i++) {
		free(check->environment[i].baseline);
		free(check->environment[i].now);
	}
	free(check->environment);
	problem_list_release(&check->problems);
	*check = (struct check){0};
}
