/* SPDX-License-Identifier: MIT */
#include "family/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "family/operation.h"

/* ---- tolerances ---- */
static const struct record_member tolerance_members[] = {
	RECORD_CUSTOM(
		struct tolerance, abs, &expression_sum_member, "abs", .flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(
		struct tolerance, rel, &expression_sum_member, "rel", .flags = RECORD_OPTIONAL),
	EXPRESSION_OPTIONAL(struct tolerance, differ, "differ"),
	RECORD_COMMENT("why"),
};
static RECORD_DEFINE(struct tolerance, tolerance_record, tolerance_members, .name = "tolerance");

static enum status tolerance_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct tolerance *tolerance = field;
	const char *text;

	tolerance->is_given = true;
	if (json_type(at) == JSON_OBJECT)
		return record_from_json(&tolerance_record, at, tolerance, context, err);
	if (json_get_string(at, &text, NULL) == STATUS_OK && strcmp(text, "exact") == 0)
		return STATUS_OK;
	return json_error(at, err, "an object, or \"exact\"");
}

static void tolerance_release(void *field)
{
	record_release(&tolerance_record, field);
}

const struct record_custom tolerance_member = {tolerance_read, NULL, tolerance_release};

/* The default tolerance is a few thousand roundings of the type; integers must be equal. The error
 * of a sum grows with its terms, so the absolute tolerance is relative to the largest value. */
static double usual(enum dtype dtype)
{
	switch (dtype) {
	case DTYPE_FP64:
		return 0x1p-30;
	case DTYPE_FP32:
		return 0x1p-13;
	case DTYPE_TF32:
	case DTYPE_FP16:
		return 0x1p-8;
	case DTYPE_BF16:
		return 0x1p-5;
	case DTYPE_FP8_E4M3:
	case DTYPE_FP8_E5M2:
		return 0x1p-2;
	default:
		return 0;
	}
}

static enum status amount(const struct expression *expression, const struct value *values,
	double *result, struct error *err)
{
	*result = 0;
	if (!expression)
		return STATUS_OK;
	TRY(expression_real(expression, values, result, err));
	return isfinite(*result) && *result >= 0
		       ? STATUS_OK
		       : error_set(err, STATUS_BAD_INPUT,
				 "%s: expected a tolerance of at least 0, found %g",
				 expression_where(expression), *result);
}

enum status tolerance_evaluate(const struct tolerance *tolerance, enum dtype dtype,
	const struct value *values, struct reference_output *output, struct error *err)
{
	if (!tolerance->is_given) {
		output->tolerance_rel = usual(dtype);
		output->tolerance_abs = output->tolerance_rel / 16;
		output->abs_scales = true;
		return STATUS_OK;
	}
	TRY(amount(tolerance->abs, values, &output->tolerance_abs, err));
	TRY(amount(tolerance->rel, values, &output->tolerance_rel, err));
	return amount(tolerance->differ, values, &output->differ_ratio, err);
}

/* ---- tensors ---- */
/* Reads the keys, followed by `index`. */
static enum status index_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	const struct reading *reading = context;
	const struct name_table *keys = &reading->operation->key_names;
	CLEANUP(name_table_release) struct name_table names = {0};

	for (size_t i = 0; i < keys->count; i++)
		name_table_add(&names, keys->names[i]);
	if (name_table_find(&names, "index") == NAME_UNKNOWN)
		name_table_add(&names, "index");
	return expression_json_compile(at, &names, field, err);
}

static const struct record_custom index_expression = {index_read, NULL, expression_member_release};

static enum status tensor_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct reading *reading = context;
	struct tensor *tensor = value;
	const bool is_input = tensor->role == BUFFER_INPUT,
		   is_filled = tensor->role != BUFFER_OUTPUT;
	const bool groups = contents_are_groups(tensor->contents);
	struct value word;
	const bool any = !expression_constant(tensor->dtype, &word) || word.type != VALUE_STRING;
	const bool normal = tensor->contents == CONTENTS_NORMAL;
	const int dtype = any ? -1 : dtype_find(word.string);
	const bool of_32_or_64 = dtype >= 0 && !dtype_is_float((enum dtype)dtype) &&
				 dtype_size((enum dtype)dtype) >= 4;
	const double *fill = tensor->fill;
	const struct {
		bool wrong;
		const char *member, *expected;
	} rules[] = {
		{is_input && tensor->tolerance.is_given, "tolerance",
			"no tolerance of a tensor that is not written"},
		{!is_input && tensor->when, "when", "no condition on a tensor that is written"},
		{tensor->contents != CONTENTS_UNIFORM && !is_filled, "contents",
			"no contents of a tensor that holds none before"},
		{tensor->contents == CONTENTS_PERMUTATION && !of_32_or_64, "contents",
			"integers of 32 or 64 bits for a permutation"},
		{groups && dtype != DTYPE_I32, "contents", "the dtype i32 for offsets and counts"},
		{groups != (tensor->of != NULL) || (tensor->skew && !tensor->of), "",
			"\"of\" where the contents are offsets or counts, and \"skew\" nowhere "
			"else"},
		{tensor->has_fill && tensor->contents > CONTENTS_NORMAL, "fill",
			"\"contents\" uniform or normal where a tensor has \"fill\""},
		{tensor->has_fill && !is_filled, "fill",
			"no values of a tensor that holds none before"},
		{tensor->has_fill && normal && !(fill[1] > 0), "fill",
			"a mean and a standard deviation above 0"},
		{tensor->has_fill && !normal && !(fill[0] < fill[1]), "fill",
			"a lowest below the highest value"},
	};

	if (name_table_find(&reading->operation->key_names, tensor->name) != NAME_UNKNOWN)
		return json_error(at, err, "a name that is not a key's");
	for (size_t i = 0; i < ARRAY_COUNT(rules); i++)
		if (rules[i].wrong)
			return json_error_of(at, rules[i].member, err, "%s", rules[i].expected);
	return STATUS_OK;
}

