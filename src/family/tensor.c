/* SPDX-License-Identifier: MIT */
#include "family/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "family/operation.h"

static const struct record_member tolerance_members[] = {
	RECORD_CUSTOM(
		struct tolerance, abs, &expression_sum_member, "abs", .flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(
		struct tolerance, rel, &expression_sum_member, "rel", .flags = RECORD_OPTIONAL),
	EXPRESSION_OPTIONAL(struct tolerance, differ, "differ"),
	RECORD_COMMENT("why"),
	{.name = "exact",
		.kind = RECORD_KIND_CONSTANT,
		.constant = "exact",
		.flags = RECORD_OPTIONAL},
};
RECORD_DEFINE(struct tolerance, tolerance_record, tolerance_members, .name = "tolerance",
	.short_form = "exact");

/* Returns the default tolerance of a type: a few thousand rounding errors, or 0 for integers. The
 * error of a sum grows with its terms, so the absolute tolerance is relative to the largest
 * value. */
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

/* Compiles an expression that reads the keys and `index`. */
static enum status index_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	const struct expression_reading *reading = context;
	const struct name_table *keys = &reading->operation->key_names;
	CLEANUP(name_table_release) struct name_table names = {0};

	for (size_t i = 0; i < keys->count; i++)
		name_table_add(&names, keys->names[i]);
	if (name_table_find(&names, "index") == NAME_UNKNOWN)
		name_table_add(&names, "index");
	return expression_json_compile(at, &names, field, err);
}

static const struct record_custom index_expression = {index_read, NULL, expression_member_release};

/* Returns the element type, or -1 if it depends on the problem. */
static int dtype_of(const struct tensor *tensor)
{
	const struct computed *computed =
		computed_find(&tensor->computed, offsetof(struct tensor, buffer.dtype));
	struct value word;

	if (!computed)
		return (int)tensor->buffer.dtype;
	return expression_constant(computed->expression, &word) && word.type == VALUE_STRING
		       ? dtype_find(word.string)
		       : -1;
}

static enum status tensor_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct expression_reading *reading = context;
	struct tensor *tensor = value;
	const enum buffer_contents contents = tensor->buffer.contents;
	const bool is_input = tensor->buffer.role == BUFFER_INPUT,
		   is_filled = tensor->buffer.role != BUFFER_OUTPUT;
	const bool groups = contents_are_groups(contents), normal = contents == CONTENTS_NORMAL;
	const int dtype = dtype_of(tensor);
	const bool of_32_or_64 = dtype >= 0 && !dtype_is_float((enum dtype)dtype) &&
				 dtype_size((enum dtype)dtype) >= 4;
	struct json_at when, of, skew;
	const bool has_of = json_find(at, "of", &of), has_skew = json_find(at, "skew", &skew);
	const double *fill = tensor->fill;
	const struct {
		bool wrong;
		const char *member, *problem;
	} rules[] = {
		{is_input && tensor->tolerance.is_given, "tolerance",
			"only written tensors have a tolerance"},
		{!is_input && json_find(at, "when", &when), "when",
			"a written tensor must not have a condition"},
		{contents != CONTENTS_UNIFORM && !is_filled, "contents",
			"a tensor of role \"out\" has no contents before the kernel writes it"},
		{contents == CONTENTS_PERMUTATION && !of_32_or_64, "contents",
			"a permutation needs integers of 32 or 64 bits"},
		{groups && dtype != DTYPE_I32, "contents", "offsets and counts need the dtype i32"},
		{groups != has_of || (has_skew && !has_of), "",
			"offsets and counts need \"of\", and no other contents may have \"of\" or "
			"\"skew\""},
		{tensor->has_fill && contents > CONTENTS_NORMAL, "fill",
			"\"fill\" needs the contents uniform or normal"},
		{tensor->has_fill && !is_filled, "fill",
			"a tensor of role \"out\" holds no values before the kernel writes it"},
		{tensor->has_fill && normal && !(fill[1] > 0), "fill",
			"normal contents need [mean, standard deviation], the latter above 0"},
		{tensor->has_fill && !normal && !(fill[0] < fill[1]), "fill",
			"uniform contents need [lowest, highest], the former below the latter"},
	};

	if (name_table_find(&reading->operation->key_names, tensor->buffer.name) != NAME_UNKNOWN)
		return json_invalid(at, err, "this name is already used by a key");
	for (size_t i = 0; i < ARRAY_COUNT(rules); i++)
		if (rules[i].wrong)
			return json_invalid_of(at, rules[i].member, err, "%s", rules[i].problem);
	return STATUS_OK;
}

