/* SPDX-License-Identifier: MIT */
#include "check/row.h"

/* Today's kernels and the kept ones are loaded, short ones several times; today's are compared with
 * the reference; all are timed in rounds. A few rows at a time, so that their tensors fit into
 * memory together and a round is short. */
enum {
	GROUP_ROWS = 8,
	WARM_UP_ROUNDS = 2,
	ROUNDS_MIN = 12,
	ROUNDS_MAX = 200,
};
/* Loads of one binary differ by a fraction of a microsecond, which does not matter above this. */
static const double several_loads_below_us = 50;

/* The rows that are on the GPU together. */
struct group {
	struct check *check;
	struct check_row *rows[GROUP_ROWS];
	size_t count;
	struct round_series series[2 * GROUP_ROWS * CHECK_LOADS + 1]; /* the anchor first */
	size_t series_count;
};

/* ---- loading ---- */
static bool is_same_binary(const struct check_row *row)
{
	const struct device_job *kept = &row->binary;
	const struct trial *trial = row->trial;

	if (!kept->cubin_count || kept->cubin_count != trial->build.unit_count)
		return false;
	for (size_t i = 0; i < kept->cubin_count; i++) {
		const struct text *cubin = &trial->kernels[i]->cubin;

		if (cubin->length != kept->cubins[i].length ||
			memcmp(cubin->data, kept->cubins[i].data, cubin->length) != 0)
			return false;
	}
	return record_equal(&plan_record, kept->plan, &trial->plan);
}

static enum status load_now(
	struct check *check, struct check_row *row, size_t load, struct error *err)
{
	if (load)
		return evaluator_add_job(&check->evaluator, row->problem, &row->trial->job,
			&row->today.loads[load], err);
	row->today.loads[0] = row->trial;
	row->trial->goal = TRIAL_VERIFIED;
	return evaluator_ask(&check->evaluator, row->trial, err);
}

static enum status load_kept(
	struct check *check, struct check_row *row, size_t load, struct error *err)
{
	if (!row->binary.cubin_count || row->same_binary)
		return STATUS_OK;
	return evaluator_add_job(
		&check->evaluator, row->problem, &row->binary, &row->kept.loads[load], err);
}

/* Old and new kernels are loaded first in turn: the address of code depends on earlier loads. */
static enum status load_row(struct check *check, struct check_row *row, struct error *err)
{
	bool is_short = row->baseline_us > 0 && row->baseline_us < several_loads_below_us;

	row->same_binary = is_same_binary(row);
	row->load_count = is_short ? CHECK_LOADS : 1;
	for (size_t i = 0; i < row->load_count; i++) {
		TRY(i % 2 ? load_kept(check, row, i, err) : load_now(check, row, i, err));
		TRY(i % 2 ? load_now(check, row, i, err) : load_kept(check, row, i, err));
	}
	return STATUS_OK;
}

static void drop_loads(struct check *check, struct trial **loads)
{
	for (size_t i = 0; i < CHECK_LOADS; i++) {
		evaluator_free_trial(&check->evaluator, loads[i]);
		loads[i] = NULL;
	}
}

static void take_failed(struct check_row *row, const struct result *result)
{
	const char *detail = result->detail;

	if (result->outcome == OUTCOME_OUT_OF_MEMORY)
		check_row_decide(row, CHECK_NOT_COMPARABLE, "out of memory: %s",
			detail ? detail : "its tensors do not fit");
	else
		check_row_decide(row, CHECK_FAILED, "%s: %s", outcome_name(result->outcome),
			detail ? detail : outcome_summary(result->outcome));
}

/* Bits that are not those of the baseline are a verdict, however fast it is. */
static void take_bits(const struct check *check, struct check_row *row)
{
	const struct bits *then = row->entry.winner.bits;
	const struct bits *now = row->trial->result.bits;
	CLEANUP(text_release) struct text common = {0};
	enum bits_verdict verdict = BITS_UNKNOWN;
	uint64_t rows = 0;

	if (!check->options.bits && !row->entry.bits)
		return;
	if (then && now)
		verdict = bits_compare(then, now, &rows);
	if (verdict == BITS_UNKNOWN)
		check_row_decide(row, CHECK_NOT_COMPARABLE, "%s no digests of its bits",
			row->entry.winner.by_program ? "a program has"
			: then                       ? "today's kernel has"
						     : "the baseline has");
	if (verdict != BITS_OTHER)
		return;
	bits_describe(now, rows, &common);
	check_row_decide(row, CHECK_OTHER_BITS,
		"sums are made in another order: other bits in %s%s", common.data,
		row->same_binary ? ", of the same binary" : "");
}

