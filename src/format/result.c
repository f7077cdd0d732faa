/* SPDX-License-Identifier: MIT */
#include "format/result.h"

#include <ctype.h>
#include <math.h>

#include "record/record_read.h"
#include "record/record_write.h"

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

const char *name_skip(const char *text, bool with_dashes)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return NULL;
	while (isalnum((unsigned char)*text) || *text == '_' || (with_dashes && *text == '-'))
		text++;
	return text;
}

static bool is_family_name(const char *text)
{
	text = name_skip(text, true);
	if (!text || *text != '/')
		return false;
	text = name_skip(text + 1, true);
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
		at = name_skip(at, false);
		if (!at || *at++ != '=')
			return false;
		length = strcspn(at, ",=");
		if (at[length] == '=')
			return false;
		if (!at[length])
			break;
	}
	return true;
}

const struct record_rule family_name_rule = {
	.expected = "a family's name like \"gemm/mma\"", .accepts = is_family_name};
const struct record_rule kernel_hash_rule = {
	.expected = "32 hexadecimal digits, or nothing", .accepts = is_kernel_hash};
static const struct record_rule configuration_rule = {
	.expected = "a configuration like \"BM=128,BN=256\"", .accepts = is_configuration};

const char *const timing_names[] = {"measured", "predicted", NULL};

#define TIME(field)                                                                                \
	RECORD_VALUE(struct summary, field, #field, .flags = RECORD_ROUNDED, .low = 0,             \
		.high = INFINITY)
static const struct record_member time_members[] = {
	TIME(median),
	TIME(ci95_low),
	TIME(ci95_high),
	RECORD_VALUE(struct summary, count, "samples", .low = 1, .high = INFINITY),
};
#undef TIME
RECORD_DEFINE(struct summary, time_record, time_members, .name = "time_us", .open = true);

#define MEASURED(field)                                                                            \
	RECORD_VALUE(struct measured, field, #field, .low = 0, .high = INFINITY,                   \
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_ROUNDED)
static const struct record_member measured_members[] = {
	MEASURED(energy_j),
	MEASURED(power_w),
	MEASURED(energy_resolution_ratio),
	MEASURED(clock_hz),
	MEASURED(power_cap_ratio),
};
#undef MEASURED
RECORD_DEFINE(struct measured, measured_record, measured_members, .name = "measured", .open = true);

#define SPENT(field)                                                                               \
	RECORD_VALUE(struct spent, field, #field, .low = 0, .high = INFINITY,                      \
		.flags = RECORD_OPTIONAL | RECORD_ROUNDED)
static const struct record_member spent_members[] = {
	SPENT(load_ms),
	SPENT(expected_ms),
	SPENT(verify_ms),
	SPENT(digest_ms),
	SPENT(sample_ms),
	SPENT(confirm_ms),
};
#undef SPENT
RECORD_DEFINE(struct spent, spent_record, spent_members, .name = "spent", .open = true);

