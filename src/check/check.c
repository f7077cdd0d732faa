/* SPDX-License-Identifier: MIT */
#include "check/check.h"

#include <stdio.h>

#include "check/baseline.h"
#include "check/measure.h"

/* ---- what else is not as it was ---- */
const char *const check_trait_names[TRAIT_COUNT + 1] = {
	[TRAIT_GPU] = "gpu",
	[TRAIT_SM_COUNT] = "sm_count",
	[TRAIT_MIG] = "mig",
	[TRAIT_UUID] = "uuid",
	[TRAIT_DRIVER] = "driver",
	[TRAIT_NVRTC] = "nvrtc",
	[TRAIT_KERNEL] = "kernel",
};

static enum status parse_trait(const char *name, uint32_t *allowed, struct error *err)
{
	const int trait = name_find(name, check_trait_names);
	const char *nearest;

	if (trait >= 0)
		*allowed |= 1u << trait;
	else if (strcmp(name, "all") == 0)
		*allowed = (1u << TRAIT_COUNT) - 1;
	if (trait >= 0 || strcmp(name, "all") == 0 || strcmp(name, "none") == 0)
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT,
		"--allow: expected names out of gpu, sm_count, mig, uuid, driver, nvrtc, kernel, "
		"all, none, found \"%s\"",
		name);
	nearest = name_nearest(name, check_trait_names);
	return nearest ? error_hint(err, "did you mean %s?", nearest) : STATUS_BAD_INPUT;
}

enum status check_allowed_parse(const char *text, uint32_t *allowed, struct error *err)
{
	CLEANUP(memory_free) char *copy = string_copy(text);
	char *rest = copy, *name;

	*allowed = 0;
	while ((name = strsep(&rest, ",")) != NULL)
		TRY(parse_trait(name, allowed, err));
	return STATUS_OK;
}

static void check_identity_add(struct check_identity *identity, enum check_trait trait,
	const char *baseline, const char *now)
{
	for (size_t i = 0; i < identity->count; i++)
		if (identity->items[i].trait == trait &&
			strcmp(identity->items[i].baseline, baseline) == 0 &&
			strcmp(identity->items[i].now, now) == 0)
			return;
	ARRAY_GROW(identity->items, identity->count, identity->capacity);
	identity->items[identity->count++] = (struct check_trait_difference){.trait = trait,
		.baseline = string_copy(baseline),
		.now = string_copy(now),
		.allowed = identity->allowed & 1u << trait};
}

static void check_identity_release(struct check_identity *identity)
{
	for (size_t i = 0; i < identity->count; i++) {
		free(identity->items[i].baseline);
		free(identity->items[i].now);
	}
	free(identity->items);
	*identity = (struct check_identity){0};
}

static uint32_t check_identity_device(const struct tuned *baseline, const struct context *context,
	struct check_identity *identity)
{
	const struct device_spec *spec = device_spec(context->device);
	const char *name = device_identity(context->device)->name;
	const struct gpu_model *then = &baseline->device;
	struct gpu_model now = gpu_model_of(spec, name);
	uint32_t traits = 0;

	if (then->sm_count != now.sm_count) {
		char count_then[24], count_now[24];

		snprintf(count_then, sizeof(count_then), "%lld", (long long)then->sm_count);
		snprintf(count_now, sizeof(count_now), "%lld", (long long)now.sm_count);
		check_identity_add(identity, TRAIT_SM_COUNT, count_then, count_now);
		traits |= CHECK_DIFFERS(SM_COUNT);
	}
	now.sm_count = then->sm_count;
	if (!gpu_model_same(then, &now)) {
		check_identity_add(identity, TRAIT_GPU, then->name, name);
		traits |= CHECK_DIFFERS(GPU);
	}
	gpu_model_release(&now);
	return traits;
}

static uint32_t check_identity_run(const struct tuned *baseline, const struct tuned_entry *entry,
	const struct context *context, struct check_identity *identity)
{
	const struct device_identity *device = device_identity(context->device);
	const struct run *run = tuned_row_run(baseline, entry, &entry->winner);
	const struct run none = {0};
	const struct {
		enum check_trait trait;
		const char *then, *now;
	} traits[] = {
		{TRAIT_MIG, (run ? run : &none)->mig, device->mig},
		{TRAIT_UUID, (run ? run : &none)->uuid, device->uuid},
		{TRAIT_DRIVER, (run ? run : &none)->driver, device->driver},
		{TRAIT_NVRTC, (run ? run : &none)->nvrtc,
			context->compiler ? compiler_identity(context->compiler) : ""},
	};
	uint32_t found = 0;

	for (size_t i = 0; i < ARRAY_COUNT(traits); i++) {
		const char *then = traits[i].then;

		/* what one side does not know is no difference */
		if (!then || !then[0] || !traits[i].now[0] || strcmp(then, traits[i].now) == 0)
			continue;
		check_identity_add(identity, traits[i].trait, then, traits[i].now);
		found |= 1u << traits[i].trait;
	}
	return found;
}

