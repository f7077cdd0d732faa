/* SPDX-License-Identifier: MIT */
#include "check/row.h"

enum {
	/* A group has few rows, so that their tensors fit into memory and rounds are short. */
	GROUP_ROWS = 8,
	/* Fewer rounds suffice, because each sample batch takes SUSTAINED_VISIT_S. */
	SUSTAINED_ROUNDS_MIN = 4,
	SUSTAINED_ROUNDS_MAX = 12,
};

/* Rows that are on the GPU together. */
struct group {
	struct check *check;
	struct check_row *rows[GROUP_ROWS];
	size_t count;
	bool is_sustained;
	struct contender contenders[1 + 2 * GROUP_ROWS]; /* the anchor, then two per row */
};

static bool is_same_binary(const struct check_row *row)
{
	const struct device_job *kept = &row->binary;
	const struct trial *trial = row->trial;

	if (!kept->cubin_count || kept->cubin_count != trial->build.unit_count)
		return false;
	for (size_t i = 0; i < kept->cubin_count; i++) {
		const struct text *now = &trial->kernels[i]->cubin;
		CLEANUP(text_release) struct text then = {0};

		if (kernel_code_read(kept->cubins[i], &then, NULL) != STATUS_OK ||
			now->length != then.length ||
			memcmp(now->data, then.data, now->length) != 0)
			return false;
	}
	return record_equal(&plan_record, kept->plan, &trial->plan);
}

static enum status load_now(
	struct check *check, struct check_row *row, size_t load, struct error *err)
{
	if (load)
		return evaluator_add_job(&check->evaluator, row->problem, &row->trial->job,
			&row->today->loads[load], err);
	row->today->loads[0] = row->trial;
	row->trial->goal = TRIAL_VERIFIED;
	return evaluator_submit(&check->evaluator, row->trial, err);
}

static enum status load_kept(
	struct check *check, struct check_row *row, size_t load, struct error *err)
{
	if (!row->binary.cubin_count || row->same_binary)
		return STATUS_OK;
	return evaluator_add_job(
		&check->evaluator, row->problem, &row->binary, &row->kept->loads[load], err);
}

/* Loads both kernels in alternating order, because a code's address depends on earlier loads. */
static enum status load_row(struct check *check, struct check_row *row, struct error *err)
{
	const bool is_short =
		row->baseline_us > 0 && row->baseline_us < CHECK_SEVERAL_LOADS_BELOW_US;

	row->same_binary = is_same_binary(row);
	row->today->load_count = is_short ? CHECK_LOADS : 1;
	for (size_t i = 0; i < row->today->load_count; i++) {
		TRY(i % 2 ? load_kept(check, row, i, err) : load_now(check, row, i, err));
		TRY(i % 2 ? load_now(check, row, i, err) : load_kept(check, row, i, err));
	}
	row->kept->load_count = row->kept->loads[0] ? row->today->load_count : 0;
	return STATUS_OK;
}

static void drop_contender(struct check *check, struct contender *contender)
{
	for (size_t i = 0; i < contender->load_count; i++)
		evaluator_free_trial(&check->evaluator, contender->loads[i]);
	contender_release(contender);
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

/* Compares output bits. Other bits are a verdict regardless of the time. */
static void take_bits(const struct check *check, struct check_row *row)
{
	const struct output_digest *then = row->entry.winner.result.bits;
	const struct output_digest *now = row->trial->result.bits;
	CLEANUP(text_release) struct text common = {0};
	enum digest_verdict verdict = DIGEST_UNKNOWN;
	uint64_t rows = 0;

	if (!check->options.bits && !row->entry.bits)
		return;
	if (then && now)
		verdict = output_digest_compare(then, now, &rows);
	if (verdict == DIGEST_UNKNOWN)
		check_row_decide(row, CHECK_NOT_COMPARABLE,
			row->entry.winner.result.by_program
				? "a program has no digests of its outputs"
			: then ? "today's kernel has no digests of its outputs"
			       : "the baseline has no digests of its outputs");
	if (verdict != DIGEST_OTHER)
		return;
	bits_describe(now, rows, &common);
	check_row_decide(row, CHECK_OTHER_BITS, "the order of sums changed: other bits in %s%s",
		common.data, row->same_binary ? ", of the same binary" : "");
}

/* Keeps the stored binary only if all of its loads work. */
static void take_loaded(struct check *check, struct check_row *row)
{
	bool is_kept_loaded = true;

	for (size_t i = 0; i < row->today->load_count; i++)
		if (row->today->loads[i]->stage == TRIAL_DONE)
			take_failed(row, &row->today->loads[i]->result);
	for (size_t i = 0; i < row->kept->load_count; i++)
		is_kept_loaded &= row->kept->loads[i]->stage != TRIAL_DONE;
	if (!is_kept_loaded)
		drop_contender(check, row->kept);
	if (row->trial->stage == TRIAL_VERIFIED)
		take_bits(check, row);
	check_resources(check, row); /* repeated with the driver's figures */
}

static enum status load_rows(struct group *group, struct error *err)
{
	struct check *check = group->check;

	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];
		struct error reason = {0};

		const enum status status =
			evaluator_prepare_problem(&check->evaluator, row->problem, &reason);

		if (status == STATUS_NO_DEVICE)
			return error_set(err, status, "%s", reason.message);
		if (status != STATUS_OK)
			check_row_decide(row, CHECK_FAILED, "%s", reason.message);
		else
			TRY(load_row(check, row, err));
	}
	TRY(evaluator_run(&check->evaluator, err));
	for (size_t i = 0; i < group->count; i++)
		if (group->rows[i]->today->load_count)
			take_loaded(check, group->rows[i]);
	return STATUS_OK;
}