/* Without one of its kept loads a row is timed without them all. */
static void take_loaded(struct check *check, struct check_row *row)
{
	bool kept = true;

	for (size_t i = 0; i < row->load_count; i++) {
		if (row->today.loads[i]->stage == TRIAL_DONE)
			take_failed(row, &row->today.loads[i]->result);
		kept &= !row->kept.loads[i] || row->kept.loads[i]->stage != TRIAL_DONE;
	}
	if (!kept)
		drop_loads(check, row->kept.loads);
	if (row->trial->stage == TRIAL_VERIFIED)
		take_bits(check, row);
	check_resources(check, row); /* with what the driver says of them */
}

/* What fails has its verdict. */
static enum status load(struct group *group, struct error *err)
{
	struct check *check = group->check;

	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];
		struct error reason = {0};

		const enum status status =
			evaluator_announce(&check->evaluator, row->problem, &reason);

		if (status == STATUS_NO_DEVICE)
			return error_set(err, status, "%s", reason.message);
		if (status != STATUS_OK)
			check_row_decide(row, CHECK_FAILED, "%s", reason.message);
		else
			TRY(load_row(check, row, err));
	}
	TRY(evaluator_run(&check->evaluator, err));
	for (size_t i = 0; i < group->count; i++)
		if (group->rows[i]->today.loads[0])
			take_loaded(check, group->rows[i]);
	return STATUS_OK;
}

/* ---- timing ---- */
static void add_series(struct group *group, struct check_kernel *kernel, size_t count)
{
	if (!kernel->loads[0])
		return;
	kernel->series = &group->series[group->series_count];
	for (size_t i = 0; i < count; i++)
		group->series[group->series_count++] =
			(struct round_series){.trial = kernel->loads[i]};
}

/* What was measured so far, as one series per kernel. */
static void merge(struct check_kernel *kernel, size_t loads)
{
	round_series_release(&kernel->merged);
	if (kernel->series)
		round_series_merge(kernel->series, loads, &kernel->merged);
}

static void merge_all(struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		merge(&group->rows[i]->today, group->rows[i]->load_count);
		merge(&group->rows[i]->kept, group->rows[i]->load_count);
	}
}

static bool enough(struct round_series *series, size_t count, void *context)
{
	struct group *group = context;
	bool enough = true;

	(void)count;
	merge_all(group);
	for (size_t i = 0; i < group->count && enough; i++)
		if (check_row_can_run(group->rows[i]))
			enough = check_time_is_known(group->check, group->rows[i], &series[0]);
	return enough;
}

static double budget_seconds(const struct check *check, size_t rows)
{
	size_t all = 0;

	for (size_t i = 0; i < check->row_count; i++)
		all += check->rows[i].can_run;
	return check->options.budget_s > 0 && all
		       ? check->options.budget_s * (double)rows / (double)all
		       : CHECK_SECONDS_PER_ENTRY * (double)rows;
}

static enum status sample(struct group *group, struct trial *anchor, struct error *err)
{
	struct round_limits limits = {.warm_up_rounds = WARM_UP_ROUNDS,
		.first_look = ROUNDS_MIN,
		.last_look = ROUNDS_MAX,
		.enough = enough,
		.context = group};
	size_t timed = 0;

	group->series[group->series_count++] = (struct round_series){.trial = anchor};
	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];

		if (!check_row_can_run(row))
			continue;
		timed++;
		add_series(group, &row->today, row->load_count);
		add_series(group, &row->kept, row->load_count);
	}
	if (!timed)
		return STATUS_OK;
	limits.seconds = budget_seconds(group->check, timed);
	return rounds_run(
		&group->check->evaluator, group->series, group->series_count, &limits, err);
}