/* ---- contents: a word, {"expression": ...}, {"file": ...} ---- */
static const struct record_member expression_members[] = {
	RECORD_CUSTOM(struct tensor, expression, &index_expression, "expression",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct tensor, file, "file", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(struct tensor, contents_record, expression_members, .name = "contents");

static enum status contents_read(
	const struct json_at *at, void *whole, void *context, struct error *err)
{
	struct tensor *tensor = whole;
	int index;

	if (json_type(at) != JSON_OBJECT) {
		TRY(record_name_from_json(at, buffer_contents_names, &index, err));
		tensor->contents = (enum buffer_contents)index;
		return index < CONTENTS_EXPRESSION ? STATUS_OK
						   : json_error(at, err, "an object {\"%s\": ...}",
							     buffer_contents_names[index]);
	}
	TRY(record_from_json(&contents_record, at, tensor, context, err));
	if ((tensor->expression != NULL) == (tensor->file != NULL))
		return json_error(at, err, "one of \"expression\" and \"file\"");
	tensor->contents = tensor->expression ? CONTENTS_EXPRESSION : CONTENTS_FILE;
	return STATUS_OK;
}

static void contents_release(void *whole)
{
	record_release(&contents_record, whole);
}

static const struct record_custom contents_custom = {contents_read, NULL, contents_release};

static const char *const role_names[] = {"in", "out", "inout", NULL};
static const struct record_member tensor_members[] = {
	RECORD_VALUE(struct tensor, name, "name", .rule = &name_rule),
	RECORD_CUSTOMS(struct tensor, shape.items, shape.count, &expression_member, "shape",
		.count_min = 1, .count_max = TENSOR_RANK_MAX),
	EXPRESSION_OPTIONAL(struct tensor, ld, "ld"),
	RECORD_CUSTOM(struct tensor, dtype, &dtype_member, "dtype"),
	RECORD_ENUM(struct tensor, role, role_names, "role"),
	EXPRESSION_OPTIONAL(struct tensor, when, "when"),
	RECORD_DERIVED(struct tensor, &contents_custom, "contents", .flags = RECORD_OPTIONAL),
	EXPRESSION_OPTIONAL(struct tensor, of, "of"),
	EXPRESSION_OPTIONAL(struct tensor, skew, "skew"),
	RECORD_ARRAY(struct tensor, fill, "fill", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct tensor, has_fill)),
	RECORD_CUSTOM(
		struct tensor, tolerance, &tolerance_member, "tolerance", .flags = RECORD_OPTIONAL),
	RECORD_COMMENT("help"),
};
RECORD_DEFINE(
	struct tensor, tensor_record, tensor_members, .name = "tensor", .check = tensor_check);

static enum status too_large(const struct tensor *tensor, struct error *err)
{
	return error_set(err, STATUS_BAD_INPUT,
		"tensor %s: expected less than 2^63 bytes, found more", tensor->name);
}

static enum status evaluate_shape(const struct tensor *tensor, const struct value *values,
	struct plan_buffer *buffer, struct error *err)
{
	size_t rank = tensor->shape.count;

	buffer->rows = 1;
	for (size_t i = 0; i < rank; i++) {
		const struct expression *expression = tensor->shape.items[i];
		int64_t dimension;

		TRY(expression_int(expression, values, &dimension, err));
		if (dimension < 1)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a dimension of at least 1, found %" PRId64,
				expression_where(expression), dimension);
		if (i + 1 == rank)
			buffer->columns = (uint64_t)dimension;
		else if (__builtin_mul_overflow(buffer->rows, (uint64_t)dimension, &buffer->rows))
			return too_large(tensor, err);
	}
	return STATUS_OK;
}

