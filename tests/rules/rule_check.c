/* SPDX-License-Identifier: MIT
 *
 * Rows of a check: findings about a kernel's resources, and about a timed kernel.
 */
#include "base/memory.h"
#include "check/row.h"
#include "rules/rules.h"

static struct tuned *baseline_of(const struct json_at *in)
{
	const struct json_at at = rule_member(in, "tuned");
	struct tuned *tuned = memory_zeroed(1, sizeof(*tuned));
	struct text text = {0};
	struct error err = {0};

	json_append(at.node, false, &text);
	rule_expect(tuned_parse(&text, "tuned", tuned, &err), &err);
	return tuned;
}

/* Compares the launches of the baseline's only entry with the resources of today's launches
 * ("now"). */
RULE(resources)
{
	static struct device_spec spec = {.smem_per_block_bytes = 1 << 20};
	static struct device device = {.spec = &spec};
	static struct context context = {.device = &device};
	struct check check = {.context = &context, .measures = true};
	struct check_row row;
	struct trial trial = {0};
	const struct json_at list = rule_member(in, "now");
	struct json *out = json_new_array();

	check_row_open(&baseline_of(in)->entries[0], &row);
	row.trial = &trial;
	trial.plan.launch_count = json_count(&list);
	trial.plan.launches =
		memory_zeroed(trial.plan.launch_count + 1, sizeof(struct plan_launch));
	trial.result.resources =
		memory_zeroed(trial.plan.launch_count + 1, sizeof(struct kernel_resources));
	for (size_t i = 0; i < trial.plan.launch_count; i++) {
		const struct json_at item = json_item(&list, i);
		struct plan_launch *launch = &trial.plan.launches[i];

		launch->entry = string_copy("k");
		launch->shape = (struct launch_shape){
			.block = {(uint32_t)rule_size(&item, "threads"), 1, 1},
			.smem_dynamic_bytes = (uint32_t)rule_size(&item, "smem_dynamic_bytes")};
		trial.result.resources[i] = (struct kernel_resources){
			.regs_per_thread = (int32_t)rule_size(&item, "regs_per_thread"),
			.smem_static_bytes = (int32_t)rule_size(&item, "smem_static_bytes"),
			.spill_store_bytes = (int32_t)rule_size(&item, "spill_bytes"),
			.stack_bytes = (int32_t)rule_size(&item, "stack_bytes"),
			.blocks_per_sm = (int32_t)rule_size(&item, "blocks_per_sm")};
	}
	check_resources(&check, &row);
	for (size_t i = 0; i < row.difference_count; i++) {
		struct json *item = json_new_array();

		json_push(item, json_new_string(row.differences[i].text));
		json_push(item, json_new_bool(row.differences[i].is_worse));
		json_push(out, item);
	}
	return out;
}

static struct contender contender_of(const struct json_at *in, const char *key)
{
	const struct rule_numbers times = rule_numbers(in, key);

	return (struct contender){.round_us = times.items,
		.round_count = times.count,
		.load_count = times.count > 0,
		.load_deviation_us = rule_number(in, "deviation"),
		.outcome = OUTCOME_OK};
}

/* Judges the baseline's only entry by rounds of today's kernel, of the stored binary and of the
 * anchor. */
RULE(timed_row)
{
	static struct device device;
	static struct context context = {.device = &device};
	struct tuned *baseline = baseline_of(in);
	struct check check = {.context = &context,
		.baseline = baseline,
		.options.threshold_ratio = rule_number(in, "threshold"),
		.measures = true};
	struct contender today = contender_of(in, "today"), kept = contender_of(in, "kept");
	const struct contender anchor = contender_of(in, "anchor");
	struct launch_score score = {.bound = rule_flag(in, "dram") ? BOUND_DRAM : BOUND_SMEM};
	struct trial trial = {.result.score = {.launches = &score, .launch_count = 1}};
	struct json *out = json_new_object();
	struct check_row row;

	device.identity.anchor_us = rule_number(in, "anchor_us");
	check_row_open(&baseline->entries[0], &row);
	row.today = &today;
	row.kept = &kept;
	row.trial = &trial;
	row.same_binary = rule_flag(in, "same_binary");
	check_time(&check, &row, &anchor);
	json_put_string(out, "verdict", check_verdict_names[row.verdict]);
	json_put_double(out, "slowdown", row.slowdown.ratio.value);
	json_put_double(out, "machine", row.machine_ratio);
	json_put_double(out, "time", row.now.time_us);
	return out;
}

/* Prints rows with verdicts in each output format. */
RULE(check_outputs)
{
	static const char *const configs[] = {"configs", NULL};
	static struct device device;
	static struct context context = {.device = &device};
	const struct json_at list = rule_member(in, "rows");
	struct tuned *baseline = baseline_of(in);
	struct check check = {.context = &context,
		.baseline = baseline,
		.measures = true,
		.row_count = json_count(&list)};
	struct text markdown = {0}, junit = {0}, text = {0};
	struct json *out = json_new_object();
	struct error err = {0};

	if (!device.spec)
		rule_expect(device_spec_load("h200-sxm", configs, &device.spec, &err), &err);
	check.rows = memory_zeroed(check.row_count + 1, sizeof(*check.rows));
	for (size_t i = 0; i < check.row_count; i++) {
		const struct json_at item = json_item(&list, i);
		struct check_row *row = &check.rows[i];

		check_row_open(&baseline->entries[0], row);
		row->verdict = (enum check_verdict)name_find(
			rule_string(&item, "verdict"), check_verdict_names);
		row->reason = string_copy(rule_string(&item, "reason"));
		row->baseline_us = rule_number(&item, "baseline_us");
		row->now.time_us = rule_number(&item, "time_us");
		row->now.rounds = row->now.time_us > 0;
		row->slowdown.ratio.value = rule_number(&item, "ratio");
		row->timed = row->compared = row->slowdown.ratio.value > 0;
	}
	check_report_markdown(&check, &markdown);
	check_report_junit(&check, &junit);
	check_report_text(&check, &text);
	json_put(out, "json", check_to_json(&check));
	json_put_string(out, "markdown", text_string(&markdown));
	json_put_string(out, "junit", text_string(&junit));
	json_put_string(out, "text", text_string(&text));
	json_put_int(out, "status", (int64_t)check_status(&check));
	return out;
}