/* ---- contents: a word, {"expression": ...}, {"file": ...} ---- */
static enum status contents_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct tensor *tensor = value;
	const bool is_word = json_type(at) != JSON_OBJECT;

	(void)context;
	if (is_word && tensor->buffer.contents >= CONTENTS_EXPRESSION)
		return json_error(at, err, "an object {\"%s\": ...}",
			buffer_contents_names[tensor->buffer.contents]);
	if (!is_word && (tensor->expression != NULL) == (tensor->file != NULL))
		return json_invalid(at, err, "give either \"expression\" or \"file\"");
	if (!is_word)
		tensor->buffer.contents = tensor->expression ? CONTENTS_EXPRESSION : CONTENTS_FILE;
	return STATUS_OK;
}

static const struct record_member contents_members[] = {
	RECORD_ENUM(struct tensor, buffer.contents, buffer_contents_names, "word",
		.flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(struct tensor, expression, &index_expression, "expression",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct tensor, file, "file", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(struct tensor, contents_record, contents_members, .name = "contents",
	.short_form = "word", .check = contents_check);

static const char *const role_names[] = {"in", "out", "inout", NULL};
static const struct record_member tensor_members[] = {
	RECORD_TEXT(struct tensor, buffer.name, "name", .rule = &tensor_name_rule),
	RECORD_ENUM(struct tensor, buffer.dtype, dtype_names, "dtype", COMPUTED,
		.expected = "an element type"),
	RECORD_ENUM(struct tensor, buffer.role, role_names, "role"),
	RECORD_VALUE(struct tensor, when, "when", .flags = RECORD_OPTIONAL, .absent = 1, COMPUTED),
	RECORD_ARRAY_COUNTED(struct tensor, shape, rank, "shape", .count_min = 1, .low = 1,
		.high = 0x1p63, .expected = "a dimension of at least 1", COMPUTED),
	RECORD_VALUE(struct tensor, buffer.ld, "ld", .flags = RECORD_OPTIONAL, COMPUTED, .low = 1,
		.high = 0x1p63, .expected = "a pitch of at least 1 element"),
	{.name = "contents",
		.kind = RECORD_KIND_RECORD,
		.record = &contents_record,
		.size = sizeof(struct tensor),
		.flags = RECORD_OPTIONAL},
	RECORD_VALUE(struct tensor, of, "of", .flags = RECORD_OPTIONAL, .high = INT32_MAX, .low = 0,
		COMPUTED),
	RECORD_VALUE(struct tensor, skew, "skew", .flags = RECORD_OPTIONAL, COMPUTED),
	RECORD_ARRAY(struct tensor, fill, "fill", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct tensor, has_fill)),
	RECORD_NESTED(struct tensor, tolerance, tolerance_record, "tolerance",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct tensor, tolerance.is_given)),
	RECORD_CUSTOM(struct tensor, computed, &computed_list_member, "", .flags = RECORD_NOT_JSON),
	RECORD_COMMENT("help"),
};
RECORD_DEFINE(
	struct tensor, tensor_record, tensor_members, .name = "tensor", .check = tensor_check);

static enum status too_large(const struct tensor *tensor, struct error *err)
{
	return error_set(
		err, STATUS_BAD_INPUT, "tensor %s: it has 2^63 bytes or more", tensor->buffer.name);
}

/* In the kernel that generates offsets, each thread adds up all sizes before its own. */
enum {
	OFFSETS_MAX = 65537
};
static enum status offsets_check(const struct plan_buffer *buffer, struct error *err)
{
	const int fewest = buffer->contents == CONTENTS_OFFSETS ? 2 : 1;

	if (buffer->rows == 1 && buffer->columns >= (uint64_t)fewest &&
		buffer->columns <= OFFSETS_MAX)
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT,
		"tensor %s: expected %d to %d %s, found %" PRIu64 " rows of %" PRIu64, buffer->name,
		fewest, (int)OFFSETS_MAX, buffer_contents_names[buffer->contents], buffer->rows,
		buffer->columns);
}

