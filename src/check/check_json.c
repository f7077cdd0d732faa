/* SPDX-License-Identifier: MIT */
#include "check/check_json.h"

#include <math.h>

#include "base/clock.h"
#include "base/record_write.h"

struct check_document {
	const char *baseline, *nvrtc;
	char date[CLOCK_DATE_SIZE];
	struct gpu_model device;
	bool measures;
	double threshold_ratio, confidence_ratio;
	int64_t exit_code, counts[CHECK_VERDICT_COUNT];
	struct check_trait_difference *traits;
	struct check_row *rows;
	size_t trait_count, row_count;
};

static const char *const against_names[] = {
	[CHECK_AGAINST_NOTHING] = "nothing",
	[CHECK_AGAINST_TUNED] = "tuned",
	[CHECK_AGAINST_CHECKED] = "checked",
	[CHECK_AGAINST_KEPT] = "kept",
	NULL,
};
static const char *const measures_names[] = {"none", "measured", NULL};

static const struct record_member slowdown_members[] = {
	RECORD_VALUE(struct check_slowdown, ratio.value, "ratio", "time now over time then",
		.low = 0, .high = INFINITY),
	RECORD_VALUE(struct check_slowdown, ratio.low, "low", "of its interval"),
	RECORD_VALUE(struct check_slowdown, ratio.high, "high", "of its interval"),
	RECORD_ENUM(struct check_slowdown, against, against_names, "against", "what time then is"),
	RECORD_VALUE(struct check_slowdown, floor_ratio, "floor_ratio",
		"what differs between runs of one binary: the verdict widens the interval by it",
		.low = 0, .high = INFINITY),
	RECORD_VALUE(struct check_slowdown, blocks, "blocks", "in which both were timed"),
};
static RECORD_DEFINE(
	struct check_slowdown, slowdown_record, slowdown_members, .name = "slowdown", .open = true);

static const struct record_member difference_members[] = {
	RECORD_VALUE(struct check_difference, text, "text", "\"registers 128 -> 168\""),
	RECORD_VALUE(struct check_difference, is_worse, "worse", "a regression without a clock"),
};
static RECORD_DEFINE(struct check_difference, difference_record, difference_members,
	.name = "difference", .open = true);

#define STRING(field, help, ...) RECORD_VALUE(struct check_row, field, #field, help, ##__VA_ARGS__)
#define AMOUNT(key, field, help)                                                                   \
	RECORD_VALUE(struct check_row, field, key, help, .flags = RECORD_OPTIONAL, .low = 0,       \
		.high = INFINITY)
static const struct record_member row_members[] = {
	STRING(operation, "what is computed"),
	RECORD_NAMED_VALUES(struct check_row, entry.problem, "problem", "of the entry"),
	STRING(family, "of the winner"),
	STRING(configuration, "of the winner"),
	RECORD_ENUM(struct check_row, verdict, check_verdict_names, "verdict", "on the row"),
	STRING(reason, "a line for a person"),
	RECORD_VALUE(struct check_row, kernel_changed, "kernel_changed", "since the baseline"),
	RECORD_RECORDS(struct check_row, differences, difference_count, difference_record,
		"differences", "of what the compiler says"),
	AMOUNT("baseline_us", baseline_us, "time then"),
	AMOUNT("time_us", now.time_us, "time now, median over blocks"),
	AMOUNT("anchor_us", now.anchor_us, "of the anchor kernel in the same blocks"),
	RECORD_VALUE(struct check_row, same_binary, "same_binary",
		"the kept cubin and today's are the same bytes", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct check_row, timed)),
	RECORD_ARRAY_COUNTED(struct check_row, load_us, loads, "loads_us",
		"medians of the loads of a short kernel, which is loaded several times",
		.flags = RECORD_OPTIONAL),
	RECORD_NESTED(struct check_row, slowdown, slowdown_record, "slowdown",
		"time now over time then, with its interval", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct check_row, compared)),
	AMOUNT("machine_ratio", machine_ratio, "the baseline's own binary, now over then"),
	STRING(better, "--retune: what is faster than the baseline's winner",
		.flags = RECORD_OPTIONAL),
};
#undef AMOUNT
#undef STRING
static RECORD_DEFINE(struct check_row, row_record, row_members, .name = "row", .open = true);

static const struct record_member trait_members[] = {
	RECORD_ENUM(struct check_trait_difference, trait, check_trait_names, "what", "differs"),
	RECORD_VALUE(struct check_trait_difference, baseline, "baseline", "as it was"),
	RECORD_VALUE(struct check_trait_difference, now, "now", "as it is"),
	RECORD_VALUE(struct check_trait_difference, allowed, "allowed", "to differ (--allow)"),
};
static RECORD_DEFINE(
	struct check_trait_difference, trait_record, trait_members, .name = "trait", .open = true);

#define VALUE(field, help, ...)                                                                    \
	RECORD_VALUE(struct check_document, field, #field, help, ##__VA_ARGS__)
static const struct record_member document_members[] = {
	RECORD_CONSTANT("format", "tiletune.check/1", "what this is"),
	VALUE(baseline, "the tuned file"),
	RECORD_TEXT(struct check_document, date, "date", "UTC"),
	RECORD_NESTED(struct check_document, device, gpu_model_record, "device", "of the check"),
	RECORD_ENUM(struct check_document, measures, measures_names, "timing",
		"none: on a device model, resources only"),
	VALUE(nvrtc, "the compiler", .flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT),
	VALUE(threshold_ratio, "by which a time may be longer", .low = 0, .high = INFINITY),
	VALUE(confidence_ratio, "of intervals", .low = 0.5, .high = 1),
	VALUE(exit_code, "of the command", .low = 0, .high = STATUS_INCONCLUSIVE),
	RECORD_NAMED(struct check_document, counts, check_verdict_names, "counts",
		"entries by verdict", .absent = -1, .low = 0, .high = INFINITY),
	RECORD_RECORDS(struct check_document, traits, trait_count, trait_record, "identity",
		"what else is not as it was"),
	RECORD_RECORDS(struct check_document, rows, row_count, row_record, "entries",
		"one per winner", .count_min = 1),
};
#undef VALUE
RECORD_DEFINE(struct check_document, check_document_record, document_members, .name = "check",
	.open = true);

struct json *check_to_json(const struct check *check)
{
	const struct context *context = check->context;
	struct check_document document = {.baseline = check->baseline->path,
		.device = gpu_model_of(
			device_spec(context->device), device_identity(context->device)->name),
		.measures = check->measures,
		.nvrtc = context->compiler ? compiler_identity(context->compiler) : NULL,
		.threshold_ratio = check->options.threshold_ratio,
		.confidence_ratio = check->options.confidence_ratio,
		.exit_code = check_status(check),
		.traits = check->identity.items,
		.trait_count = check->identity.count,
		.rows = check->rows,
		.row_count = check->row_count};
	struct json *json;

	clock_date(document.date);
	for (int i = 0; i < CHECK_VERDICT_COUNT; i++)
		document.counts[i] = (int64_t)check_count(check, (enum check_verdict)i);
	json = record_to_json(&check_document_record, &document);
	gpu_model_release(&document.device);
	return json;
}