static void judge(struct group *group)
{
	const struct round_series *anchor = &group->series[0];
	struct check *check = group->check;

	merge_all(group);
	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];

		if (!check_row_can_run(row))
			continue;
		check_time(check, row, anchor);
		if (!row->now.rounds)
			continue;
		check->anchor_us = row->now.anchor_us;
		result_add_samples(
			&row->trial->result, row->today.merged.round_us, row->today.merged.rounds);
	}
}

static void kernel_end(struct check *check, struct check_kernel *kernel)
{
	drop_loads(check, kernel->loads);
	round_series_release(&kernel->merged);
	kernel->series = NULL;
}

static void end(struct group *group, struct trial *anchor)
{
	struct check *check = group->check;

	for (size_t i = 0; i < group->count; i++) {
		group->rows[i]->today.loads[0] = NULL; /* stays: the row's trial */
		kernel_end(check, &group->rows[i]->today);
		kernel_end(check, &group->rows[i]->kept);
	}
	evaluator_free_trial(&check->evaluator, anchor);
	for (size_t i = 0; i < group->series_count; i++)
		round_series_release(&group->series[i]);
}

/* What was timed is verified again: a kernel may go wrong with a later launch than the first. */
static enum status verify_again(struct group *group, struct error *err)
{
	struct evaluator *evaluator = &group->check->evaluator;

	for (size_t i = 0; i < group->count; i++)
		if (check_row_can_run(group->rows[i]))
			TRY(evaluator_check(evaluator, group->rows[i]->today.loads,
				group->rows[i]->load_count, err));
	TRY(evaluator_run(evaluator, err));
	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];

		for (size_t k = 0; check_row_can_run(row) && k < row->load_count; k++)
			if (row->today.loads[k]->result.outcome != OUTCOME_OK)
				take_failed(row, &row->today.loads[k]->result);
	}
	return STATUS_OK;
}

/* A GPU that is lost says nothing of the kernels. */
static enum status expect_device(const struct group *group, struct error *err)
{
	for (size_t i = 0; i < group->count; i++)
		for (size_t k = 0; k < group->rows[i]->load_count; k++) {
			const struct tuned_entry *entry = &group->rows[i]->entry;
			const struct trial *load = group->rows[i]->today.loads[k];

			if (load && load->result.outcome == OUTCOME_DEVICE_LOST)
				return error_set(err, STATUS_NO_DEVICE,
					"%s %s: the device was lost: %s", entry->operation,
					group->rows[i]->problem_text,
					load->result.detail ? load->result.detail : "no message");
		}
	for (size_t i = 0; i < group->series_count; i++)
		if (group->series[i].outcome == OUTCOME_DEVICE_LOST)
			return error_set(err, STATUS_NO_DEVICE, "the device was lost: %s",
				group->series[i].detail ? group->series[i].detail : "no message");
	return STATUS_OK;
}

static enum status run(struct group *group, struct trial **anchor, struct error *err)
{
	*anchor = evaluator_add_anchor(&group->check->evaluator);
	TRY(load(group, err));
	TRY(expect_device(group, err));
	TRY(sample(group, *anchor, err));
	TRY(expect_device(group, err));
	if (group->series[0].outcome != OUTCOME_OK)
		return error_set(err, STATUS_NO_DEVICE,
			"expected the GPU to run the anchor kernel, found: %s",
			group->series[0].detail ? group->series[0].detail
						: outcome_name(group->series[0].outcome));
	TRY(verify_again(group, err));
	TRY(expect_device(group, err));
	judge(group);
	return STATUS_OK;
}

static enum status measure_group(struct group *group, struct error *err)
{
	struct trial *anchor = NULL;
	const enum status status = run(group, &anchor, err);

	end(group, anchor);
	return status;
}

enum status check_measure(struct check *check, struct error *err)
{
	for (size_t at = 0; at < check->row_count;) {
		struct group group = {.check = check};

		for (; at < check->row_count && group.count < GROUP_ROWS; at++)
			if (check_row_can_run(&check->rows[at]))
				group.rows[group.count++] = &check->rows[at];
		if (group.count)
			TRY(measure_group(&group, err));
	}
	return STATUS_OK;
}
