/* SPDX-License-Identifier: MIT */
#include "check/judge.h"

#include <math.h>

#include "check/row.h"

const char *const check_verdict_names[CHECK_VERDICT_COUNT + 1] = {
	[CHECK_SAME] = "same",
	[CHECK_FASTER] = "faster",
	[CHECK_SLOWER] = "slower",
	[CHECK_UNCLEAR] = "unclear",
	[CHECK_NOT_COMPARABLE] = "not comparable",
	[CHECK_OTHER_BITS] = "other bits",
	[CHECK_FAILED] = "failed",
};

struct interval check_estimate_over(const struct interval *now, const struct interval *baseline)
{
	double value = now->value / baseline->value;
	double below = hypot(now->value - now->low,
		(baseline->high - baseline->value) * now->value / baseline->value);
	double above = hypot(now->high - now->value,
		(baseline->value - baseline->low) * now->value / baseline->value);

	return (struct interval){.value = value,
		.low = value - below / baseline->value,
		.high = value + above / baseline->value};
}

struct interval check_estimate_stretched(const struct interval *estimate)
{
	/* ratio of the 99% and 95% quantiles of Student's distribution with three degrees of
	 * freedom, which suits short series */
	const double stretch = 5.841 / 3.182;

	return (struct interval){.value = estimate->value,
		.low = estimate->value - (estimate->value - estimate->low) * stretch,
		.high = estimate->value + (estimate->high - estimate->value) * stretch};
}

struct interval check_estimate_widened(const struct interval *estimate, double half_width)
{
	return (struct interval){.value = estimate->value,
		.low = estimate->value - hypot(estimate->value - estimate->low, half_width),
		.high = estimate->value + hypot(estimate->high - estimate->value, half_width)};
}

double check_loads_half_width(double deviation, size_t loads)
{
	/* 99% quantile of Student's distribution with three degrees of freedom */
	const double student = 5.8409093097334;

	_Static_assert(CHECK_LOADS == 4, "three degrees of freedom");
	return student * deviation / sqrt((double)loads);
}

double check_estimate_half_ratio(const struct interval *estimate)
{
	return (estimate->high - estimate->low) / 2 / estimate->value;
}

enum check_verdict check_judge(const struct check_rule *rule, const struct interval *slowdown)
{
	double low = slowdown->low - rule->floor_ratio, high = slowdown->high + rule->floor_ratio;
	bool may_be_slower = high >= 1 + rule->threshold_ratio;

	if (may_be_slower && low > 1)
		return CHECK_SLOWER;
	if (low <= 1 - rule->threshold_ratio && high < 1)
		return CHECK_FASTER;
	return may_be_slower ? CHECK_UNCLEAR : CHECK_SAME;
}

static struct interval interval_divided(const struct interval *estimate, double by)
{
	return (struct interval){.value = estimate->value / by,
		.low = estimate->low / by,
		.high = estimate->high / by};
}

enum check_verdict check_judge_clocked(const struct check_rule *rule, const struct interval *time,
	double anchor, bool clock_bound, struct interval *slowdown)
{
	struct interval other = interval_divided(time, clock_bound ? 1 : anchor);
	enum check_verdict verdict;

	*slowdown = interval_divided(time, clock_bound ? anchor : 1);
	verdict = check_judge(rule, slowdown);
	if (verdict == CHECK_SLOWER && fabs(anchor - 1) > CHECK_CLOCK_TRUST_RATIO &&
		check_judge(rule, &other) != CHECK_SLOWER)
		return CHECK_UNCLEAR;
	return verdict;
}

/* Variation between runs of one binary on one GPU that intervals do not show. It is larger if the
 * other time was measured in another run, with other kernels and at another temperature. */
static const double floor_ratio[CHECK_AGAINST_COUNT] = {
	[CHECK_AGAINST_TUNED] = 0.02,
	[CHECK_AGAINST_KEPT] = 0.005,
};
static struct interval ratio_of(const struct contender *contender, const struct contender *over)
{
	return round_times_ratio(contender_times(contender), contender_times(over), CONFIDENCE_99);
}

static double median_us(const struct contender *contender)
{
	return round_times_median(contender_times(contender));
}