#define ERROR(field)                                                                               \
	RECORD_VALUE(                                                                              \
		struct verification, field, #field, .flags = RECORD_NULLABLE, .absent = INFINITY)
#define FIRST(field)                                                                               \
	RECORD_VALUE(struct verification, field, #field,                                           \
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE, .absent = NAN)
static const struct record_member verification_members[] = {
	RECORD_VALUE(struct verification, points, "points"),
	RECORD_VALUE(struct verification, violations, "violations"),
	RECORD_VALUE(struct verification, first_bad, "first_bad", .flags = RECORD_OPTIONAL),
	FIRST(first_out),
	FIRST(first_expected),
	ERROR(max_abs_error),
	ERROR(max_rel_error),
};
#undef ERROR
#undef FIRST
RECORD_DEFINE(struct verification, verification_record, verification_members,
	.name = "verification", .open = true);

#define SECONDS(field, key, ...)                                                                   \
	RECORD_VALUE(struct result, field, key, .low = 0, .high = INFINITY, ##__VA_ARGS__)
static const struct record_member result_members[] = {
	RECORD_VALUE(struct result, family, "family", .rule = &family_name_rule),
	RECORD_VALUE(struct result, configuration, "configuration", .rule = &configuration_rule),
	RECORD_TEXT(struct result, kernel_hash, "kernel_hash", .rule = &kernel_hash_rule),
	RECORD_ENUM(struct result, outcome, outcome_names, "outcome"),
	RECORD_VALUE(struct result, detail, "detail", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct result, warnings, "warnings", .flags = RECORD_OPTIONAL),
	RECORD_FLAGS(struct result, flags, kernel_flag_names, "flags"),
	RECORD_RECORDS(struct result, resources, launch_count, kernel_resources_record, "resources",
		.flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(struct result, score, &score_custom, "score", .flags = RECORD_OPTIONAL),
	RECORD_NESTED(struct result, verification, verification_record, "verification",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct result, verification.done)),
	RECORD_ENUM(struct result, verified, verified_names, "verified", .flags = RECORD_OPTIONAL,
		.absent = VERIFIED_REFERENCE),
	RECORD_ENUM(struct result, by_program, verified_by_names, "verified_by",
		.flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct result, bits, output_digest_record, "bits", .flags = RECORD_OPTIONAL),
	RECORD_FLAT(struct result, measured, measured_record),
	RECORD_FLAT(struct result, spent, spent_record),
	RECORD_ENUM(struct result, predicted, timing_names, "timing", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct result, is_timed)),
	RECORD_NESTED(struct result, time, time_record, "time_us", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct result, is_timed)),
	RECORD_VALUES(struct result, samples_us, sample_count, "samples_us",
		.flags = RECORD_OPTIONAL, .low = 0, .high = INFINITY,
		.expected = "a time in microseconds, not negative", .count_min = 1),
	SECONDS(compile_seconds, "compile_seconds"),
	RECORD_VALUE(struct result, from_cache, "from_cache"),
	SECONDS(at_s, "at_s", .flags = RECORD_OPTIONAL),
};
#undef SECONDS

static enum status result_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct result *result = value;
	struct json_at timing;

	(void)context;
	if (result->is_timed && !json_find(at, "timing", &timing))
		return json_invalid(at, err, "the member \"timing\" is missing");
	if (result->sample_count)
		result_summarise(result);
	if (!result->resources)
		result->launch_count = result->score.launch_count;
	return STATUS_OK;
}

RECORD_DEFINE(struct result, result_record, result_members, .name = "result", .open = true,
	.check = result_check);

void result_summarise(struct result *result)
{
	result->is_timed = result->sample_count > 0;
	result->time = result->is_timed
			       ? statistics_summary(result->samples_us, result->sample_count)
			       : (struct summary){0};
}

void result_release(struct result *result)
{
	record_release(&result_record, result);
	*result = (struct result){0};
}

void result_add(struct result *result, struct result *found)
{
	result->flags |= found->flags;
	result->by_program |= found->by_program;
	if (found->bits) {
		output_digest_free(&result->bits);
		result->bits = found->bits;
		found->bits = NULL;
	}
	if (found->verification.done) {
		result->verification = found->verification;
		result->verified = found->verified;
	}
	if (found->measured.energy_j > 0 || isnan(found->measured.energy_j))
		result->measured = found->measured;
	for (size_t i = 0; i < ARRAY_COUNT(spent_members); i++)
		*(double *)((char *)&result->spent + spent_members[i].offset) +=
			*(double *)((char *)&found->spent + spent_members[i].offset);
	if (found->sample_count) {
		result->predicted = found->predicted;
		result_add_samples(result, found->samples_us, found->sample_count);
	}
}

void result_add_samples(struct result *result, const double *samples_us, size_t count)
{
	if (count == 0)
		return;
	result->samples_us = memory_resize(
		result->samples_us, result->sample_count + count, sizeof(*result->samples_us));
	memcpy(result->samples_us + result->sample_count, samples_us, count * sizeof(*samples_us));
	result->sample_count += count;
	result_summarise(result);
}

void result_set_samples(struct result *result, const double *samples_us, size_t count)
{
	double *samples = memory_copy(samples_us, count * sizeof(*samples));

	free(result->samples_us);
	result->samples_us = samples;
	result->sample_count = count;
	result_summarise(result);
}
