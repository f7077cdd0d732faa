/* SPDX-License-Identifier: MIT */
#include "check/row.h"

#include <stdio.h>

#include "check/baseline.h"
#include "engine/row.h"

bool check_row_is_decided(const struct check_row *row)
{
	return row->reason != NULL;
}

bool check_row_can_run(const struct check_row *row)
{
	return row->work->can_run && !check_row_is_decided(row);
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

static enum status build(const struct check *check, struct check_row *row, struct error *err)
{
	const struct operation *operation;
	struct check_work *work = row->work;

	TRY(catalogue_operation(&check->context->catalogue, row->operation, &operation, err));
	TRY(problem_from_named_values(operation, &row->entry.problem, &work->problem, err));
	return row_candidate(&check->context->catalogue, work->problem,
		check->context->device->spec, &row->entry.winner, &work->winner, NULL, err);
}

void check_row_open(const struct tuned_entry *entry, struct check_row *row)
{
	*row = (struct check_row){.entry = tuned_entry_copy(entry),
		.operation = string_copy(entry->operation),
		.problem = named_values_text(&entry->problem),
		.family = string_copy(entry->winner.family),
		.configuration = named_values_text(&entry->winner.configuration),
		.baseline_us = entry->predicted ? 0 : entry->winner.time.median,
		.work = memory_zeroed(1, sizeof(*row->work))};
}

void check_row_build(struct check *check, struct check_row *row)
{
	struct error reason = {0};

	if (!check_row_is_decided(row) && build(check, row, &reason) != STATUS_OK)
		check_row_decide(row, CHECK_FAILED,
			reason.hint[0] ? "can no longer be built: %s (%s)"
				       : "can no longer be built: %s",
			reason.message, reason.hint);
}

static void start(struct check *check, struct check_row *row)
{
	struct check_work *work = row->work;
	struct error reason = {0};

	if (!check_row_is_decided(row) &&
		evaluator_add(&check->evaluator, &work->winner, TRIAL_COMPILED, &work->trial,
			&reason) != STATUS_OK)
		check_row_decide(row, CHECK_FAILED, "can no longer be built: %s", reason.message);
}

static void take_compiled(struct check_row *row)
{
	const struct trial *trial = row->work->trial;
	const char *log = trial->evaluation.detail ? trial->evaluation.detail : "";

	row->work->can_run = trial->stage == TRIAL_COMPILED;
	if (!row->work->can_run)
		check_row_decide(row, CHECK_FAILED, "no longer compiles (%s): %.*s",
			outcome_name(trial->evaluation.outcome), (int)strcspn(log, "\n"), log);
}

enum status check_compile(struct check *check, struct error *err)
{
	for (size_t i = 0; i < check->row_count; i++)
		start(check, &check->rows[i]);
	TRY(evaluator_run(&check->evaluator, err));
	for (size_t i = 0; i < check->row_count; i++)
		if (check->rows[i].work->trial)
			take_compiled(&check->rows[i]);
	return STATUS_OK;
}

/* ---- registers, spills, shared memory, occupancy: then and now ---- */
struct launch_figures {
	int64_t threads, regs, spill_bytes, stack_bytes, smem_static_bytes, smem_dynamic_bytes,
		blocks_per_sm;
};

PRINTF_LIKE(3, 4) static void add(struct check_row *row, bool is_worse, const char *format, ...)
{
	struct text text = {0};
	va_list args;

	va_start(args, format);
	text_append_args(&text, format, args);
	va_end(args);
	row->differences = memory_resize(
		row->differences, row->difference_count + 1, sizeof(*row->differences));
	row->differences[row->difference_count++] =
		(struct check_difference){.text = text_detach(&text), .is_worse = is_worse};
}

/* -1 where the baseline does not say. Baselines of old have no local memory: what spilled had some.
 */
static struct launch_figures figures_then(const struct tuned_row *row, size_t i)
{
	const struct tuned_launch *launch = &row->launches[i];
	const int64_t stack_bytes =
		i < row->score.launch_count ? row->score.launches[i].stack_bytes : -1;

	return (struct launch_figures){
		(int64_t)launch->shape.block[0] * launch->shape.block[1] * launch->shape.block[2],
		launch->regs_per_thread, launch->spill_bytes,
		stack_bytes || !launch->spill_bytes ? stack_bytes : -1, launch->smem_static_bytes,
		launch->shape.smem_dynamic_bytes, launch->blocks_per_sm};
}

static struct launch_figures figures_now(
	const struct plan_launch *launch, const struct kernel_resources *resources)
{
	return (struct launch_figures){
		(int64_t)launch->shape.block[0] * launch->shape.block[1] * launch->shape.block[2],
		resources->regs_per_thread, resources->spill_store_bytes, resources->stack_bytes,
		resources->smem_static_bytes, launch->shape.smem_dynamic_bytes,
		resources->blocks_per_sm};
}

/* One calculator for both sides: the driver's answer then and the model's now need not agree. */
static void calculate_blocks(const struct device_spec *spec, struct launch_figures *figures)
{
	enum occupancy_limiter limiter;

	if (figures->threads > 0 && figures->regs >= 0 && figures->smem_static_bytes >= 0 &&
		figures->smem_dynamic_bytes >= 0)
		figures->blocks_per_sm =
			occupancy_blocks_per_sm(spec, (int)figures->threads, (int)figures->regs,
				figures->smem_static_bytes, figures->smem_dynamic_bytes, &limiter);
}

/* A GPU says by itself that it cannot run a kernel. */
static void compare_smem(const struct device_spec *spec, struct check_row *row, const char *where,
	const struct launch_figures *then, const struct launch_figures *now)
{
	int64_t bytes_then = then->smem_static_bytes + then->smem_dynamic_bytes;
	int64_t bytes_now = now->smem_static_bytes + now->smem_dynamic_bytes;

	if (bytes_now > spec->smem_per_block_bytes)
		check_row_decide(row, CHECK_FAILED,
			"cannot run: %sshared memory no longer fits: %lld B of %lld B", where,
			(long long)bytes_now, (long long)spec->smem_per_block_bytes);
	else if (!now->blocks_per_sm)
		check_row_decide(row, CHECK_FAILED,
			"cannot run: %sno block fits on an SM: %lld threads of %lld registers",
			where, (long long)now->threads, (long long)now->regs);
	if (then->smem_static_bytes >= 0 && then->smem_dynamic_bytes >= 0 &&
		bytes_then != bytes_now)
		add(row, false, "%sshared memory %lld -> %lld B", where, (long long)bytes_then,
			(long long)bytes_now);
}

static void compare_launch(const struct check *check, struct check_row *row, const char *where,
	struct launch_figures then, struct launch_figures now)
{
	const struct device_spec *spec = check->context->device->spec;

	if (!check->measures) {
		calculate_blocks(spec, &then);
		calculate_blocks(spec, &now);
	}
	if (then.threads > 0 && then.threads != now.threads)
		add(row, false, "%sthreads %lld -> %lld", where, (long long)then.threads,
			(long long)now.threads);
	if (then.regs >= 0 && then.regs != now.regs)
		add(row, false, "%sregisters %lld -> %lld", where, (long long)then.regs,
			(long long)now.regs);
	if (then.spill_bytes >= 0 && then.spill_bytes != now.spill_bytes)
		add(row, now.spill_bytes > then.spill_bytes, "%sspills %lld -> %lld B", where,
			(long long)then.spill_bytes, (long long)now.spill_bytes);
	if (then.stack_bytes >= 0 && now.stack_bytes >= 0 && then.stack_bytes != now.stack_bytes)
		add(row, now.stack_bytes > then.stack_bytes, "%slocal memory %lld -> %lld B", where,
			(long long)then.stack_bytes, (long long)now.stack_bytes);
	compare_smem(spec, row, where, &then, &now);
	if (then.blocks_per_sm >= 0 && now.blocks_per_sm >= 0 &&
		then.blocks_per_sm != now.blocks_per_sm)
		add(row, now.blocks_per_sm < then.blocks_per_sm,
			"%soccupancy %lld -> %lld blocks per SM", where,
			(long long)then.blocks_per_sm, (long long)now.blocks_per_sm);
}

/* What the compiler complains about now and did not then. */
static void compare_flags(struct check_row *row)
{
	uint32_t now = row->work->trial->evaluation.flags;

	/* spills are listed with their size, and heat is no property of a kernel */
	now &= ~(row->entry.winner.flags | FLAG_MASK(SPILLS) | FLAG_MASK(THROTTLED) |
		 FLAG_MASK(WARM_L2));
	for (int flag = 0; flag < FLAG_COUNT; flag++)
		if (now & 1u << flag)
			add(row, true, "the compiler now reports %s", kernel_flag_names[flag]);
}

static void differences_clear(struct check_row *row)
{
	for (size_t i = 0; i < row->difference_count; i++)
		free(row->differences[i].text);
	row->difference_count = 0;
}

void check_resources(const struct check *check, struct check_row *row)
{
	const struct trial *trial = row->work->trial;
	const struct plan *plan = &trial->plan;
	const struct tuned_row *winner = &row->entry.winner;

	differences_clear(row);
	row->by_program = trial->evaluation.by_program;
	if (!trial->evaluation.resources && !row->by_program)
		return;
	row->kernel_changed = winner->kernel_hash[0] &&
			      strcmp(winner->kernel_hash, trial->build.kernel_hash) != 0;
	compare_flags(row);
	if (winner->launch_count && winner->launch_count != plan->launch_count)
		add(row, false, "launches %zu -> %zu", winner->launch_count, plan->launch_count);
	for (size_t i = 0; winner->launch_count == plan->launch_count && i < plan->launch_count;
		i++) {
		char where[96] = "";

		if (plan->launch_count > 1)
			snprintf(where, sizeof(where), "%s: ", plan->launches[i].entry);
		compare_launch(check, row, where, figures_then(winner, i),
			figures_now(&plan->launches[i], &trial->evaluation.resources[i]));
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
	struct check_work *work = row->work;

	if (work) {
		check_kept_release(&work->kept);
		candidate_release(&work->winner);
		problem_free(work->problem);
	}
	differences_clear(row);
	free(row->differences);
	free(row->operation);
	free(row->problem);
	free(row->family);
	free(row->configuration);
	free(row->reason);
	tuned_entry_release(&row->entry);
	free(work);
	*row = (struct check_row){0};
}