/* Relative half width of a mean over `loads` loads, from the differences between loads. */
static double loads_half_ratio(const struct contender *contender, size_t loads)
{
	return check_loads_half_width(contender->load_deviation_us, loads) / median_us(contender);
}

static struct interval with_loads(
	const struct interval *estimate, const struct contender *contender)
{
	return check_estimate_widened(
		estimate, estimate->value * loads_half_ratio(contender, contender->load_count));
}

enum check_verdict check_judge_pair(const struct contender *now, const struct contender *then,
	double threshold_ratio, struct interval *slowdown)
{
	const struct check_rule rule = {
		.threshold_ratio = threshold_ratio, .floor_ratio = floor_ratio[CHECK_AGAINST_KEPT]};

	*slowdown = ratio_of(now, then);
	*slowdown = with_loads(slowdown, now);
	*slowdown = with_loads(slowdown, then);
	return check_judge(&rule, slowdown);
}

/* Anchor's time at the start of this check over that of the entry's run; 0: not known. */
static double start_anchor_ratio(const struct check *check, const struct check_row *row)
{
	const double now = check->context->device->identity.anchor_us;
	const struct run *run = tuned_row_run(check->baseline, &row->entry, &row->entry.winner);

	return run && now > 0 && run->anchor_us > 0 ? now / run->anchor_us : 0;
}

/* Judges a row without a stored binary. The tuning run timed the anchor at its start, when the GPU
 * was cold. */
static void judge_tuned(const struct check *check, struct check_row *row,
	const struct check_times *now, struct check_slowdown *judgement)
{
	const struct check_rule rule = {.threshold_ratio = check->options.threshold_ratio,
		.floor_ratio = floor_ratio[CHECK_AGAINST_TUNED]};
	double anchor = start_anchor_ratio(check, row);
	const struct summary *time = &row->entry.winner.result.time;
	struct interval then = {.value = row->baseline_us,
				.low = time->ci95_low,
				.high = time->ci95_high},
			relative;

	then = check_estimate_stretched(&then);
	/* the tuned time comes from a single load */
	then = check_estimate_widened(&then, then.value * loads_half_ratio(row->today, 1));
	/* relative interval of the times normalised by the anchor in each round */
	relative = interval_divided(&now->per_anchor, now->per_anchor.value / now->time_us);
	relative = check_estimate_over(&relative, &then);
	judgement->against = CHECK_AGAINST_TUNED;
	judgement->anchor_ratio = anchor;
	judgement->verdict = check_judge_clocked(&rule, &relative, anchor > 0 ? anchor : 1,
		score_is_clock_bound(&row->trial->result.score), &judgement->ratio);
}

static struct check_times times_now(const struct check_row *row, const struct contender *anchor)
{
	struct interval per_anchor = ratio_of(row->today, anchor);

	return (struct check_times){.time_us = median_us(row->today),
		.anchor_us = row->by_program ? 0 : median_us(anchor), /* a program has no anchor */
		.per_anchor = with_loads(&per_anchor, row->today),
		.rounds = row->today->round_count};
}

static bool has_kept(const struct check_row *row)
{
	return row->kept->outcome == OUTCOME_OK && row->kept->round_count > 0;
}

static struct check_slowdown judge_times(
	const struct check *check, struct check_row *row, const struct contender *anchor)
{
	struct check_times now = times_now(row, anchor);
	struct check_slowdown judgement = {.verdict = CHECK_NOT_COMPARABLE,
		.own_half_ratio = check_estimate_half_ratio(&now.per_anchor)};

	if (has_kept(row)) {
		judgement.against = CHECK_AGAINST_KEPT;
		judgement.verdict = check_judge_pair(
			row->today, row->kept, check->options.threshold_ratio, &judgement.ratio);
		judgement.own_half_ratio = check_estimate_half_ratio(&judgement.ratio);
	} else if (row->baseline_us > 0)
		judge_tuned(check, row, &now, &judgement);
	judgement.floor_ratio = floor_ratio[judgement.against];
	judgement.rounds = now.rounds;
	return judgement;
}

bool check_time_is_known(
	const struct check *check, struct check_row *row, const struct contender *anchor)
{
	struct check_slowdown judgement;

	if (row->today->outcome != OUTCOME_OK || !row->today->round_count || !anchor->round_count ||
		row->same_binary)
		return true;
	judgement = judge_times(check, row, anchor);
	/* regressions are measured until the last look */
	return judgement.verdict != CHECK_SLOWER &&
	       judgement.own_half_ratio <= CHECK_KNOWN_PART * check->options.threshold_ratio;
}

