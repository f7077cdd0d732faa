/* SPDX-License-Identifier: MIT */
#include "check/kernel_judgement.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/format_text.h"
#include "check/check.h"
#include "format/run.h"
#include "record/record_write.h"

/* The judged kernel or the baseline. */
struct side_document {
	const char *file, *family, *configuration;
	struct interval time_us;
	bool is_timed;
	struct verification verification;
	enum verified verified;
};

struct kernel_judgement_document {
	const char *operation, *task, *reason, *nvrtc;
	char date[CLOCK_DATE_SIZE];
	struct gpu_model device;
	struct named_values problem;
	struct side_document kernel, baseline;
	enum kernel_verdict verdict;
	enum outcome outcome;
	enum check_verdict comparison;
	struct interval slowdown;
	double threshold_ratio, floor_us;
	int64_t exit_code;
	bool is_compared, has_baseline;
};

#define POSITIVE(type, field, key) RECORD_VALUE(type, field, key, .low = 0, .high = INFINITY)
static const struct record_member time_members[] = {
	POSITIVE(struct interval, value, "median"),
	POSITIVE(struct interval, low, "ci95_low"),
	POSITIVE(struct interval, high, "ci95_high"),
};
static RECORD_DEFINE(
	struct interval, judged_time_record, time_members, .name = "time", .open = true);

static const struct record_member side_members[] = {
	RECORD_VALUE(struct side_document, file, "file"),
	RECORD_VALUE(struct side_document, family, "family"),
	RECORD_VALUE(struct side_document, configuration, "configuration"),
	RECORD_ENUM(struct side_document, verified, verified_names, "verified",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct side_document, verification.done)),
	RECORD_NESTED(struct side_document, verification, verification_record, "verification",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct side_document, verification.done)),
	RECORD_NESTED(struct side_document, time_us, judged_time_record, "time_us",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct side_document, is_timed)),
};
static RECORD_DEFINE(
	struct side_document, judged_side_record, side_members, .name = "kernel", .open = true);

#define VALUE(field, ...)                                                                          \
	RECORD_VALUE(struct kernel_judgement_document, field, #field, ##__VA_ARGS__)
static const struct record_member document_members[] = {
	RECORD_CONSTANT("format", "tiletune.judgement/1"),
	RECORD_TEXT(struct kernel_judgement_document, date, "date"),
	VALUE(task),
	VALUE(operation),
	RECORD_NAMED_VALUES(struct kernel_judgement_document, problem, "problem"),
	RECORD_NESTED(struct kernel_judgement_document, device, gpu_model_record, "device"),
	VALUE(nvrtc),
	RECORD_ENUM(struct kernel_judgement_document, verdict, kernel_verdict_names, "verdict"),
	RECORD_ENUM(struct kernel_judgement_document, outcome, outcome_names, "outcome"),
	VALUE(reason, .flags = RECORD_OPTIONAL),
	VALUE(exit_code, .low = 0, .high = STATUS_INCONCLUSIVE),
	VALUE(floor_us, .low = 0, .high = INFINITY),
	RECORD_NESTED(struct kernel_judgement_document, kernel, judged_side_record, "kernel"),
	RECORD_NESTED(struct kernel_judgement_document, baseline, judged_side_record, "baseline",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct kernel_judgement_document, has_baseline)),
	VALUE(threshold_ratio, .low = 0, .high = INFINITY),
	RECORD_ENUM(struct kernel_judgement_document, comparison, check_verdict_names, "comparison",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct kernel_judgement_document, is_compared)),
	RECORD_NESTED(struct kernel_judgement_document, slowdown, check_ratio_record, "slowdown",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct kernel_judgement_document, is_compared)),
};
#undef VALUE
#undef POSITIVE
RECORD_DEFINE(struct kernel_judgement_document, kernel_judgement_record, document_members,
	.name = "judgement", .open = true);

static struct side_document side_document(const struct judged_kernel *kernel)
{
	struct side_document side = {.file = kernel->file,
		.configuration = kernel->configuration,
		.time_us = kernel->time_us,
		.is_timed = kernel->time_us.value > 0};

	if (!kernel->family)
		return side;
	side.family = kernel->family->name;
	side.verification = kernel->result->verification;
	side.verified = kernel->result->verified;
	return side;
}

struct json *kernel_judgement_json(const struct kernel_judgement *judgement, const char *task)
{
	const struct context *context = judgement->context;
	struct kernel_judgement_document document = {
		.operation = judgement->problem->operation->name,
		.task = task,
		.reason = judgement->reason,
		.nvrtc = compiler_identity(context->compiler),
		.device = gpu_model_of(context->device->spec, context->device->identity.name),
		.problem = problem_named_values(judgement->problem),
		.kernel = side_document(&judgement->kernel),
		.baseline = side_document(&judgement->baseline),
		.verdict = judgement->verdict,
		.outcome = judgement->outcome,
		.comparison = judgement->comparison,
		.slowdown = judgement->slowdown,
		.threshold_ratio = judgement->options.threshold_ratio,
		.floor_us = time_floor_us(&judgement->floor),
		.exit_code = kernel_judgement_status(judgement),
		.is_compared = judgement->slowdown.value > 0,
		.has_baseline = judgement->baseline.family != NULL,
	};
	struct json *json;

	clock_date(document.date);
	json = record_to_json(&kernel_judgement_record, &document);
	gpu_model_release(&document.device);
	named_values_release(&document.problem);
	return json;
}

/* ---- text ---- */
static void append_kernel(const struct judged_kernel *kernel, struct text *text)
{
	format_put(text, format_shown, "%s {%s}", kernel->file, kernel->configuration);
	if (kernel->time_us.value > 0)
		text_appendf(text, "  %.2f us (%.2f..%.2f)", kernel->time_us.value,
			kernel->time_us.low, kernel->time_us.high);
}

void kernel_judgement_text(const struct kernel_judgement *judgement, struct text *text)
{
	const struct interval *slowdown = &judgement->slowdown;

	format_put(text, format_shown, "%-14s %s %s on %s\n               ",
		kernel_verdict_names[judgement->verdict], judgement->problem->operation->name,
		judgement->problem->title, judgement->context->device->spec->title);
	append_kernel(&judgement->kernel, text);
	text_appendf(text, ", at least %.3g us\n", time_floor_us(&judgement->floor));
	if (judgement->reason)
		format_put(text, format_shown, "               %.*s\n",
			(int)strcspn(judgement->reason, "\n"), judgement->reason);
	if (judgement->verdict == KERNEL_RIGHT)
		text_appendf(text, "               compared with %s\n",
			verified_texts[judgement->kernel.result->verified]);
	if (!judgement->baseline.family)
		return;
	text_appendf(text, "%-14s ",
		slowdown->value > 0 ? check_verdict_names[judgement->comparison] : "baseline");
	append_kernel(&judgement->baseline, text);
	if (slowdown->value > 0)
		text_appendf(text, "\n               %+.1f%% (%+.1f..%+.1f%%) against the baseline",
			100 * (slowdown->value - 1), 100 * (slowdown->low - 1),
			100 * (slowdown->high - 1));
	text_append_char(text, '\n');
}