static bool are_times_known(struct contender *contenders, size_t count, void *context)
{
	struct group *group = context;
	bool known = true;

	(void)count;
	for (size_t i = 0; i < group->count && known; i++)
		if (check_row_can_run(group->rows[i]))
			known = check_time_is_known(group->check, group->rows[i], &contenders[0]);
	return known;
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

/* Rows that cannot run already have a verdict. */
static enum status time_rows(struct group *group, struct error *err)
{
	struct evaluator *evaluator = &group->check->evaluator;
	struct timing_limits limits = {.warm_up_rounds = CHECK_WARM_UP_ROUNDS,
		.first_look = CHECK_ROUNDS_MIN,
		.last_look = CHECK_ROUNDS_MAX,
		.is_enough = are_times_known,
		.context = group};
	size_t timed = 0;

	for (size_t i = 0; i < group->count; i++) {
		if (check_row_can_run(group->rows[i])) {
			timed++;
			continue;
		}
		group->rows[i]->today->is_finished = true;
		group->rows[i]->kept->is_finished = true;
	}
	limits.seconds = budget_seconds(group->check, timed);
	if (group->is_sustained) {
		limits.first_look = SUSTAINED_ROUNDS_MIN;
		limits.last_look = SUSTAINED_ROUNDS_MAX;
		limits.sustained_s = SUSTAINED_VISIT_S;
	}
	return timed ? contenders_time(
			       evaluator, group->contenders, 1 + 2 * group->count, &limits, err)
		     : STATUS_OK;
}

static void judge_rows(struct group *group)
{
	struct check *check = group->check;

	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];

		if (!check_row_can_run(row))
			continue;
		check_time(check, row, &group->contenders[0]);
		if (!row->now.rounds)
			continue;
		check->anchor_us = row->now.anchor_us;
		result_set_samples(
			&row->trial->result, row->today->round_us, row->today->round_count);
	}
}

/* A lost device is an error, not a verdict about kernels. */
static enum status expect_device(const struct group *group, struct error *err)
{
	const struct result *anchor = &group->contenders[0].loads[0]->result;

	for (size_t i = 0; i < group->count; i++) {
		const struct check_row *row = group->rows[i];

		if (contender_expect_device(row->today, err) != STATUS_OK ||
			contender_expect_device(row->kept, err) != STATUS_OK)
			return error_context(err, "%s %s", row->entry.operation, row->problem_text);
	}
	TRY(contender_expect_device(&group->contenders[0], err));
	return anchor->outcome == OUTCOME_OK
		       ? STATUS_OK
		       : error_set(err, STATUS_NO_DEVICE,
				 "the GPU cannot run the anchor kernel: %s",
				 anchor->detail ? anchor->detail : outcome_name(anchor->outcome));
}

static enum status measure_rows(struct group *group, struct error *err)
{
	TRY(load_rows(group, err));
	TRY(expect_device(group, err));
	TRY(time_rows(group, err));
	TRY(expect_device(group, err));
	for (size_t i = 0; i < group->count; i++)
		if (check_row_can_run(group->rows[i]))
			TRY(contenders_verify(
				&group->check->evaluator, group->rows[i]->today, 1, err));
	TRY(expect_device(group, err));
	judge_rows(group);
	return STATUS_OK;
}

static enum status measure_group(struct group *group, struct error *err)
{
	struct check *check = group->check;
	enum status status;

	group->contenders[0] = (struct contender){
		.loads = {evaluator_add_anchor(&check->evaluator)}, .load_count = 1};
	for (size_t i = 0; i < group->count; i++) {
		group->rows[i]->today = &group->contenders[1 + 2 * i];
		group->rows[i]->kept = &group->contenders[2 + 2 * i];
	}
	status = measure_rows(group, err);
	for (size_t i = 0; i < group->count; i++) {
		group->rows[i]->today->loads[0] = NULL; /* owned by the row */
		group->rows[i]->today = group->rows[i]->kept = NULL;
	}
	for (size_t i = 0; i < 1 + 2 * group->count; i++)
		drop_contender(check, &group->contenders[i]);
	return status;
}

/* Measures the rows whose baselines were timed under this load. */
static enum status measure_load(struct check *check, bool is_sustained, struct error *err)
{
	for (size_t at = 0; at < check->row_count;) {
		struct group group = {.check = check, .is_sustained = is_sustained};

		for (; at < check->row_count && group.count < GROUP_ROWS; at++)
			if (check_row_can_run(&check->rows[at]) &&
				is_sustained == (check->rows[at].entry.objective ==
							OBJECTIVE_SUSTAINED_TIME))
				group.rows[group.count++] = &check->rows[at];
		if (group.count)
			TRY(measure_group(&group, err));
	}
	return STATUS_OK;
}

enum status check_measure(struct check *check, struct error *err)
{
	TRY(measure_load(check, false, err));
	return measure_load(check, true, err);
}
