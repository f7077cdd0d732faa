/* SPDX-License-Identifier: MIT
 *
 * An evaluation as JSON. What is not there was not done: no "resources" without a compilation, no
 * "score" without one, no "verification", no "samples_us". "time_us" is for readers of the file;
 * we compute it anew from the samples.
 */
#include "format/evaluation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* ---- writing ---- */
static struct json *flags_to_json(uint32_t flags)
{
	struct json *array = json_new_array();

	for (int i = 0; i < FLAG_COUNT; i++)
		if (flags & 1u << i)
			json_push(array, json_new_string(kernel_flag_name((enum kernel_flag)i)));
	return array;
}

static struct json *resources_to_json(const struct kernel_resources *resources)
{
	struct json *object = json_new_object();

	json_put_int(object, "regs_per_thread", resources->regs_per_thread);
	json_put_int(object, "smem_static_bytes", resources->smem_static_bytes);
	json_put_int(object, "spill_store_bytes", resources->spill_store_bytes);
	json_put_int(object, "spill_load_bytes", resources->spill_load_bytes);
	json_put_int(object, "stack_bytes", resources->stack_bytes);
	json_put_int(object, "barriers", resources->barriers);
	json_put(object, "flags", flags_to_json(resources->flags));
	json_put_int(object, "blocks_per_sm", resources->blocks_per_sm);
	json_put_int(object, "max_clusters", resources->max_clusters);
	return object;
}

static struct json *verification_to_json(const struct verification *verification)
{
	struct json *object = json_new_object();

	json_put_int(object, "points", (int64_t)verification->points);
	json_put_int(object, "violations", (int64_t)verification->violations);
	if (verification->violations > 0) {
		json_put_int(object, "first_bad", (int64_t)verification->first_bad);
		json_put_double(object, "first_out", verification->first_out);
		json_put_double(object, "first_expected", verification->first_expected);
	}
	json_put_double(object, "max_abs_error", verification->max_abs_error);
	json_put_double(object, "max_rel_error", verification->max_rel_error);
	return object;
}

static struct json *time_to_json(const struct summary *time)
{
	struct json *object = json_new_object();

	json_put_double(object, "median", time->median);
	json_put_double(object, "ci95_low", time->ci95_low);
	json_put_double(object, "ci95_high", time->ci95_high);
	json_put_int(object, "samples", (int64_t)time->count);
	return object;
}

struct json *evaluation_to_json(const struct evaluation *evaluation)
{
	struct json *object = json_new_object(), *array;

	json_put_string(object, "family", evaluation->family);
	json_put_string(object, "configuration", evaluation->configuration);
	json_put_string(object, "kernel_hash", evaluation->kernel_hash);
	json_put_string(object, "outcome", outcome_name(evaluation->outcome));
	if (evaluation->detail)
		json_put_string(object, "detail", evaluation->detail);
	json_put(object, "flags", flags_to_json(evaluation->flags));
	if (evaluation->resources) {
		array = json_new_array();
		for (size_t i = 0; i < evaluation->launch_count; i++)
			json_push(array, resources_to_json(&evaluation->resources[i]));
		json_put(object, "resources", array);
	}
	if (evaluation->score.launch_count > 0)
		json_put(object, "score", score_to_json(&evaluation->score));
	if (evaluation->verification.done)
		json_put(object, "verification", verification_to_json(&evaluation->verification));
	if (evaluation->sample_count > 0) {
		json_put_string(object, "timing", evaluation->predicted ? "predicted" : "measured");
		json_put(object, "time_us", time_to_json(&evaluation->time));
		array = json_new_array();
		for (size_t i = 0; i < evaluation->sample_count; i++)
			json_push(array, json_new_double(evaluation->samples_us[i]));
		json_put(object, "samples_us", array);
	}
	json_put_double(object, "compile_seconds", evaluation->compile_seconds);
	json_put_bool(object, "from_cache", evaluation->from_cache);
	if (evaluation->at_s > 0)
		json_put_double(object, "at_s", evaluation->at_s);
	return object;
}

/* ---- reading ---- */
static enum status get_copy(
	const struct json_at *object, const char *key, char **copy, struct error *err)
{
	const char *string;
	const enum status status = json_member_string(object, key, &string, err);

	if (status == STATUS_OK)
		*copy = string_copy(string);
	return status;
}

static enum status get_hash(const struct json_at *object, char digits[HASH_SIZE], struct error *err)
{
	struct json_at member;
	const char *string;
	enum status status = json_member(object, "kernel_hash", &member, err);

