/* SPDX-License-Identifier: MIT */
#include "check/kernel_judgement.h"

#include <math.h>

#include "base/format_text.h"
#include "check/check.h"

static const struct record_member side_members[] = {
	RECORD_VALUE(struct judged_kernel, file, "file"),
	RECORD_VALUE(struct judged_kernel, result.family, "family"),
	RECORD_VALUE(struct judged_kernel, result.configuration, "configuration"),
	RECORD_ENUM(struct judged_kernel, result.verified, verified_names, "verified",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct judged_kernel, result.verification.done)),
	RECORD_NESTED(struct judged_kernel, result.verification, verification_record,
		"verification", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct judged_kernel, result.verification.done)),
	RECORD_NESTED(struct judged_kernel, result.time, time_record, "time_us",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct judged_kernel, result.is_timed)),
};
static RECORD_DEFINE(
	struct judged_kernel, judged_kernel_record, side_members, .name = "kernel", .open = true);

#define VALUE(field, ...) RECORD_VALUE(struct kernel_judgement, field, #field, ##__VA_ARGS__)
static const struct record_member judgement_members[] = {
	RECORD_CONSTANT("format", "tiletune.judgement/1"),
	RECORD_TEXT(struct kernel_judgement, date, "date"),
	RECORD_VALUE(struct kernel_judgement, options.task, "task"),
	VALUE(operation),
	RECORD_NAMED_VALUES(struct kernel_judgement, keys, "problem"),
	RECORD_NESTED(struct kernel_judgement, device, gpu_model_record, "device"),
	VALUE(nvrtc),
	RECORD_ENUM(struct kernel_judgement, verdict, kernel_verdict_names, "verdict"),
	RECORD_ENUM(struct kernel_judgement, outcome, outcome_names, "outcome"),
	VALUE(reason, .flags = RECORD_OPTIONAL),
	VALUE(exit_code, .low = 0, .high = STATUS_INCONCLUSIVE),
	VALUE(floor_us, .low = 0, .high = INFINITY),
	RECORD_NESTED(struct kernel_judgement, kernel, judged_kernel_record, "kernel"),
	RECORD_NESTED(struct kernel_judgement, baseline, judged_kernel_record, "baseline",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct kernel_judgement, has_baseline)),
	RECORD_VALUE(struct kernel_judgement, options.threshold_ratio, "threshold_ratio", .low = 0,
		.high = INFINITY),
	RECORD_ENUM(struct kernel_judgement, comparison, check_verdict_names, "comparison",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct kernel_judgement, is_compared)),
	RECORD_NESTED(struct kernel_judgement, slowdown, check_ratio_record, "slowdown",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct kernel_judgement, is_compared)),
};
#undef VALUE
RECORD_DEFINE(struct kernel_judgement, kernel_judgement_record, judgement_members,
	.name = "judgement", .open = true);

struct json *kernel_judgement_json(struct kernel_judgement *judgement)
{
	clock_date(judgement->date);
	judgement->exit_code = kernel_judgement_status(judgement);
	return record_to_json(&kernel_judgement_record, judgement);
}

static void append_kernel(const struct judged_kernel *kernel, struct text *text)
{
	const struct summary *time = &kernel->result.time;

	format_put(text, format_shown, "%s {%s}", kernel->file, kernel->result.configuration);
	if (kernel->result.is_timed)
		text_appendf(text, "  %.2f us (%.2f..%.2f)", time->median, time->ci95_low,
			time->ci95_high);
}

void kernel_judgement_text(const struct kernel_judgement *judgement, struct text *text)
{
	const struct interval *slowdown = &judgement->slowdown;

	format_put(text, format_shown, "%-14s %s %s on %s\n               ",
		kernel_verdict_names[judgement->verdict], judgement->problem->operation->name,
		judgement->problem->title, judgement->context->device->spec->title);
	append_kernel(&judgement->kernel, text);
	text_appendf(text, ", at least %.3g us\n", judgement->floor_us);
	if (judgement->reason)
		format_put(text, format_shown, "               %.*s\n",
			(int)strcspn(judgement->reason, "\n"), judgement->reason);
	if (judgement->verdict == KERNEL_RIGHT)
		text_appendf(text, "               compared with %s\n",
			verified_texts[judgement->kernel.result.verified]);
	if (!judgement->has_baseline)
		return;
	text_appendf(text, "%-14s ",
		judgement->is_compared ? check_verdict_names[judgement->comparison] : "baseline");
	append_kernel(&judgement->baseline, text);
	if (judgement->is_compared)
		text_appendf(text, "\n               %+.1f%% (%+.1f..%+.1f%%) against the baseline",
			100 * (slowdown->value - 1), 100 * (slowdown->low - 1),
			100 * (slowdown->high - 1));
	text_append_char(text, '\n');
}
