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
	/* of each row: where the loads of today's kernel and of the kept one begin, and the loads
	 * merged */
	struct round_series *now[GROUP_ROWS], *then[GROUP_ROWS];
	struct round_series merged_now[GROUP_ROWS], merged_then[GROUP_ROWS];
};

/* ---- loading ---- */
static bool is_same_binary(const struct check_row *row)
{
	const struct device_job *kept = &row->work->kept.job;
	const struct trial *trial = row->work->trial;

	if (!row->work->kept.found || kept->cubin_count != trial->build.unit_count)
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
	struct check_work *work = row->work;

	if (load)
		return evaluator_add_job(&check->evaluator, work->problem, &work->trial->job,
			&work->now_loads[load], err);
	work->now_loads[0] = work->trial;
	work->trial->goal = TRIAL_VERIFIED;
	return evaluator_ask(&check->evaluator, work->trial, err);
}

static enum status load_kept(
	struct check *check, struct check_row *row, size_t load, struct error *err)
{
	struct check_work *work = row->work;

	if (!work->kept.found || row->same_binary)
		return STATUS_OK;
	return evaluator_add_job(
		&check->evaluator, work->problem, &work->kept.job, &work->kept_loads[load], err);
}

/* Old and new kernels are loaded first in turn: the address of code depends on earlier loads. */
static enum status load_row(struct check *check, struct check_row *row, struct error *err)
{
	bool is_short = row->baseline_us > 0 && row->baseline_us < several_loads_below_us;

	row->same_binary = is_same_binary(row);
	row->work->loads = is_short ? CHECK_LOADS : 1;
	for (size_t i = 0; i < row->work->loads; i++) {
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

static void take_failed(struct check_row *row, const struct evaluation *evaluation)
{
	const char *detail = evaluation->detail;

	if (evaluation->outcome == OUTCOME_OUT_OF_MEMORY)
		check_row_decide(row, CHECK_NOT_COMPARABLE, "out of memory: %s",
			detail ? detail : "its tensors do not fit");
	else
		check_row_decide(row, CHECK_FAILED, "%s: %s", outcome_name(evaluation->outcome),
			detail ? detail : outcome_summary(evaluation->outcome));
}

/* Bits that are not those of the baseline are a verdict, however fast it is. */
static void take_bits(const struct check *check, struct check_row *row)
{
	const struct bits *then = row->entry.winner.bits;
	const struct bits *now = row->work->trial->evaluation.bits;
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
	struct check_work *work = row->work;
	bool kept = true;

	for (size_t i = 0; i < work->loads; i++) {
		if (work->now_loads[i]->stage == TRIAL_DONE)
			take_failed(row, &work->now_loads[i]->evaluation);
		kept &= !work->kept_loads[i] || work->kept_loads[i]->stage != TRIAL_DONE;
	}
	if (!kept)
		drop_loads(check, work->kept_loads);
	if (work->now_loads[0]->stage == TRIAL_VERIFIED)
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
			evaluator_announce(&check->evaluator, row->work->problem, &reason);

		if (status == STATUS_NO_DEVICE)
			return error_set(err, status, "%s", reason.message);
		if (status != STATUS_OK)
			check_row_decide(row, CHECK_FAILED, "%s", reason.message);
		else
			TRY(load_row(check, row, err));
	}
	TRY(evaluator_run(&check->evaluator, err));
	for (size_t i = 0; i < group->count; i++)
		if (group->rows[i]->work->now_loads[0])
			take_loaded(check, group->rows[i]);
	return STATUS_OK;
}

/* ---- timing ---- */
/* Returns the first. */
static struct round_series *add_series(
	struct group *group, struct trial *const *loads, size_t count)
{
	struct round_series *first = &group->series[group->series_count];

	for (size_t i = 0; i < count; i++)
		group->series[group->series_count++] = (struct round_series){.trial = loads[i]};
	return first;
}

/* What was measured so far, as one series per kernel. */
static void merge(struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		struct check_work *work = group->rows[i]->work;

		round_series_release(&group->merged_now[i]);
		round_series_release(&group->merged_then[i]);
		if (group->now[i]) {
			round_series_merge(group->now[i], work->loads, &group->merged_now[i]);
			work->now = &group->merged_now[i];
		}
		if (group->then[i]) {
			round_series_merge(group->then[i], work->loads, &group->merged_then[i]);
			work->then = &group->merged_then[i];
		}
	}
}

static bool enough(struct round_series *series, size_t count, void *context)
{
	struct group *group = context;
	bool enough = true;

	(void)count;
	merge(group);
	for (size_t i = 0; i < group->count && enough; i++)
		if (check_row_can_run(group->rows[i]))
			enough = check_time_is_known(group->check, group->rows[i], &series[0]);
	return enough;
}

static double budget_seconds(const struct check *check, size_t rows)
{
	size_t all = 0;

	for (size_t i = 0; i < check->row_count; i++)
		all += check->rows[i].work->can_run;
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

	add_series(group, &anchor, 1);
	for (size_t i = 0; i < group->count; i++) {
		struct check_work *work = group->rows[i]->work;

		if (!check_row_can_run(group->rows[i]))
			continue;
		timed++;
		group->now[i] = add_series(group, work->now_loads, work->loads);
		if (work->kept_loads[0])
			group->then[i] = add_series(group, work->kept_loads, work->loads);
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

	merge(group);
	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];

		if (!check_row_can_run(row))
			continue;
		check_time(check, row, anchor);
		if (!row->now.rounds)
			continue;
		check->anchor_us = row->now.anchor_us;
		evaluation_add_samples(&row->work->trial->evaluation, row->work->now->round_us,
			row->work->now->rounds);
	}
}

static void end(struct group *group, struct trial *anchor)
{
	struct check *check = group->check;

	for (size_t i = 0; i < group->count; i++) {
		struct check_work *work = group->rows[i]->work;

		work->now = work->then = NULL;
		work->now_loads[0] = NULL;
		drop_loads(check, work->now_loads);
		drop_loads(check, work->kept_loads);
		round_series_release(&group->merged_now[i]);
		round_series_release(&group->merged_then[i]);
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
			TRY(evaluator_check(evaluator, group->rows[i]->work->now_loads,
				group->rows[i]->work->loads, err));
	TRY(evaluator_run(evaluator, err));
	for (size_t i = 0; i < group->count; i++)
		for (size_t k = 0;
			check_row_can_run(group->rows[i]) && k < group->rows[i]->work->loads; k++) {
			const struct trial *load = group->rows[i]->work->now_loads[k];

			if (load->evaluation.outcome != OUTCOME_OK)
				take_failed(group->rows[i], &load->evaluation);
		}
	return STATUS_OK;
}

/* A GPU that is lost says nothing of the kernels. */
static enum status expect_device(const struct group *group, struct error *err)
{
	for (size_t i = 0; i < group->count; i++)
		for (size_t k = 0; k < group->rows[i]->work->loads; k++) {
			const struct trial *load = group->rows[i]->work->now_loads[k];

			if (load && load->evaluation.outcome == OUTCOME_DEVICE_LOST)
				return error_set(err, STATUS_NO_DEVICE,
					"%s %s: the device was lost: %s", group->rows[i]->operation,
					group->rows[i]->problem,
					load->evaluation.detail ? load->evaluation.detail
								: "no message");
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