	if (status == STATUS_OK)
		status = json_get_string(&member, &string, err);
	if (status != STATUS_OK)
		return status;
	if (string[0] != '\0' && (strlen(string) != HASH_SIZE - 1 ||
					 strspn(string, "0123456789abcdef") != HASH_SIZE - 1))
		return json_error(&member, err, "%d hexadecimal digits", HASH_SIZE - 1);
	string_put(digits, HASH_SIZE, string);
	return STATUS_OK;
}

static enum status get_outcome(
	const struct json_at *object, enum outcome *outcome, struct error *err)
{
	struct json_at member;
	const char *name;
	enum status status = json_member(object, "outcome", &member, err);
	int found;

	if (status == STATUS_OK)
		status = json_get_string(&member, &name, err);
	if (status != STATUS_OK)
		return status;
	found = outcome_find(name);
	if (found < 0)
		return json_error(&member, err, "an outcome like \"ok\"");
	*outcome = (enum outcome)found;
	return STATUS_OK;
}

static enum status get_flags(const struct json_at *object, uint32_t *flags, struct error *err)
{
	struct json_at array;
	enum status status = json_member(object, "flags", &array, err);

	if (status == STATUS_OK)
		status = json_expect(&array, JSON_ARRAY, err);
	for (size_t i = 0; status == STATUS_OK && i < json_count(&array); i++) {
		const struct json_at item = json_item(&array, i);
		const char *name;
		int found;

		status = json_get_string(&item, &name, err);
		if (status != STATUS_OK)
			break;
		found = kernel_flag_find(name);
		if (found < 0)
			return json_error(&item, err, "a flag like \"%s\"", kernel_flag_name(0));
		*flags |= 1u << found;
	}
	return status;
}

/* An integer within low..high. */
static enum status get_int(const struct json_at *object, const char *key, int64_t low, int64_t high,
	int64_t *value, struct error *err)
{
	struct json_at member;
	enum status status = json_member(object, key, &member, err);

	if (status == STATUS_OK)
		status = json_get_int(&member, value, err);
	if (status == STATUS_OK && (*value < low || *value > high))
		status = json_error(
			&member, err, "an integer within %" PRId64 "..%" PRId64, low, high);
	return status;
}

static enum status get_resources(
	const struct json_at *object, struct kernel_resources *resources, struct error *err)
{
	const struct {
		const char *key;
		int32_t *value;
	} members[] = {
		{"regs_per_thread", &resources->regs_per_thread},
		{"smem_static_bytes", &resources->smem_static_bytes},
		{"spill_store_bytes", &resources->spill_store_bytes},
		{"spill_load_bytes", &resources->spill_load_bytes},
		{"stack_bytes", &resources->stack_bytes},
		{"barriers", &resources->barriers},
		{"blocks_per_sm", &resources->blocks_per_sm},
		{"max_clusters", &resources->max_clusters},
	};

	for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
		int64_t value;
		const enum status status =
			get_int(object, members[i].key, -1, INT32_MAX, &value, err);

		if (status != STATUS_OK)
			return status;
		*members[i].value = (int32_t)value;
	}
	return get_flags(object, &resources->flags, err);
}

static enum status get_all_resources(
	const struct json_at *object, struct evaluation *evaluation, struct error *err)
{
	struct json_at array;
	enum status status;

	if (!json_find(object, "resources", &array))
		return STATUS_OK;
	status = json_expect(&array, JSON_ARRAY, err);
	if (status != STATUS_OK)
		return status;
	evaluation->launch_count = json_count(&array);
	evaluation->resources =
		memory_zeroed(evaluation->launch_count + 1, sizeof(*evaluation->resources));
	for (size_t i = 0; i < evaluation->launch_count && status == STATUS_OK; i++) {
		const struct json_at item = json_item(&array, i);

		status = get_resources(&item, &evaluation->resources[i], err);
	}
	return status;
}

