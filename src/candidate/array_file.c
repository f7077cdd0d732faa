/* SPDX-License-Identifier: MIT */
#include "candidate/array_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "family/expression_json.h"

/* https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
static const char magic[] = "\x93NUMPY";
enum {
	MAGIC_SIZE = 6,
	VERSION_1_HEADER_AT = 10,
	VERSION_2_HEADER_AT = 12,
};

/* At most two "descr" codes for each type, without the byte order. */
static const char *const type_codes[DTYPE_COUNT][2] = {
	[DTYPE_FP32] = {"f4"},
	[DTYPE_TF32] = {"f4"},
	[DTYPE_FP16] = {"f2"},
	[DTYPE_BF16] = {"u2", "V2"},
	[DTYPE_FP8_E4M3] = {"u1", "V1"},
	[DTYPE_I32] = {"i4"},
	[DTYPE_FP64] = {"f8"},
	[DTYPE_FP8_E5M2] = {"u1", "V1"},
	[DTYPE_I8] = {"i1"},
	[DTYPE_I16] = {"i2"},
	[DTYPE_I64] = {"i8"},
	[DTYPE_U8] = {"u1"},
	[DTYPE_U16] = {"u2"},
	[DTYPE_U32] = {"u4"},
	[DTYPE_U64] = {"u8"},
	[DTYPE_BOOL] = {"b1"},
};

static enum status array_file_refuse(
	const char *path, struct error *err, const char *expected, const char *found, size_t length)
{
	return error_set(err, STATUS_BAD_INPUT, "%s: expected %s, found %.*s", path, expected,
		(int)(length < 60 ? length : 60), found);
}

/* Returns the value of a key in the header, which is a Python dict, or NULL. */
static const char *header_find(const char *header, const char *key)
{
	const char *at = strstr(header, key);

	if (!at)
		return NULL;
	at += strlen(key);
	return at + strspn(at, ": ");
}

/* Returns whether a shape such as "(2, 100, 72)" matches the tensor: 200 rows of 72 columns. */
static bool shape_is(const char *shape, const struct plan_buffer *tensor)
{
	uint64_t rows = 1, columns = 1;
	char *end;

	if (!shape || *shape++ != '(')
		return false;
	while (*shape >= '0' && *shape <= '9') {
		if (__builtin_mul_overflow(rows, columns, &rows))
			return false;
		columns = strtoull(shape, &end, 10);
		shape = end + strspn(end, ", ");
	}
	return *shape == ')' && rows == tensor->rows && columns == tensor->columns;
}

static enum status header_check(
	const char *path, const char *header, const struct plan_buffer *tensor, struct error *err)
{
	const char *descr = header_find(header, "'descr'");
	const char *order = header_find(header, "'fortran_order'");
	const char *shape = header_find(header, "'shape'");
	const char *const *codes = type_codes[tensor->dtype];
	bool right = false;

	for (int i = 0; descr && i < 2; i++)
		right |= codes[i] && descr[0] == '\'' && descr[1] && strchr("<|=", descr[1]) &&
			 strncmp(descr + 2, codes[i], strlen(codes[i])) == 0 &&
			 descr[2 + strlen(codes[i])] == '\'';
	if (!right) {
		CLEANUP(memory_free)
		char *expected = string_format("elements of type '<%s' for %s (%s)", codes[0],
			tensor->name, dtype_names[tensor->dtype]);

		return array_file_refuse(path, err, expected, descr ? descr : "none",
			descr ? strcspn(descr, ",") : 4);
	}
	if (!order || strncmp(order, "False", 5) != 0)
		return array_file_refuse(path, err, "C order", "Fortran order", SIZE_MAX);
	if (!shape_is(shape, tensor)) {
		CLEANUP(memory_free)
		char *expected = string_format("%" PRIu64 " x %" PRIu64 " elements for %s",
			tensor->rows, tensor->columns, tensor->name);

		return array_file_refuse(path, err, expected, shape ? shape : "no shape",
			shape ? strcspn(shape, ")") + 1 : 8);
	}
	return STATUS_OK;
}

