/* SPDX-License-Identifier: MIT */
#include "check/check.h"

#include <math.h>

static const char *const against_names[] = {
	[CHECK_AGAINST_NOTHING] = "nothing",
	[CHECK_AGAINST_TUNED] = "tuned",
	[CHECK_AGAINST_KEPT] = "kept",
	NULL,
};
static const char *const measures_names[] = {"none", "measured", NULL};

static const struct record_member ratio_members[] = {
	RECORD_VALUE(struct interval, value, "ratio", .low = 0, .high = INFINITY),
	RECORD_VALUE(struct interval, low, "low"),
	RECORD_VALUE(struct interval, high, "high"),
};
RECORD_DEFINE(struct interval, check_ratio_record, ratio_members, .name = "ratio", .open = true);

static const struct record_member slowdown_members[] = {
	RECORD_FLAT(struct check_slowdown, ratio, check_ratio_record),
	RECORD_ENUM(struct check_slowdown, against, against_names, "against"),
	RECORD_VALUE(struct check_slowdown, floor_ratio, "floor_ratio", .low = 0, .high = INFINITY),
	RECORD_VALUE(struct check_slowdown, rounds, "blocks"),
};
static RECORD_DEFINE(
	struct check_slowdown, slowdown_record, slowdown_members, .name = "slowdown", .open = true);

static const struct record_member difference_members[] = {
	RECORD_VALUE(struct check_difference, text, "text"),
	RECORD_VALUE(struct check_difference, is_worse, "worse"),
};
static RECORD_DEFINE(struct check_difference, difference_record, difference_members,
	.name = "difference", .open = true);

#define AMOUNT(key, field)                                                                         \
	RECORD_VALUE(struct check_row, field, key, .flags = RECORD_OPTIONAL, .low = 0,             \
		.high = INFINITY)
static const struct record_member row_members[] = {
	RECORD_VALUE(struct check_row, entry.operation, "operation"),
	RECORD_NAMED_VALUES(struct check_row, entry.problem, "problem"),
	RECORD_VALUE(struct check_row, entry.winner.result.family, "family"),
	RECORD_VALUE(struct check_row, configuration, "configuration"),
	RECORD_ENUM(struct check_row, verdict, check_verdict_names, "verdict"),
	RECORD_VALUE(struct check_row, reason, "reason"),
	RECORD_VALUE(struct check_row, kernel_changed, "kernel_changed"),
	RECORD_ENUM(struct check_row, by_program, verified_by_names, "verified_by",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(
		struct check_row, differences, difference_count, difference_record, "differences"),
	AMOUNT("baseline_us", baseline_us),
	AMOUNT("time_us", now.time_us),
	AMOUNT("anchor_us", now.anchor_us),
	RECORD_VALUE(struct check_row, same_binary, "same_binary", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct check_row, timed)),
	RECORD_ARRAY_COUNTED(
		struct check_row, load_us, loads, "loads_us", .flags = RECORD_OPTIONAL),
	RECORD_NESTED(struct check_row, slowdown, slowdown_record, "slowdown",
		.flags = RECORD_OPTIONAL, .present = RECORD_PRESENT(struct check_row, compared)),
	AMOUNT("machine_ratio", machine_ratio),
};
#undef AMOUNT
static RECORD_DEFINE(struct check_row, row_record, row_members, .name = "row", .open = true);

static const struct record_member part_members[] = {
	RECORD_ENUM(struct environment_difference, part, environment_part_names, "what"),
	RECORD_VALUE(struct environment_difference, baseline, "baseline"),
	RECORD_VALUE(struct environment_difference, now, "now"),
	RECORD_VALUE(struct environment_difference, allowed, "allowed"),
};
static RECORD_DEFINE(
	struct environment_difference, part_record, part_members, .name = "part", .open = true);

#define VALUE(field, ...) RECORD_VALUE(struct check, field, #field, ##__VA_ARGS__)
static const struct record_member document_members[] = {
	RECORD_CONSTANT("format", "tiletune.check/1"),
	RECORD_VALUE(struct check, baseline_path, "baseline"),
	RECORD_TEXT(struct check, date, "date"),
	RECORD_NESTED(struct check, device, gpu_model_record, "device"),
	RECORD_ENUM(struct check, measures, measures_names, "timing"),
	VALUE(nvrtc, .flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT),
	RECORD_VALUE(struct check, options.threshold_ratio, "threshold_ratio", .low = 0,
		.high = INFINITY),
	VALUE(confidence_ratio, .low = 0.5, .high = 1),
	VALUE(exit_code, .low = 0, .high = STATUS_INCONCLUSIVE),
	RECORD_NAMED(struct check, counts, check_verdict_names, "counts", .absent = -1, .low = 0,
		.high = INFINITY),
	RECORD_RECORDS(struct check, environment, environment_count, part_record, "identity"),
	RECORD_RECORDS(struct check, rows, row_count, row_record, "entries", .count_min = 1),
};
#undef VALUE
RECORD_DEFINE(struct check, check_document_record, document_members, .name = "check", .open = true);

struct json *check_to_json(struct check *check)
{
	const struct context *context = check->context;
	struct json *json;

	clock_date(check->date);
	check->baseline_path = check->baseline->path;
	check->device = gpu_model_of(context->device->spec, context->device->identity.name);
	check->nvrtc = context->compiler ? compiler_identity(context->compiler) : NULL;
	check->confidence_ratio = CHECK_CONFIDENCE_RATIO;
	check->exit_code = check_status(check);
	for (int i = 0; i < CHECK_VERDICT_COUNT; i++)
		check->counts[i] = (int64_t)check_count(check, (enum check_verdict)i);
	json = record_to_json(&check_document_record, check);
	gpu_model_release(&check->device);
	return json;
}
