/* SPDX-License-Identifier: MIT */
#include "import/t1_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- arguments ---- */
/* Element types: as T1 names them, ours, and ours of a scalar. */
static const struct {
	const char *name, *dtype, *scalar;
	bool is_integer;
} types[] = {
	{"float", "fp32", "f32", false},
	{"double", "fp64", "f64", false},
	{"half", "fp16", "f16", false},
	{"bool", "bool", "bool", true},
	{"int8", "i8", "i8", true},
	{"uint8", "u8", "u8", true},
	{"int16", "i16", "i16", true},
	{"uint16", "u16", "u16", true},
	{"int32", "i32", "i32", true},
	{"uint32", "u32", "u32", true},
	{"int64", "i64", "i64", true},
	{"uint64", "u64", "u64", true},
};

/* "float4": the row of "float" and *lanes 4. */
static enum status find_type(
	const struct json_at *argument, size_t *row, int *lanes, struct error *err)
{
	CLEANUP(text_release) struct text known = {0};
	struct json_at at;
	const char *name;

	TRY(json_member(argument, "Type", &at, err));
	TRY(json_get_string(&at, &name, err));
	for (*row = 0; *row < ARRAY_COUNT(types); (*row)++) {
		const size_t length = strlen(types[*row].name);

		text_append_listed(&known, types[*row].name);
		*lanes = 1;
		if (strcmp(name, types[*row].name) == 0)
			return STATUS_OK;
		if (strncmp(name, types[*row].name, length) == 0 && !types[*row].is_integer &&
			strspn(name + length, "0123456789") == strlen(name + length)) {
			*lanes = atoi(name + length);
			return STATUS_OK;
		}
	}
	return json_error(&at, err, "one of %s, or float, double, half with a number of lanes",
		text_string(&known));
}

enum access {
	ACCESS_READ,
	ACCESS_WRITE,
	ACCESS_BOTH
};
static const char *const access_names[] = {"ReadOnly", "WriteOnly", "ReadWrite", NULL};
static const char *const role_names[] = {"in", "out", "inout"};

static enum status fill_value(const struct json_at *argument, double *value, struct error *err)
{
	struct json_at at;

	*value = 0;
	return t1_find(argument, "FillValue", &at) ? json_get_double(&at, value, err) : STATUS_OK;
}

static enum status convert_random(const struct t1 *t1, const struct json_at *argument,
	bool is_integer, struct json *tensor, struct error *err)
{
	struct json *fill = json_new_array();
	double most;

	json_put(tensor, "fill", fill);
	TRY(fill_value(argument, &most, err));
	if (t1->has_problem && !is_integer) {
		json_put_string(tensor, "contents", "normal");
		most = 1;
	}
	json_push(fill, json_new_double(0));
	json_push(fill, json_new_double(most > 0 ? most : 1));
	return STATUS_OK;
}

static enum status convert_fill(const struct t1 *t1, const struct json_at *argument,
	bool is_integer, struct json *tensor, struct error *err)
{
	static const char *const fills[] = {"Constant", "Random", "Generator", "BinaryRaw", NULL};
	struct json *contents = NULL;
	CLEANUP(memory_free) char *number = NULL;
	const char *source;
	double value;
	int fill;

	TRY(t1_name(argument, "FillType", fills, 0, &fill, err));
	if (fill == 1)
		return convert_random(t1, argument, is_integer, tensor, err);
	if (fill == 0) {
		TRY(fill_value(argument, &value, err));
		if (value == 0 || value == 1) {
			json_put_string(tensor, "contents", value == 0 ? "zero" : "one");
			return STATUS_OK;
		}
		TRY(t1_text(argument, "FillValue", &number, err));
		source = number;
	} else
		TRY(json_member_string(argument, "DataSource", &source, err));
	contents = json_new_object();
	if (fill == 3)
		json_put_string(contents, "file", source);
	else
		t1_put_python(t1, contents, "expression", source, true, "index");
	json_put(tensor, "contents", contents);
	return STATUS_OK;
}