/* A thread of the kernel that generates offsets adds up all sizes before its own. */
enum {
	OFFSETS_MAX = 65537
};
static enum status offsets_evaluate(const struct tensor *tensor, const struct value *values,
	struct plan_buffer *buffer, struct error *err)
{
	const int fewest = buffer->contents == CONTENTS_OFFSETS ? 2 : 1;
	int64_t total;

	if (buffer->rows != 1 || buffer->columns < (uint64_t)fewest ||
		buffer->columns > OFFSETS_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"tensor %s: expected %d to %d %s, found %" PRIu64 " rows of %" PRIu64,
			tensor->name, fewest, (int)OFFSETS_MAX,
			buffer_contents_names[buffer->contents], buffer->rows, buffer->columns);
	TRY(expression_int_within(tensor->of, values, 0, INT32_MAX, &total, err));
	buffer->fill_low = (double)total;
	return tensor->skew ? expression_real(tensor->skew, values, &buffer->fill_high, err)
			    : STATUS_OK;
}

/* Default contents: numbers whose sums and products reveal mistakes in every type. */
static void take_fill(const struct tensor *tensor, struct plan_buffer *buffer)
{
	const enum dtype dtype = buffer->dtype;

	buffer->contents = tensor->contents;
	buffer->fill_low = tensor->fill[0];
	buffer->fill_high = tensor->fill[1];
	if (tensor->has_fill)
		return;
	buffer->fill_low = 0;
	buffer->fill_high = !contents_are_groups(tensor->contents);
	if (contents_are_groups(tensor->contents))
		return;
	if (tensor->contents == CONTENTS_NORMAL) {
		if (!dtype_is_float(dtype) && !dtype_is_signed(dtype) && dtype != DTYPE_BOOL) {
			buffer->fill_low = 100;
			buffer->fill_high = 10;
		}
		return;
	}
	if (dtype_is_float(dtype))
		buffer->fill_low = -1;
	else if (dtype_is_signed(dtype))
		buffer->fill_high = -(buffer->fill_low = -100);
	else if (dtype != DTYPE_BOOL)
		buffer->fill_high = 200;
}

/* Refuses integers that would wrap around. No value is more than nine deviations from the mean. */
static enum status expect_normal_fits(const struct plan_buffer *buffer, struct error *err)
{
	const enum dtype dtype = buffer->dtype;
	const double values = exp2(8.0 * (double)dtype_size(dtype));
	const double least = dtype_is_signed(dtype) ? -values / 2 : 0;
	const double reach = 9 * fabs(buffer->fill_high);

	if (buffer->contents != CONTENTS_NORMAL || dtype_is_float(dtype) || dtype == DTYPE_BOOL ||
		(buffer->fill_low - reach >= least && buffer->fill_low + reach < least + values))
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT,
		"tensor %s: expected a mean that is nine deviations within %s, found the mean %g "
		"and the deviation %g",
		buffer->name, dtype_names[dtype], buffer->fill_low, buffer->fill_high);
}

enum status tensor_evaluate(const struct tensor *tensor, const struct value *values,
	struct plan_buffer *buffer, struct error *err)
{
	uint64_t bytes;
	int64_t ld;
	bool is_there;

	*buffer = (struct plan_buffer){.role = tensor->role, .init = BUFFER_INIT_GIVEN};
	string_put(buffer->name, sizeof(buffer->name), tensor->name);
	TRY(dtype_evaluate(tensor->dtype, values, &buffer->dtype, err));
	if (buffer_is_filled(tensor->role))
		take_fill(tensor, buffer);
	TRY(expect_normal_fits(buffer, err));
	TRY(expression_test(tensor->when, values, &is_there, err));
	if (!is_there)
		return STATUS_OK;
	TRY(evaluate_shape(tensor, values, buffer, err));
	if (buffer->contents == CONTENTS_PERMUTATION && buffer->columns > INT32_MAX / buffer->rows)
		return error_set(err, STATUS_BAD_INPUT,
			"tensor %s: expected a permutation of less than 2^31 numbers, found more",
			tensor->name);
	if (contents_are_groups(buffer->contents))
		TRY(offsets_evaluate(tensor, values, buffer, err));
	buffer->ld = buffer->columns;
	if (tensor->ld) {
		TRY(expression_int(tensor->ld, values, &ld, err));
		if (ld < 1 || (uint64_t)ld < buffer->columns)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a pitch of at least a row of %" PRIu64
				" elements, found %" PRId64,
				expression_where(tensor->ld), buffer->columns, ld);
		buffer->ld = (uint64_t)ld;
	}
	if (__builtin_mul_overflow(buffer->rows - 1, buffer->ld, &bytes) ||
		__builtin_add_overflow(bytes, buffer->columns, &bytes) ||
		__builtin_mul_overflow(bytes, (uint64_t)dtype_size(buffer->dtype), &bytes) ||
		bytes > INT64_MAX)
		return too_large(tensor, err);
	buffer->bytes = bytes;
	return STATUS_OK;
}
