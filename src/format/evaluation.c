/* SPDX-License-Identifier: MIT */
#include "format/evaluation.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_read.h"
#include "base/record_schema.h"
#include "base/record_write.h"

#define NAME(id, name, summary)    [OUTCOME_##id] = name,
#define SUMMARY(id, name, summary) [OUTCOME_##id] = summary,
const char *const outcome_names[OUTCOME_COUNT + 1] = {OUTCOMES(NAME)};

const char *outcome_name(enum outcome outcome)
{
	return outcome_names[outcome];
}

const char *outcome_summary(enum outcome outcome)
{
	static const char *const summaries[OUTCOME_COUNT] = {OUTCOMES(SUMMARY)};

	return summaries[outcome];
}

/* ---- rules ---- */
/* Letters, digits, _ and, behind the first, -; NULL: it does not begin with a name. */
static const char *skip_name(const char *text, bool with_dashes)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return NULL;
	while (isalnum((unsigned char)*text) || *text == '_' || (with_dashes && *text == '-'))
		text++;
	return text;
}

static bool is_family_name(const char *text)
{
	text = skip_name(text, true);
	if (!text || *text != '/')
		return false;
	text = skip_name(text + 1, true);
	return text && !*text;
}

static bool is_kernel_hash(const char *text)
{
	const size_t digits = strspn(text, "0123456789abcdef");

	return !text[digits] && (digits == 0 || digits == HASH_SIZE - 1);
}

static bool is_configuration(const char *text)
{
	size_t length = 0;

	for (const char *at = text; *text; at += length + (at[length] == ',')) {
		at = skip_name(at, false);
		if (!at || *at++ != '=')
			return false;
		length = strcspn(at, ",=");
		if (length == 0 || at[length] == '=')
			return false;
		if (!at[length])
			break;
	}
	return true;
}

const struct record_rule family_name_rule = {.expected = "a family's name like \"gemm/mma\"",
	.pattern = "^[A-Za-z_][A-Za-z0-9_-]*/[A-Za-z_][A-Za-z0-9_-]*$",
	.accepts = is_family_name};
const struct record_rule kernel_hash_rule = {.expected = "32 hexadecimal digits, or nothing",
	.pattern = "^([0-9a-f]{32})?$",
	.accepts = is_kernel_hash};
static const struct record_rule configuration_rule = {
	.expected = "a configuration like \"BM=128,BN=256\"",
	.pattern = "^([A-Za-z_][A-Za-z0-9_]*=[^,=]+(,[A-Za-z_][A-Za-z0-9_]*=[^,=]+)*)?$",
	.accepts = is_configuration};

/* ---- time ---- */
const char *const timing_names[] = {"measured", "predicted", NULL};

#define TIME(field, help)                                                                          \
	RECORD_VALUE(struct summary, field, #field, help, .low = 0, .high = INFINITY)
static const struct record_member time_members[] = {
	TIME(median, "of the samples"),
	TIME(ci95_low, "where it lies with a confidence of 95%"),
	TIME(ci95_high, "where it lies with a confidence of 95%"),
	RECORD_VALUE(struct summary, count, "samples", "how many", .low = 1, .high = INFINITY),
};
#undef TIME
RECORD_DEFINE(struct summary, time_record, time_members, .name = "time_us", .open = true);

/* ---- beside time ---- */
#define MEASURED(field, help)                                                                      \
	RECORD_VALUE(struct measured, field, #field, help, .low = 0, .high = INFINITY,             \
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE)
static const struct record_member measured_members[] = {
	MEASURED(energy_j, "joules that one run takes, of the whole GPU"),
	MEASURED(power_w, "watts while it ran again and again"),
	MEASURED(energy_resolution_ratio,
		"how well both are known: the time between two readings over all of it"),
	MEASURED(worst_draw_ratio,
		"of group sizes: the time of the slowest draw over the mean of all"),
	RECORD_VALUE(struct measured, draws, "draws", "of group sizes", .flags = RECORD_OPTIONAL),
};
#undef MEASURED
RECORD_DEFINE(struct measured, measured_record, measured_members, .name = "measured");

/* Both are there if anything was timed. */
static struct json *timing_write(const void *field)
{
	const struct evaluation *evaluation = field;

	return evaluation->time.count ? json_new_string(timing_names[evaluation->predicted]) : NULL;
}

static enum status timing_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct evaluation *evaluation = field;
	int index;

	(void)context;
	TRY(record_name_from_json(at, timing_names, &index, err));
	evaluation->predicted = index != 0;
	return STATUS_OK;
}

static struct json *timing_schema(struct json *definitions)
{
	struct json *schema = json_new_object(), *names = json_new_array();

	(void)definitions;
	for (size_t i = 0; timing_names[i]; i++)
		json_push(names, json_new_string(timing_names[i]));
	json_put(schema, "enum", names);
	return schema;
}

static struct json *time_write(const void *field)
{
	const struct evaluation *evaluation = field;

	return evaluation->time.count ? record_to_json(&time_record, &evaluation->time) : NULL;
}

static enum status time_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct evaluation *evaluation = field;
	struct json_at timing;

	if (at->parent && !json_find(at->parent, "timing", &timing))
		return json_error(at->parent, err, "a member \"timing\"");
	return record_from_json(&time_record, at, &evaluation->time, context, err);
}

static struct json *time_schema(struct json *definitions)
{
	return record_schema_reference(&time_record, definitions);
}

static const struct record_custom timing_custom = {timing_read, timing_write, timing_schema, NULL},
				  time_custom = {time_read, time_write, time_schema, NULL};

