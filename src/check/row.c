/* SPDX-License-Identifier: MIT */
#include "check/row.h"

#include <stdio.h>

#include "engine/row.h"

bool check_row_is_decided(const struct check_row *row)
{
	return row->reason != NULL;
}

bool check_row_can_run(const struct check_row *row)
{
	return row->can_run && !check_row_is_decided(row);
}

void check_row_decide(struct check_row *row, enum check_verdict verdict, const char *reason, ...)
{
	struct text text = {0};
	va_list args;

	if (check_row_is_decided(row))
		return;
	va_start(args, reason);
	text_append_args(&text, reason, args);
	va_end(args);
	for (size_t i = 0; i < text.length; i++)
		if (text.data[i] == '\n')
			text.data[i] = ' ';
	row->verdict = verdict;
	row->reason = text_detach(&text);
}

static enum status build_candidate(
	const struct check *check, struct check_row *row, struct error *err)
{
	const struct operation *operation;

	TRY(catalogue_operation(&check->context->catalogue, row->entry.operation, &operation, err));
	TRY(problem_from_named_values(operation, &row->entry.problem, &row->problem, err));
	return row_candidate(&check->context->catalogue, row->problem, check->context->device->spec,
		&row->entry.winner, &row->winner, NULL, err);
}

void check_row_open(const struct tuned_entry *entry, struct check_row *row)
{
	*row = (struct check_row){.entry = tuned_entry_copy(entry),
		.problem_text = named_values_text(&entry->problem),
		.configuration = named_values_text(&entry->winner.configuration),
		.baseline_us = entry->predicted ? 0 : entry->winner.result.time.median};
}

void check_row_build(struct check *check, struct check_row *row)
{
	struct error reason = {0};

	if (!check_row_is_decided(row) && build_candidate(check, row, &reason) != STATUS_OK)
		check_row_decide(row, CHECK_FAILED,
			reason.hint[0] ? "the kernel can no longer be built: %s (%s)"
				       : "the kernel can no longer be built: %s",
			reason.message, reason.hint);
}

static void start_trial(struct check *check, struct check_row *row)
{
	struct error reason = {0};

	if (!check_row_is_decided(row) &&
		evaluator_add(&check->evaluator, &row->winner, TRIAL_COMPILED, &row->trial,
			&reason) != STATUS_OK)
		check_row_decide(
			row, CHECK_FAILED, "the kernel can no longer be built: %s", reason.message);
}

static void take_compiled(struct check_row *row)
{
	const struct trial *trial = row->trial;
	const char *log = trial->result.detail ? trial->result.detail : "";

	row->can_run = trial->stage == TRIAL_COMPILED;
	if (!row->can_run)
		check_row_decide(row, CHECK_FAILED, "the kernel no longer compiles (%s): %.*s",
			outcome_name(trial->result.outcome), (int)strcspn(log, "\n"), log);
}

enum status check_compile(struct check *check, struct error *err)
{
	for (size_t i = 0; i < check->row_count; i++)
		start_trial(check, &check->rows[i]);
	TRY(evaluator_run(&check->evaluator, err));
	for (size_t i = 0; i < check->row_count; i++)
		if (check->rows[i].trial)
			take_compiled(&check->rows[i]);
	return STATUS_OK;
}

struct launch_figures {
	int64_t threads, regs, spill_bytes, stack_bytes, smem_static_bytes, smem_dynamic_bytes,
		blocks_per_sm;
};

/* Takes ownership of the text. */
static void add_difference(struct check_row *row, bool is_worse, char *text)
{
	row->differences = memory_resize(
		row->differences, row->difference_count + 1, sizeof(*row->differences));
	row->differences[row->difference_count++] =
		(struct check_difference){.text = text, .is_worse = is_worse};
}

/* Returns the baseline's figures, -1 for missing values. For a tile kernel the baseline has the
 * blocks per SM, but not the threads that the compiler chose. Old baselines lack local memory,
 * which a kernel with spills used. */
static struct launch_figures figures_then(const struct tuned_row *row, size_t i, bool is_tile)
{
	const struct tuned_launch *launch = &row->launches[i];
	const bool has_score = i < row->result.score.launch_count;
	const struct launch_score *score = &row->result.score.launches[i];
	const int64_t stack_bytes = has_score ? score->stack_bytes : -1;
	const int64_t threads = is_tile ? 0 : launch_shape_threads(&launch->shape);

	return (struct launch_figures){threads ? threads : -1, launch->regs_per_thread,
		launch->spill_bytes, stack_bytes || !launch->spill_bytes ? stack_bytes : -1,
		launch->smem_static_bytes, launch->shape.smem_dynamic_bytes,
		is_tile && has_score ? score->blocks_per_sm : launch->blocks_per_sm};
}

static struct launch_figures figures_now(
	const struct plan_launch *launch, const struct kernel_resources *resources)
{
	return (struct launch_figures){launch_threads(&launch->shape, resources),
		resources->regs_per_thread, resources->spill_store_bytes, resources->stack_bytes,
		resources->smem_static_bytes, launch->shape.smem_dynamic_bytes,
		resources->blocks_per_sm};
}