static enum status get_verification(
	const struct json_at *object, struct verification *verification, struct error *err)
{
	int64_t points = 0, violations = 0, first_bad = 0;
	struct json_at at;
	enum status status;

	if (!json_find(object, "verification", &at))
		return STATUS_OK;
	if ((status = get_int(&at, "points", 0, INT64_MAX, &points, err)) != STATUS_OK ||
		(status = get_int(&at, "violations", 0, INT64_MAX, &violations, err)) != STATUS_OK)
		return status;
	if (violations > 0) {
		struct json_at member;

		status = get_int(&at, "first_bad", 0, INT64_MAX, &first_bad, err);
		/* NaN is a violation too, and null in JSON */
		if (status == STATUS_OK && json_find(&at, "first_out", &member) &&
			json_type(&member) != JSON_NULL)
			status = json_get_double(&member, &verification->first_out, err);
		else
			verification->first_out = (double)__builtin_nanf("");
		if (status == STATUS_OK)
			status = json_member_double(
				&at, "first_expected", &verification->first_expected, err);
	}
	for (int i = 0; status == STATUS_OK && i < 2; i++) {
		struct json_at member;
		double *error = i ? &verification->max_rel_error : &verification->max_abs_error;

		status = json_member(&at, i ? "max_rel_error" : "max_abs_error", &member, err);
		*error = __builtin_inf(); /* null */
		if (status == STATUS_OK && json_type(&member) != JSON_NULL)
			status = json_get_double(&member, error, err);
	}
	verification->done = true;
	verification->points = (uint64_t)points;
	verification->violations = (uint64_t)violations;
	verification->first_bad = (uint64_t)first_bad;
	return status;
}

static enum status get_samples(
	const struct json_at *object, struct evaluation *evaluation, struct error *err)
{
	struct json_at array, timing;
	const char *how;
	double *samples;
	size_t count;
	enum status status;

	if (!json_find(object, "samples_us", &array))
		return STATUS_OK;
	status = json_expect(&array, JSON_ARRAY, err);
	if (status == STATUS_OK)
		status = json_member(object, "timing", &timing, err);
	if (status == STATUS_OK)
		status = json_get_string(&timing, &how, err);
	if (status != STATUS_OK)
		return status;
	evaluation->predicted = strcmp(how, "predicted") == 0;
	if (!evaluation->predicted && strcmp(how, "measured") != 0)
		return json_error(&timing, err, "\"measured\" or \"predicted\"");
	count = json_count(&array);
	samples = memory_zeroed(count + 1, sizeof(*samples));
	for (size_t i = 0; i < count && status == STATUS_OK; i++) {
		const struct json_at item = json_item(&array, i);

		status = json_get_double(&item, &samples[i], err);
		if (status == STATUS_OK && !(samples[i] >= 0))
			status = json_error(&item, err, "a time in microseconds, not negative");
	}
	if (status == STATUS_OK)
		evaluation_add_samples(evaluation, samples, count);
	free(samples);
	return status;
}

static enum status get_rest(
	const struct json_at *at, struct evaluation *evaluation, struct error *err)
{
	struct json_at member;
	enum status status =
		json_member_double(at, "compile_seconds", &evaluation->compile_seconds, err);

	if (status == STATUS_OK && json_find(at, "detail", &member))
		status = get_copy(at, "detail", &evaluation->detail, err);
	if (status == STATUS_OK && json_find(at, "score", &member))
		status = score_from_json(&member, &evaluation->score, err);
	if (status == STATUS_OK)
		status = json_member(at, "from_cache", &member, err);
	if (status == STATUS_OK)
		status = json_get_bool(&member, &evaluation->from_cache, err);
	if (status == STATUS_OK && json_find(at, "at_s", &member)) {
		status = json_get_double(&member, &evaluation->at_s, err);
		if (status == STATUS_OK && !(evaluation->at_s >= 0))
			status = json_error(&member, err, "seconds, not negative");
	}
	if (status == STATUS_OK && !evaluation->resources)
		evaluation->launch_count = evaluation->score.launch_count;
	return status;
}

enum status evaluation_from_json(
	const struct json_at *at, struct evaluation *evaluation, struct error *err)
{
	struct evaluation result = {0};
	enum status status = json_expect(at, JSON_OBJECT, err);

	if (status == STATUS_OK &&
		(status = get_copy(at, "family", &result.family, err)) == STATUS_OK &&
		(status = get_copy(at, "configuration", &result.configuration, err)) == STATUS_OK &&
		(status = get_hash(at, result.kernel_hash, err)) == STATUS_OK &&
		(status = get_outcome(at, &result.outcome, err)) == STATUS_OK &&
		(status = get_flags(at, &result.flags, err)) == STATUS_OK &&
		(status = get_all_resources(at, &result, err)) == STATUS_OK &&
		(status = get_verification(at, &result.verification, err)) == STATUS_OK &&
		(status = get_samples(at, &result, err)) == STATUS_OK)
		status = get_rest(at, &result, err);
	if (status != STATUS_OK) {
		evaluation_release(&result);
		return status;
	}
	*evaluation = result;
	return STATUS_OK;
}