/* ---- the whole ---- */
#define ERROR(field, help)                                                                         \
	RECORD_VALUE(struct verification, field, #field, help, .flags = RECORD_NULLABLE,           \
		.absent = INFINITY)
#define FIRST(field, help)                                                                         \
	RECORD_VALUE(struct verification, field, #field, help,                                     \
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE, .absent = NAN)
static const struct record_member verification_members[] = {
	RECORD_VALUE(struct verification, points, "points", "elements that were compared"),
	RECORD_VALUE(struct verification, violations, "violations", "beyond the tolerance"),
	RECORD_VALUE(struct verification, first_bad, "first_bad",
		"where the first of them is in the output", .flags = RECORD_OPTIONAL),
	FIRST(first_out, "what the kernel wrote there; not there: no number"),
	FIRST(first_expected, "what the reference wrote there"),
	ERROR(max_abs_error, "largest difference; null: without bounds"),
	ERROR(max_rel_error, "the same over the reference's value"),
};
#undef ERROR
#undef FIRST
RECORD_DEFINE(struct verification, verification_record, verification_members,
	.name = "verification", .open = true);

#define SECONDS(field, key, help, ...)                                                             \
	RECORD_VALUE(struct evaluation, field, key, help, .low = 0, .high = INFINITY, ##__VA_ARGS__)
static const struct record_member evaluation_members[] = {
	RECORD_VALUE(
		struct evaluation, family, "family", "of the candidate", .rule = &family_name_rule),
	RECORD_VALUE(struct evaluation, configuration, "configuration",
		"every parameter of the family", .rule = &configuration_rule),
	RECORD_TEXT(struct evaluation, kernel_hash, "kernel_hash",
		"of sources, options and entries", .rule = &kernel_hash_rule),
	RECORD_ENUM(struct evaluation, outcome, outcome_names, "outcome", "what became of it"),
	RECORD_VALUE(struct evaluation, detail, "detail", "the words of whoever refused it",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct evaluation, warnings, "warnings", "the compiler's, the first of them",
		.flags = RECORD_OPTIONAL),
	RECORD_FLAGS(struct evaluation, flags, kernel_flag_names, "flags", "of all launches"),
	RECORD_RECORDS(struct evaluation, resources, launch_count, kernel_resources_record,
		"resources", "of each launch; not there: it was not compiled",
		.flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(struct evaluation, score, &score_custom, "score", "the model's account",
		.flags = RECORD_OPTIONAL),
	RECORD_NESTED(struct evaluation, verification, verification_record, "verification",
		"its output beside the reference's", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct evaluation, verification.done)),
	RECORD_ENUM(struct evaluation, verified, verified_names, "verified",
		"beside what: the operation's reference if left out", .flags = RECORD_OPTIONAL,
		.absent = VERIFIED_REFERENCE),
	RECORD_FLAT(struct evaluation, measured, measured_record),
	RECORD_DERIVED(struct evaluation, &timing_custom, "timing", "whose time it is",
		.flags = RECORD_OPTIONAL),
	RECORD_DERIVED(struct evaluation, &time_custom, "time_us", "of the samples",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUES(struct evaluation, samples_us, sample_count, "samples_us",
		"times, microseconds", .flags = RECORD_OPTIONAL, .low = 0, .high = INFINITY,
		.expected = "a time in microseconds, not negative", .count_min = 1),
	SECONDS(compile_seconds, "compile_seconds", "that the compiler took"),
	RECORD_VALUE(struct evaluation, from_cache, "from_cache", "it was compiled before"),
	SECONDS(at_s, "at_s", "when it was recorded, from the start of its problem",
		.flags = RECORD_OPTIONAL),
};
#undef SECONDS

static enum status evaluation_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct evaluation *evaluation = value;

	(void)context;
	if (evaluation->outcome == OUTCOME_OK && !evaluation->sample_count &&
		!evaluation->time.count)
		return json_error(at, err, "a member \"time_us\"");
	if (evaluation->sample_count)
		evaluation->time =
			statistics_summary(evaluation->samples_us, evaluation->sample_count);
	if (!evaluation->resources)
		evaluation->launch_count = evaluation->score.launch_count;
	return STATUS_OK;
}

void evaluation_schema_refine(struct json *schema)
{
	static const char text[] = "[{\"if\":{\"required\":[\"time_us\"]},"
				   "\"then\":{\"required\":[\"timing\"]}},"
				   "{\"if\":{\"properties\":{\"outcome\":{\"const\":\"ok\"}}},"
				   "\"then\":{\"anyOf\":[{\"required\":[\"time_us\"]},"
				   "{\"required\":[\"samples_us\"]}]}}]";

	record_schema_require(schema, text);
}

RECORD_DEFINE(struct evaluation, evaluation_record, evaluation_members, .name = "evaluation",
	.help = "what became of a candidate", .open = true, .check = evaluation_check,
	.refine = evaluation_schema_refine);

void evaluation_release(struct evaluation *evaluation)
{
	record_release(&evaluation_record, evaluation);
	*evaluation = (struct evaluation){0};
}

void evaluation_add_samples(struct evaluation *evaluation, const double *samples_us, size_t count)
{
	if (count == 0)
		return;
	evaluation->samples_us = memory_resize(evaluation->samples_us,
		evaluation->sample_count + count, sizeof(*evaluation->samples_us));
	memcpy(evaluation->samples_us + evaluation->sample_count, samples_us,
		count * sizeof(*samples_us));
	evaluation->sample_count += count;
	evaluation->time = statistics_summary(evaluation->samples_us, evaluation->sample_count);
}