static enum status convert_vector(struct t1 *t1, const struct json_at *argument, const char *name,
	bool is_symbol, struct error *err)
{
	struct json *tensor = json_new_object(), *shape = json_new_array();
	CLEANUP(text_release) struct text size = {0};
	CLEANUP(memory_free) char *python = NULL;
	int access, lanes = 1;
	size_t type = 0;

	json_put(t1->tensors, name, tensor);
	json_put(tensor, "shape", shape);
	TRY(find_type(argument, &type, &lanes, err));
	TRY(t1_text(argument, "Size", &python, err));
	if (!python)
		return json_error(argument, err, "a member \"Size\"");
	t1_append_python(t1, python, true, NULL, &size);
	json_push(shape, json_new_string(text_string(&size)));
	if (lanes > 1)
		json_push(shape, json_new_int(lanes));
	TRY(t1_name(argument, "AccessType", access_names, is_symbol ? ACCESS_READ : ACCESS_BOTH,
		&access, err));
	json_put_string(tensor, "dtype", types[type].dtype);
	json_put_string(tensor, "role", role_names[access]);
	t1->output_count += access != ACCESS_READ;
	return access == ACCESS_WRITE
		       ? STATUS_OK
		       : convert_fill(t1, argument, types[type].is_integer, tensor, err);
}

static enum status convert_scalar(
	struct t1 *t1, const struct json_at *argument, const char *name, struct error *err)
{
	struct json *scalar;
	CLEANUP(memory_free) char *number = NULL;
	struct json_at value;
	int lanes = 1;
	size_t type = 0;

	TRY(find_type(argument, &type, &lanes, err));
	TRY(json_member(argument, "FillValue", &value, err));
	if (!t1->has_problem && strcmp(types[type].dtype, "i32") == 0 && json_is_int(&value)) {
		int64_t size;

		TRY(json_get_int(&value, &size, err));
		t1_add_key(t1, name, size);
		json_push(t1->arguments, json_new_string(name));
		return STATUS_OK;
	}
	TRY(t1_text(argument, "FillValue", &number, err));
	scalar = json_new_object();
	json_put_string(scalar, "value", number);
	json_put_string(scalar, "type", types[type].scalar);
	json_push(t1->arguments, scalar);
	return STATUS_OK;
}

static enum status convert_argument(
	struct t1 *t1, const struct json_at *argument, struct error *err)
{
	enum memory {
		MEMORY_VECTOR,
		MEMORY_SCALAR,
		MEMORY_SYMBOL
	};
	static const char *const memories[] = {"Vector", "Scalar", "Symbol", NULL};
	static const char *const placements[] = {"Global", "Constant", NULL};
	CLEANUP(memory_free) char *made = string_format("argument_%zu", argument->index);
	const char *name = made, *symbol;
	struct json_at at;
	int memory, placement;

	TRY(t1_name(argument, "MemoryType", memories, MEMORY_VECTOR, &memory, err));
	/* Kernel Tuner passes what it copies to constant memory as an argument too */
	TRY(t1_name(argument, "MemType", placements, 0, &placement, err));
	if (t1_find(argument, "Name", &at))
		TRY(json_get_string(&at, &name, err));
	if (memory == MEMORY_SCALAR)
		return convert_scalar(t1, argument, name, err);
	symbol = name;
	if (memory == MEMORY_SYMBOL && t1_find(argument, "SymbolName", &at))
		TRY(json_get_string(&at, &symbol, err));
	if (memory == MEMORY_SYMBOL || placement == 1)
		json_put_string(t1->symbols, symbol, name);
	if (memory == MEMORY_VECTOR)
		json_push(t1->arguments, json_new_string(name));
	return convert_vector(t1, argument, name, memory == MEMORY_SYMBOL || placement == 1, err);
}

/* A file of expected values; what needs Python is left out, and the result is then compared with
 * the default configuration's, as it is everywhere. */
static enum status convert_reference(struct t1 *t1, const struct json_at *item, struct error *err)
{
	struct json *reference;
	const char *output, *fill, *source;

	TRY(json_member_string(item, "TargetName", &output, err));
	TRY(json_member_string(item, "FillType", &fill, err));
	if (strcmp(fill, "BinaryRaw") != 0)
		return STATUS_OK;
	TRY(json_member_string(item, "DataSource", &source, err));
	reference = json_new_object();
	json_put_string(reference, "file", source);
	json_put_string(reference, "output", output);
	json_push(t1->references, reference);
	return STATUS_OK;
}

enum status t1_arguments(struct t1 *t1, struct error *err)
{
	struct json_at list, item = {0};

	TRY(t1_list(&t1->specification, "Arguments", &list, err));
	while (json_next(&list, &item))
		TRY(convert_argument(t1, &item, err));
	if (!t1->output_count)
		return json_error(&list, err,
			"the kernel's arguments, at least one of them a Vector that is written");
	if (!t1->key_count)
		t1_add_key(t1, "run", 1);
	if (!t1_find(&t1->specification, "ReferenceArguments", &list))
		return STATUS_OK;
	TRY(json_expect(&list, JSON_ARRAY, err));
	item = (struct json_at){0};
	while (json_next(&list, &item))
		TRY(convert_reference(t1, &item, err));
	return STATUS_OK;
}