PRINTF_LIKE(2, 3) static void append_reason(struct text *reason, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_append(reason, reason->length ? "; " : "");
	text_append_args(reason, format, args);
	va_end(args);
}

static double percent_of(double ratio)
{
	return 100 * (ratio - 1);
}

static void explain_machine(
	const struct check_row *row, const struct check_slowdown *judgement, struct text *reason)
{
	const double worth_saying_ratio = floor_ratio[CHECK_AGAINST_TUNED];

	if (row->machine_ratio > 0 && fabs(row->machine_ratio - 1) > worth_saying_ratio)
		append_reason(reason,
			"the baseline's own binary changed by %+.1f%% on this machine",
			percent_of(row->machine_ratio));
	if (judgement->anchor_ratio > 0 && fabs(judgement->anchor_ratio - 1) > worth_saying_ratio)
		append_reason(reason, "clock %+.1f%%", percent_of(1 / judgement->anchor_ratio));
	if (row->today->flags & FLAG_MASK(THROTTLED))
		append_reason(reason, "the clock was throttled during timing");
}

static char *explain_judgement(
	const struct check *check, struct check_row *row, const struct check_slowdown *judgement)
{
	struct text reason = {0};
	const char *against =
		judgement->against == CHECK_AGAINST_KEPT ? "the stored binary" : "the baseline";

	if (judgement->against == CHECK_AGAINST_NOTHING)
		append_reason(&reason, "the baseline's time is predicted, not measured");
	else if (row->same_binary)
		append_reason(&reason, "the binary is identical to the baseline's");
	else
		append_reason(&reason, "%+.1f%% (%+.1f..%+.1f%%) against %s",
			percent_of(judgement->ratio.value), percent_of(judgement->ratio.low),
			percent_of(judgement->ratio.high), against);
	if (row->kernel_changed)
		append_reason(&reason, "the kernel changed");
	if (row->by_program)
		append_reason(&reason, "verified_by: program");
	check_differences_list(row, false, &reason);
	explain_machine(row, judgement, &reason);
	if (judgement->verdict == CHECK_UNCLEAR &&
		judgement->own_half_ratio <= CHECK_KNOWN_PART * check->options.threshold_ratio &&
		judgement->against == CHECK_AGAINST_TUNED)
		append_reason(&reason, "the baseline's own time is not known more precisely; store "
				       "a binary to compare with: `check --keep-cubins`");
	return text_detach(&reason);
}

void check_time(struct check *check, struct check_row *row, const struct contender *anchor)
{
	const struct contender *now = row->today;
	struct check_slowdown judgement;
	CLEANUP(memory_free) char *reason = NULL;

	if (now->outcome == OUTCOME_TOO_NOISY)
		check_row_decide(row, CHECK_UNCLEAR, "too noisy: %s",
			now->detail ? now->detail : "its samples vary too much");
	else if (now->outcome != OUTCOME_OK)
		check_row_decide(row, CHECK_FAILED, "%s during timing: %s",
			outcome_name(now->outcome), now->detail ? now->detail : "no message");
	if (check_row_is_decided(row))
		return;
	if (!now->round_count || !anchor->round_count) {
		check_row_decide(row, CHECK_UNCLEAR, "there was no time to measure it");
		return;
	}
	row->now = times_now(row, anchor);
	judgement = judge_times(check, row, anchor);
	if (row->baseline_us > 0 && (has_kept(row) || row->same_binary))
		row->machine_ratio = (has_kept(row) ? median_us(row->kept) : row->now.time_us) /
				     row->baseline_us;
	/* the machine causes any slowdown of an equal binary */
	if (row->same_binary)
		judgement.verdict = CHECK_SAME;
	row->loads = now->load_count > 1 ? now->load_count : 0;
	for (size_t i = 0; i < row->loads; i++)
		row->load_us[i] = now->load_us[i];
	row->timed = true;
	row->compared = judgement.ratio.value > 0;
	row->slowdown = judgement;
	reason = explain_judgement(check, row, &judgement);
	check_row_decide(row, judgement.verdict, "%s", reason);
}