/* ---- the check ---- */
static bool is_asked_for(const struct check_options *options, const char *operation)
{
	if (!options->only || !options->only[0])
		return true;
	for (size_t i = 0; options->only[i]; i++)
		if (strcmp(options->only[i], operation) == 0)
			return true;
	return false;
}

/* A name that no entry has is a typing error, not an empty check. */
static enum status nothing_to_check(const struct check *check, struct error *err)
{
	if (!check->options.only || !check->options.only[0])
		return error_set(err, STATUS_BAD_INPUT, "%s: expected entries to check, found none",
			check->baseline->path);
	return error_set(err, STATUS_BAD_INPUT, "%s: expected an entry of operation %s, found none",
		check->baseline->path, check->options.only[0]);
}

/* What differs and may not: the row is not comparable. */
static void compare_identity(struct check *check, struct check_row *row)
{
	uint32_t traits = check->of_device | check_identity_run(check->baseline, &row->entry,
						     check->context, &check->identity);
	uint32_t refused;
	CLEANUP(text_release) struct text names = {0};

	if (row->kernel_changed)
		traits |= CHECK_DIFFERS(KERNEL);
	row->work->differs = traits;
	refused = traits & ~check->options.allowed;
	for (int i = 0; i < TRAIT_COUNT; i++)
		if (refused & 1u << i)
			text_appendf(
				&names, "%s%s", names.length ? ", " : "", check_trait_names[i]);
	if (refused)
		check_row_decide(row, CHECK_NOT_COMPARABLE,
			"%s not as in the baseline, and not allowed to be other (--allow)",
			names.data);
}

/* The family is of a folder that was not looked in (or is gone): nothing was found out about it. */
static enum status expect_family(
	const struct check *check, const struct tuned_entry *entry, struct error *err)
{
	const struct catalogue *catalogue = &check->context->catalogue;
	CLEANUP(memory_free) char *problem = named_values_text(&entry->problem);
	CLEANUP(text_release) struct text folders = {0};
	const struct operation *operation;
	const struct family *family;

	if (catalogue_operation(catalogue, entry->operation, &operation, err) == STATUS_OK &&
		catalogue_family(catalogue, operation, entry->winner.family, &family, err) ==
			STATUS_OK)
		return STATUS_OK;
	for (char **folder = catalogue->template_folders; *folder; folder++)
		text_append_listed(&folders, *folder);
	error_context(err, "%s: %s %s", check->baseline->path, entry->operation, problem);
	return error_hint(err,
		"looked in %s; --path or TILETUNE_PATH names more folders, or an own kernel's file",
		text_string(&folders));
}

static enum status open_rows(struct check *check, struct error *err)
{
	const struct tuned *baseline = check->baseline;

	check->rows = memory_zeroed(baseline->entry_count + 1, sizeof(*check->rows));
	check->of_device = check_identity_device(baseline, check->context, &check->identity);
	for (size_t i = 0; i < baseline->entry_count; i++) {
		struct check_row *row = &check->rows[check->row_count];

		if (!is_asked_for(&check->options, baseline->entries[i].operation))
			continue;
		TRY(expect_family(check, &baseline->entries[i], err));
		check_row_open(&baseline->entries[i], row);
		/* what another GPU cannot build is no failure of the kernel */
		if (check->of_device & ~check->options.allowed)
			compare_identity(check, row);
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
		known += check->rows[i].work->can_run;
		changed += check->rows[i].kernel_changed;
	}
	if (!changed)
		return;
	snprintf(now, sizeof(now), "changed in %zu of %zu entries", changed, known);
	check_identity_add(&check->identity, TRAIT_KERNEL, "as tuned", now);
}

enum status check_open(struct context *context, struct tuned *baseline,
	const struct check_options *options, struct check *check, struct error *err)
{
	struct text notice = {0};

	*check = (struct check){.context = context,
		.baseline = baseline,
		.options = *options,
		.identity.allowed = options->allowed,
		.evaluator = {.context = context,
			.interrupted = options->interrupted,
			.keeps_pruned = true,
			.outlives_references = true}};
	if (!device_compiles(context->device))
		return error_set(err, STATUS_BAD_INPUT,
			"check: expected a GPU or a device model, found a recording");
	check->measures = device_measures(context->device);
	check->kept_folder = check_kept_folder(baseline->path);
	TRY(open_rows(check, err));
	for (size_t i = 0; check->measures && i < check->row_count; i++)
		check_kept_load(check->kept_folder, &check->rows[i], &notice);
	check->notice = notice.length ? text_detach(&notice) : NULL;
	return check->row_count ? STATUS_OK : nothing_to_check(check, err);
}