/* Sets a default distribution whose sums and products reveal mistakes in every type. */
static void fill_default(struct plan_buffer *buffer)
{
	const enum dtype dtype = buffer->dtype;
	const bool is_plain =
		!dtype_is_float(dtype) && !dtype_is_signed(dtype) && dtype != DTYPE_BOOL;

	buffer->fill_high = 1;
	if (buffer->contents == CONTENTS_NORMAL) {
		if (is_plain) {
			buffer->fill_low = 100;
			buffer->fill_high = 10;
		}
	} else if (dtype_is_float(dtype)) {
		buffer->fill_low = -1;
	} else if (dtype_is_signed(dtype)) {
		buffer->fill_high = -(buffer->fill_low = -100);
	} else if (is_plain) {
		buffer->fill_high = 200;
	}
}

static void take_fill(const struct tensor *tensor, struct plan_buffer *buffer)
{
	if (!buffer_is_filled(buffer->role))
		return;
	if (contents_are_groups(buffer->contents)) {
		buffer->fill_low = (double)tensor->of;
		buffer->fill_high = tensor->skew;
	} else if (tensor->has_fill) {
		buffer->fill_low = tensor->fill[0];
		buffer->fill_high = tensor->fill[1];
	} else {
		fill_default(buffer);
	}
}

/* Refuses integers that could wrap around. Values lie within nine standard deviations of the
 * mean. */
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
		"tensor %s: nine standard deviations around the mean do not fit into %s (mean %g, "
		"deviation %g)",
		buffer->name, dtype_names[dtype], buffer->fill_low, buffer->fill_high);
}

static enum status shape_evaluate(
	const struct tensor *tensor, struct plan_buffer *buffer, struct error *err)
{
	const uint64_t ld = buffer->ld;
	const struct computed *pitch =
		computed_find(&tensor->computed, offsetof(struct tensor, buffer.ld));
	uint64_t bytes;

	buffer->rows = 1;
	for (size_t i = 0; i + 1 < tensor->rank; i++)
		if (__builtin_mul_overflow(buffer->rows, tensor->shape[i], &buffer->rows))
			return too_large(tensor, err);
	buffer->columns = tensor->shape[tensor->rank - 1];
	buffer->ld = ld ? ld : buffer->columns;
	if (buffer->ld < buffer->columns)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a pitch of at least %" PRIu64
			" elements (one row), found %" PRIu64,
			pitch ? expression_where(pitch->expression) : buffer->name, buffer->columns,
			ld);
	if (__builtin_mul_overflow(buffer->rows - 1, buffer->ld, &bytes) ||
		__builtin_add_overflow(bytes, buffer->columns, &bytes) ||
		__builtin_mul_overflow(bytes, (uint64_t)dtype_size(buffer->dtype), &bytes) ||
		bytes > INT64_MAX)
		return too_large(tensor, err);
	buffer->bytes = bytes;
	return STATUS_OK;
}

enum status tensor_evaluate(const struct tensor *tensor, struct value *values,
	struct plan_buffer *buffer, struct error *err)
{
	struct tensor now = *tensor;

	TRY(computed_evaluate(
		&tensor->computed, tensor->computed.count, &now, values, 0, COMPUTED_ALL, err));
	*buffer = now.buffer;
	buffer->init = BUFFER_INIT_GIVEN;
	take_fill(&now, buffer);
	TRY(expect_normal_fits(buffer, err));
	if (!now.when) {
		buffer->ld = 0;
		return STATUS_OK;
	}
	TRY(shape_evaluate(&now, buffer, err));
	if (buffer->contents == CONTENTS_PERMUTATION && buffer->columns > INT32_MAX / buffer->rows)
		return error_set(err, STATUS_BAD_INPUT,
			"tensor %s: a permutation has at most 2^31 - 1 numbers", buffer->name);
	return contents_are_groups(buffer->contents) ? offsets_check(buffer, err) : STATUS_OK;
}