static enum status npy_open(
	const char *path, const struct plan_buffer *tensor, struct text *content, struct error *err)
{
	const unsigned char *bytes = (const unsigned char *)text_string(content);
	CLEANUP(memory_free) char *header = NULL;
	size_t at, length;

	if (content->length < VERSION_2_HEADER_AT || memcmp(bytes, magic, MAGIC_SIZE) != 0)
		return array_file_refuse(
			path, err, "a NumPy array (.npy)", "another file", SIZE_MAX);
	at = bytes[MAGIC_SIZE] == 1 ? VERSION_1_HEADER_AT : VERSION_2_HEADER_AT;
	length = bytes[8] | (size_t)bytes[9] << 8;
	if (at == VERSION_2_HEADER_AT)
		length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	if (length > content->length - at)
		return array_file_refuse(
			path, err, "a complete .npy header", "a truncated one", SIZE_MAX);
	header = string_copy_bytes((const char *)bytes + at, length);
	TRY(header_check(path, header, tensor, err));
	memmove(content->data, content->data + at + length, content->length - at - length);
	content->length -= at + length;
	return STATUS_OK;
}

enum status array_file_read(const char *path, const struct plan_buffer *tensor,
	struct text *elements, struct error *err)
{
	const uint64_t bytes = tensor->rows * tensor->columns * (uint64_t)dtype_size(tensor->dtype);
	CLEANUP(text_release) struct text content = {0};

	TRY(file_read_regular(path, &content, err));
	if (string_ends_with(path, ".npy"))
		TRY(npy_open(path, tensor, &content, err));
	if (content.length != bytes)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected %" PRIu64 " bytes (%" PRIu64 " x %" PRIu64
			" elements of %s, %s), found %zu",
			path, bytes, tensor->rows, tensor->columns, tensor->name,
			dtype_names[tensor->dtype], content.length);
	*elements = content;
	content = (struct text){0};
	return STATUS_OK;
}

enum status array_compute(const char *expression, const struct named_values *keys,
	const struct plan_buffer *tensor, struct text *elements, struct error *err)
{
	const uint64_t count = tensor->rows * tensor->columns, size = dtype_size(tensor->dtype);
	CLEANUP(name_table_release) struct name_table names = {0};
	CLEANUP(memory_free) struct value *values = NULL;
	CLEANUP(text_release) struct text made = {0};
	CLEANUP(expression_member_release) struct expression *compiled = NULL;

	if (count > ARRAY_COMPUTED_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: an expression fills at most %d elements, but the tensor has %" PRIu64
			"; use a file",
			tensor->name, (int)ARRAY_COMPUTED_MAX, count);
	values = memory_zeroed(keys->count + 1, sizeof(*values));
	for (size_t i = 0; i < keys->count; i++) {
		name_table_add(&names, keys->items[i].name);
		values[i] = keys->items[i].value;
	}
	if (name_table_find(&names, "index") == NAME_UNKNOWN)
		name_table_add(&names, "index");
	TRY(expression_compile(expression, tensor->name, &names, &compiled, err));
	for (uint64_t i = 0; i < count; i++) {
		uint64_t bits;
		double real;
		int64_t integer;

		if (names.count > keys->count)
			values[keys->count] = value_int((int64_t)i);
		if (dtype_is_float(tensor->dtype)) {
			TRY(expression_real(compiled, values, &real, err));
			bits = dtype_bits(tensor->dtype, real);
		} else {
			TRY(expression_int(compiled, values, &integer, err));
			bits = tensor->dtype == DTYPE_BOOL ? integer != 0 : (uint64_t)integer;
		}
		text_append_bytes(&made, (const char *)&bits, size);
	}
	*elements = made;
	made = (struct text){0};
	return STATUS_OK;
}
