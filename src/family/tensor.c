/* SPDX-License-Identifier: MIT
 *
 * Reading and evaluating tensors.
 */
#include "family/tensor.h"

#include <inttypes.h>
#include <string.h>

static const char *const keys[] = {"shape", "ld", "dtype", "role", "fill", "help", NULL};

static enum status read_role(const struct json_at *at, struct tensor *tensor, struct error *err)
{
	struct json_at role;
	const char *name;

	if (json_member(at, "role", &role, err) != STATUS_OK ||
		json_get_string(&role, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (strcmp(name, "in") != 0 && strcmp(name, "out") != 0)
		return json_error(&role, err, "\"in\" or \"out\"");
	tensor->is_output = strcmp(name, "out") == 0;
	return STATUS_OK;
}

static enum status read_fill(const struct json_at *at, struct tensor *tensor, struct error *err)
{
	struct json_at fill, low, high;

	tensor->fill_low = -1;
	tensor->fill_high = 1;
	if (!json_find(at, "fill", &fill))
		return STATUS_OK;
	if (tensor->is_output || json_type(&fill) != JSON_ARRAY || json_count(&fill) != 2)
		return json_error(&fill, err, "[lowest, highest] of an input");
	low = json_item(&fill, 0);
	high = json_item(&fill, 1);
	if (json_get_double(&low, &tensor->fill_low, err) != STATUS_OK ||
		json_get_double(&high, &tensor->fill_high, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (!(tensor->fill_low < tensor->fill_high))
		return json_error(&fill, err, "a lowest below the highest value");
	return STATUS_OK;
}

enum status dtype_json_read(const struct json_at *at, const struct name_table *names,
	struct expression **expression, enum dtype *dtype, struct error *err)
{
	const char *text;
	int found;

	*expression = NULL;
	if (json_get_string(at, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	found = dtype_find(text);
	if (found >= 0 && name_table_find(names, text) == NAME_UNKNOWN) {
		*dtype = (enum dtype)found;
		return STATUS_OK;
	}
	return expression_json_compile(at, names, expression, err);
}

enum status dtype_evaluate(const struct expression *expression, const struct value *values,
	enum dtype *dtype, struct error *err)
{
	const char *name;
	int found;

	if (expression_string(expression, values, &name, err) != STATUS_OK)
		return err ? err->status : STATUS_BAD_INPUT;
	found = dtype_find(name);
	if (found < 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an element type, found \"%s\"", expression_where(expression),
			name);
	*dtype = (enum dtype)found;
	return STATUS_OK;
}

enum status tensor_read(const struct json_at *at, const struct name_table *names,
	struct tensor *tensor, struct error *err)
{
	struct json_at dtype;

	tensor->name = at->key;
	if (name_json_check(at, at->key, err) != STATUS_OK ||
		json_expect_keys(at, keys, err) != STATUS_OK ||
		read_role(at, tensor, err) != STATUS_OK ||
		read_fill(at, tensor, err) != STATUS_OK ||
		expression_json_list(at, "shape", 1, TENSOR_RANK_MAX, names, &tensor->shape, err) !=
			STATUS_OK ||
		expression_json_member_if(at, "ld", names, &tensor->ld, err) != STATUS_OK ||
		json_member(at, "dtype", &dtype, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return dtype_json_read(&dtype, names, &tensor->dtype_text, &tensor->dtype, err);
}

void tensor_release(struct tensor *tensor)
{
	expression_list_release(&tensor->shape);
	expression_free(tensor->ld);
	expression_free(tensor->dtype_text);
	*tensor = (struct tensor){0};
}

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
		enum status status = expression_int(expression, values, &dimension, err);

		if (status != STATUS_OK)
			return status;
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

enum status tensor_evaluate(const struct tensor *tensor, const struct value *values,
	struct plan_buffer *buffer, struct error *err)
{
	enum status status;
	uint64_t bytes;
	int64_t ld;

	*buffer = (struct plan_buffer){.role = tensor->is_output ? BUFFER_OUTPUT : BUFFER_INPUT,
		.init = BUFFER_INIT_GIVEN,
		.dtype = tensor->dtype};
	string_put(buffer->name, sizeof(buffer->name), tensor->name);
	if (!tensor->is_output) {
		buffer->fill_low = tensor->fill_low;
		buffer->fill_high = tensor->fill_high;
	}
	if (tensor->dtype_text) {
		status = dtype_evaluate(tensor->dtype_text, values, &buffer->dtype, err);
		if (status != STATUS_OK)
			return status;
	}
	status = evaluate_shape(tensor, values, buffer, err);
	if (status != STATUS_OK)
		return status;
	buffer->ld = buffer->columns;
	if (tensor->ld) {
		status = expression_int(tensor->ld, values, &ld, err);
		if (status != STATUS_OK)
			return status;
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
