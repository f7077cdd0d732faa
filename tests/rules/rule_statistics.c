/* SPDX-License-Identifier: MIT
 *
 * Statistics, the selection of a winner, and the verdicts of a check.
 */
#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "check/judge.h"
#include "measure/sampler.h"
#include "rules/rules.h"
#include "tune/selection.h"

static const struct record_member interval_members[] = {
	RECORD_VALUE(struct interval, value, "value"),
	RECORD_VALUE(struct interval, low, "low"),
	RECORD_VALUE(struct interval, high, "high"),
};
static RECORD_DEFINE(struct interval, interval_record, interval_members, .name = "interval");

static struct interval interval_of(const struct json_at *in, const char *key)
{
	const struct json_at at = rule_member(in, key);
	struct interval interval = {0};
	struct error err = {0};

	rule_expect(record_from_json(&interval_record, &at, &interval, NULL, &err), &err);
	return interval;
}

static struct json *interval_json(struct interval interval)
{
	return record_to_json(&interval_record, &interval);
}

RULE(summary)
{
	const struct rule_numbers samples = rule_numbers(in, "samples");
	const struct summary summary = statistics_summary(samples.items, samples.count);
	struct json *out = record_to_json(&time_record, &summary);

	json_put_double(out, "quantile",
		statistics_quantile(samples.items, samples.count, rule_number(in, "fraction")));
	json_put_bool(out, "noisy", sampler_is_noisy(samples.items, samples.count));
	json_put(out, "interval",
		interval_json(statistics_interval(samples.items, samples.count,
			rule_flag(in, "strict") ? CONFIDENCE_99 : CONFIDENCE_95)));
	return out;
}

RULE(rank_correlation)
{
	const struct rule_numbers x = rule_numbers(in, "x"), y = rule_numbers(in, "y");

	return json_new_double(statistics_rank_correlation(x.items, y.items, x.count));
}

/* ---- rounds ---- */
static struct round_times *round_times_of(const struct json_at *in, const char *key, size_t *count)
{
	const struct json_at list = rule_member(in, key);
	struct round_times *times = memory_zeroed(json_count(&list) + 1, sizeof(*times));

	*count = 0;
	for (struct json_at item = {0}; json_next(&list, &item); ++*count) {
		const struct rule_numbers us = rule_numbers(&item, "us");

		times[*count] = (struct round_times){us.items, us.count};
	}
	return times;
}

RULE(rounds)
{
	struct json *out = json_new_object();
	size_t count;
	struct round_times *times = round_times_of(in, "times", &count);

	json_put_int(out, "common", (int64_t)round_times_common(times, count));
	json_put_int(out, "fastest", (int64_t)round_times_fastest(times, count));
	json_put(out, "ratio",
		interval_json(round_times_ratio(times[0], times[count - 1], CONFIDENCE_95)));
	return out;
}

/* ---- selection ---- */
static const struct record_member item_members[] = {
	RECORD_VALUE(struct selection_item, median_us, "median"),
	RECORD_VALUE(struct selection_item, ci95_low_us, "low"),
	RECORD_VALUE(struct selection_item, ci95_high_us, "high"),
	RECORD_VALUE(struct selection_item, predicted_us, "predicted"),
	RECORD_VALUE(struct selection_item, smem_bytes, "smem"),
	RECORD_VALUE(struct selection_item, regs_per_thread, "regs"),
	RECORD_VALUE(struct selection_item, kernel_hash, "kernel", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct selection_item, code_placement_noise_us, "placement"),
	RECORD_VALUE(struct selection_item, order, "order"),
	RECORD_VALUE(struct selection_item, incumbent, "incumbent"),
	RECORD_VALUE(struct selection_item, is_planned, "planned"),
};
static RECORD_DEFINE(struct selection_item, item_record, item_members, .name = "item");

static struct selection selection_of_case(const struct json_at *in)
{
	struct selection selection = {0};

	selection.items = rule_records(in, "items", &item_record, &selection.count);
	for (size_t i = 0; i < selection.count; i++)
		selection.items[i].evaluated = i;
	return selection;
}

RULE(selection)
{
	struct selection selection = selection_of_case(in);
	struct json *out = json_new_object(), *tied = json_new_array(), *lost = json_new_array(),
		    *may_win = json_new_array();

	selection_choose(&selection);
	json_put_int(out, "winner", (int64_t)selection.winner);
	json_put_int(out, "fastest", (int64_t)selection.fastest);
	for (size_t i = 0; i < selection.count; i++) {
		const struct selection_item *item = &selection.items[i];

		json_push(tied, json_new_bool(item->is_tied));
		json_push(may_win, json_new_bool(selection_may_win(&selection, i)));
		json_push(
			lost, json_new_string(i == selection.winner
						      ? "winner"
						      : reject_reason_names[selection_reject_reason(
								&selection, item, true)]));
	}
	json_put(out, "tied", tied);
	json_put(out, "lost", lost);
	json_put(out, "may_win", may_win);
	return out;
}

/* Returns a boolean for every pair of items: whether the first is preferred. */
RULE(preference)
{
	const struct selection selection = selection_of_case(in);
	struct json *out = json_new_array();

	for (size_t i = 0; i < selection.count * selection.count; i++)
		json_push(out, json_new_bool(selection_item_is_preferred(
				       &selection.items[i / selection.count],
				       &selection.items[i % selection.count])));
	return out;
}

/* Returns the items after their rounds were paired. */
RULE(pair_rounds)
{
	struct selection selection = selection_of_case(in);
	struct json *out = json_new_array();
	size_t count;

	selection_pair_rounds(&selection, round_times_of(in, "times", &count));
	for (size_t i = 0; i < selection.count; i++)
		json_push(out,
			interval_json((struct interval){selection.items[i].median_us,
				selection.items[i].ci95_low_us, selection.items[i].ci95_high_us}));
	return out;
}

/* ---- check ---- */
RULE(check_estimate)
{
	const struct interval now = interval_of(in, "now"), then = interval_of(in, "then");
	struct json *out = json_new_object();

	json_put(out, "over", interval_json(check_estimate_over(&now, &then)));
	json_put(out, "stretched", interval_json(check_estimate_stretched(&now)));
	json_put(out, "widened",
		interval_json(check_estimate_widened(&now, rule_number(in, "half_width"))));
	json_put_double(out, "half_ratio", check_estimate_half_ratio(&now));
	json_put_double(out, "loads",
		check_loads_half_width(rule_number(in, "deviation"), rule_size(in, "loads")));
	return out;
}

RULE(check_verdict)
{
	const struct check_rule rule = {.threshold_ratio = rule_number(in, "threshold"),
		.floor_ratio = rule_number(in, "floor")};
	const struct interval time = interval_of(in, "time");
	struct json *out = json_new_object();
	struct interval slowdown;
	const enum check_verdict clocked = check_judge_clocked(
		&rule, &time, rule_number(in, "anchor"), rule_flag(in, "clock_bound"), &slowdown);

	json_put_string(out, "verdict", check_verdict_names[check_judge(&rule, &time)]);
	json_put_string(out, "clocked", check_verdict_names[clocked]);
	json_put(out, "slowdown", interval_json(slowdown));
	return out;
}