/* Without a clock: resources decide. */
static void judge_resources(struct check_row *row)
{
	CLEANUP(text_release) struct text worse = {0};
	CLEANUP(text_release) struct text all = {0};

	check_differences_list(row, true, &worse);
	check_differences_list(row, false, &all);
	if (row->kernel_changed)
		text_appendf(&all, "%sthe kernel changed", all.length ? "; " : "");
	check_row_decide(row, worse.length ? CHECK_SLOWER : CHECK_SAME, "%s",
		all.length ? all.data : "the same resources; not timed");
}

enum status check_run(struct check *check, struct error *err)
{
	TRY(check_compile(check, err));
	for (size_t i = 0; i < check->row_count; i++) {
		if (check->rows[i].work->can_run)
			check_resources(check, &check->rows[i]);
		compare_identity(check, &check->rows[i]);
	}
	add_changed_kernels(check);
	if (check->measures)
		return check_measure(check, err);
	for (size_t i = 0; i < check->row_count; i++)
		if (check->rows[i].work->can_run)
			judge_resources(&check->rows[i]);
	return STATUS_OK;
}

/* ---- is there something better by now? ---- */
static struct check_row *row_of(struct check *check, const struct problem *problem)
{
	for (size_t i = 0; i < check->row_count; i++)
		if (check->rows[i].work->problem == problem)
			return &check->rows[i];
	return NULL;
}

static const struct evaluation *incumbent_of(
	const struct evaluated_list *evaluated, const struct check_row *row)
{
	const struct evaluation *ours = &row->work->trial->evaluation;

	for (size_t i = 0; i < evaluated->count; i++) {
		const struct evaluation *evaluation = &evaluated->items[i].evaluation;

		if (evaluation->outcome == OUTCOME_OK &&
			strcmp(evaluation->family, ours->family) == 0 &&
			strcmp(evaluation->configuration, ours->configuration) == 0)
			return evaluation;
	}
	return NULL;
}

void check_take_tuned(struct check *check, const struct problem *problem,
	const struct evaluated_list *evaluated, size_t winner_index,
	const struct tuned_entry *entry)
{
	const struct evaluation *winner = &evaluated->items[winner_index].evaluation;
	struct check_row *row = row_of(check, problem);
	const struct evaluation *incumbent;

	if (!row)
		return;
	incumbent = incumbent_of(evaluated, row);
	if (incumbent == winner)
		return;
	if (incumbent)
		row->better = string_format("%s {%s}, %.1f%% faster%s", winner->family,
			winner->configuration,
			100 * (incumbent->time.median / winner->time.median - 1),
			winner->predicted ? " (predicted)" : "");
	else
		row->better = string_format("%s {%s}: the baseline's winner could not be timed",
			winner->family, winner->configuration);
	row->work->retuned = memory_zeroed(1, sizeof(*row->work->retuned));
	*row->work->retuned = tuned_entry_copy(entry);
}

enum status check_retune(struct check *check, tune_problems *tune, void *context, struct error *err)
{
	struct problem_list problems = {0};
	struct tuned scratch = {.path = string_copy("the baseline")};
	enum status status = STATUS_OK;

	record_copy(&tuned_record, check->baseline, &scratch);
	for (size_t i = 0; i < check->row_count; i++) {
		if (!check->rows[i].work->can_run)
			continue;
		ARRAY_GROW(problems.items, problems.count, problems.capacity);
		problems.items[problems.count++] = check->rows[i].work->problem;
	}
	if (problems.count)
		status = tune(context, &problems, &scratch, err);
	/* a problem that cannot be tuned has nothing better: the check has said what is wrong */
	if (status != STATUS_NO_DEVICE && status != STATUS_INTERRUPTED)
		status = STATUS_OK;
	free(problems.items); /* the problems are the rows' */
	tuned_release(&scratch);
	return status;
}

/* ---- what came of it ---- */
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
	if (check_count(check, CHECK_SLOWER))
		return STATUS_REGRESSION;
	if (check_count(check, CHECK_UNCLEAR) || check_count(check, CHECK_NOT_COMPARABLE))
		return STATUS_INCONCLUSIVE;
	return STATUS_OK;
}

void check_release(struct check *check)
{
	evaluator_release(&check->evaluator); /* its trials borrow from the rows */
	for (size_t i = 0; i < check->row_count; i++)
		check_row_release(&check->rows[i]);
	free(check->rows);
	free(check->kept_folder);
	free(check->notice);
	check_identity_release(&check->identity);
	*check = (struct check){0};
}