/* Calculates blocks per SM, as the driver's figure then and the model's now may differ. */
static void calculate_blocks(const struct device_spec *spec, struct launch_figures *figures)
{
	enum occupancy_limiter limiter;

	if (figures->threads > 0 && figures->regs >= 0 && figures->smem_static_bytes >= 0 &&
		figures->smem_dynamic_bytes >= 0)
		figures->blocks_per_sm =
			occupancy_blocks_per_sm(spec, (int)figures->threads, (int)figures->regs,
				figures->smem_static_bytes, figures->smem_dynamic_bytes, &limiter);
}

/* Adds a difference if both values are known. `worse` is the sign of a regression, or 0. */
static void compare_figures(struct check_row *row, const char *where, const char *what,
	const char *unit, int64_t then, int64_t now, int worse)
{
	if (then >= 0 && now >= 0 && then != now)
		add_difference(row, worse && (now > then) == (worse > 0),
			string_format("%s%s %lld -> %lld%s", where, what, (long long)then,
				(long long)now, unit));
}

/* Returns -1 if not known. */
static int64_t smem_bytes(const struct launch_figures *figures)
{
	return figures->smem_static_bytes >= 0 && figures->smem_dynamic_bytes >= 0
		       ? figures->smem_static_bytes + figures->smem_dynamic_bytes
		       : -1;
}

/* Fails rows that exceed a limit of a device model; a GPU reports this itself. */
static void expect_fits(const struct device_spec *spec, struct check_row *row, const char *where,
	const struct launch_figures *now)
{
	if (smem_bytes(now) > spec->smem_per_block_bytes)
		check_row_decide(row, CHECK_FAILED,
			"cannot run: %sshared memory no longer fits: %lld B of %lld B", where,
			(long long)smem_bytes(now), (long long)spec->smem_per_block_bytes);
	else if (!now->blocks_per_sm)
		check_row_decide(row, CHECK_FAILED,
			"cannot run: %sno block fits on an SM: %lld threads of %lld registers",
			where, (long long)now->threads, (long long)now->regs);
}

static void compare_launch(const struct check *check, struct check_row *row, const char *where,
	struct launch_figures then, struct launch_figures now)
{
	const struct device_spec *spec = check->context->device->spec;

	if (!check->measures) {
		calculate_blocks(spec, &then);
		calculate_blocks(spec, &now);
	}
	expect_fits(spec, row, where, &now);
	compare_figures(row, where, "threads", "", then.threads, now.threads, 0);
	compare_figures(row, where, "registers", "", then.regs, now.regs, 0);
	compare_figures(row, where, "spills", " B", then.spill_bytes, now.spill_bytes, 1);
	compare_figures(row, where, "local memory", " B", then.stack_bytes, now.stack_bytes, 1);
	compare_figures(row, where, "shared memory", " B", smem_bytes(&then), smem_bytes(&now), 0);
	compare_figures(row, where, "occupancy", " blocks per SM", then.blocks_per_sm,
		now.blocks_per_sm, -1);
}

static void compare_flags(struct check_row *row)
{
	uint32_t now = row->trial->result.flags;

	/* spills are listed with their size, and the others are not properties of the kernel */
	now &= ~(row->entry.winner.result.flags | FLAG_MASK(SPILLS) | FLAG_MASK(THROTTLED) |
		 FLAG_MASK(WARM_L2));
	for (int flag = 0; flag < FLAG_COUNT; flag++)
		if (now & 1u << flag)
			add_difference(row, true,
				string_format(
					"the compiler now reports %s", kernel_flag_names[flag]));
}

static void differences_clear(struct check_row *row)
{
	for (size_t i = 0; i < row->difference_count; i++)
		free(row->differences[i].text);
	row->difference_count = 0;
}

void check_resources(const struct check *check, struct check_row *row)
{
	const struct trial *trial = row->trial;
	const struct plan *plan = &trial->plan;
	const struct tuned_row *winner = &row->entry.winner;

	differences_clear(row);
	row->by_program = trial->result.by_program;
	if (!trial->result.resources && !row->by_program)
		return;
	row->kernel_changed = winner->result.kernel_hash[0] &&
			      strcmp(winner->result.kernel_hash, trial->build.kernel_hash) != 0;
	compare_flags(row);
	if (winner->launch_count && winner->launch_count != plan->launch_count)
		add_difference(row, false,
			string_format(
				"launches %zu -> %zu", winner->launch_count, plan->launch_count));
	for (size_t i = 0; winner->launch_count == plan->launch_count && i < plan->launch_count;
		i++) {
		char where[96] = "";

		if (plan->launch_count > 1)
			snprintf(where, sizeof(where), "%s: ", plan->launches[i].entry);
		compare_launch(check, row, where,
			figures_then(winner, i, plan->launches[i].is_tile),
			figures_now(&plan->launches[i], &trial->result.resources[i]));
	}
}

void check_differences_list(const struct check_row *row, bool only_worse, struct text *text)
{
	for (size_t i = 0; i < row->difference_count; i++)
		if (!only_worse || row->differences[i].is_worse)
			text_appendf(
				text, "%s%s", text->length ? "; " : "", row->differences[i].text);
}

void check_row_release(struct check_row *row)
{

	check_kept_release(&row->binary);
	candidate_release(&row->winner);
	problem_free(row->problem);
	differences_clear(row);
	free(row->differences);
	free(row->problem_text);
	free(row->configuration);
	free(row->reason);
	tuned_entry_release(&row->entry);
	*row = (struct check_row){0};
}
