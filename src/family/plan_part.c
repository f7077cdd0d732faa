/* SPDX-License-Identifier: MIT
 *
 * JSON of a plan's parts.
 */
#include "family/plan_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *const roles[] = {
	[BUFFER_INPUT] = "in", [BUFFER_OUTPUT] = "out", [BUFFER_WORKSPACE] = "workspace", NULL};
static const char *const inits[] = {[BUFFER_INIT_NONE] = "none",
	[BUFFER_INIT_ONCE] = "once",
	[BUFFER_INIT_EACH] = "each",
	NULL};
static const char *const kinds[] = {
	[ARGUMENT_BUFFER] = "buffer",
	[ARGUMENT_TENSOR_MAP] = "tensor_map",
	[ARGUMENT_INT32] = "i32",
	[ARGUMENT_INT64] = "i64",
	[ARGUMENT_FLOAT32] = "f32",
	[ARGUMENT_UNITS] = "units",
	[ARGUMENT_UNIT_COUNT] = "unit_count",
	[ARGUMENT_EXPECTED] = "expected",
	NULL,
};

static enum status read_name(const struct json_at *at, const char *key, const char *const *names,
	unsigned *index, struct error *err)
{
	struct json_at member;
	const char *name;

	if (json_member(at, key, &member, err) != STATUS_OK ||
		json_get_string(&member, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (*index = 0; names[*index]; ++*index)
		if (strcmp(names[*index], name) == 0)
			return STATUS_OK;
	return json_error(&member, err, "a known %s", key);
}

static enum status read_dtype(const struct json_at *at, enum dtype *dtype, struct error *err)
{
	struct json_at member;
	const char *name;
	int found;

	if (json_member(at, "dtype", &member, err) != STATUS_OK ||
		json_get_string(&member, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	found = dtype_find(name);
	if (found < 0)
		return json_error(&member, err, "an element type");
	*dtype = (enum dtype)found;
	return STATUS_OK;
}

static enum status read_plan_name(const struct json_at *at, char *name, struct error *err)
{
	struct json_at member;
	const char *text;

	if (json_member(at, "name", &member, err) != STATUS_OK ||
		json_get_string(&member, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (strlen(text) >= PLAN_NAME_SIZE)
		return json_error(&member, err, "fewer than %d characters", PLAN_NAME_SIZE);
	string_put(name, PLAN_NAME_SIZE, text);
	return STATUS_OK;
}

static enum status read_u64(
	const struct json_at *at, const char *key, uint64_t *value, struct error *err)
{
	struct json_at member;
	int64_t number;

	if (json_member(at, key, &member, err) != STATUS_OK ||
		json_get_int(&member, &number, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (number < 0)
		return json_error(&member, err, "a number of at least 0");
	*value = (uint64_t)number;
	return STATUS_OK;
}

static enum status read_u32(
	const struct json_at *at, const char *key, uint32_t *value, struct error *err)
{
	struct json_at member;
	uint64_t number;

	if (read_u64(at, key, &number, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	json_find(at, key, &member);
	if (number > UINT32_MAX)
		return json_error(&member, err, "a number below 2^32");
	*value = (uint32_t)number;
	return STATUS_OK;
}

/* An array of `least` to `most` numbers; *count of them. */
static enum status read_numbers(const struct json_at *at, const char *key, size_t least,
	size_t most, uint64_t *values, size_t *count, struct error *err)
{
	struct json_at list;

	if (json_member(at, key, &list, err) != STATUS_OK ||
		json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	*count = json_count(&list);
	if (*count < least || *count > most)
		return json_error(&list, err, "%zu to %zu numbers", least, most);
	for (size_t i = 0; i < *count; i++) {
		struct json_at item = json_item(&list, i);
		int64_t number;

		if (json_get_int(&item, &number, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		if (number < 0)
			return json_error(&item, err, "a number of at least 0");
		values[i] = (uint64_t)number;
	}
	return STATUS_OK;
}

static enum status read_numbers_u32(const struct json_at *at, const char *key, size_t exactly,
	uint32_t *values, struct error *err)
{
	uint64_t numbers[TENSOR_MAP_RANK_MAX];
	size_t count;

	if (read_numbers(at, key, exactly, exactly, numbers, &count, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < exactly; i++) {
		if (numbers[i] > UINT32_MAX)
			return json_error(at, err, "numbers below 2^32 in \"%s\"", key);
		values[i] = (uint32_t)numbers[i];
	}
	return STATUS_OK;
}

static struct json *numbers_to_json(const uint64_t *values, size_t count)
{
	struct json *array = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(array, json_new_int((int64_t)values[i]));
	return array;
}

static struct json *numbers_u32_to_json(const uint32_t *values, size_t count)
{
	struct json *array = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(array, json_new_int(values[i]));
	return array;
}

struct json *plan_buffer_to_json(const struct plan_buffer *buffer)
{
	struct json *object = json_new_object();

	json_put_string(object, "name", buffer->name);
	json_put_string(object, "role", roles[buffer->role]);
	json_put_string(object, "dtype", dtype_name(buffer->dtype));
	json_put_int(object, "bytes", (int64_t)buffer->bytes);
	if (buffer->role == BUFFER_WORKSPACE) {
		json_put_string(object, "init", inits[buffer->init]);
		return object;
	}
	json_put_int(object, "rows", (int64_t)buffer->rows);
	json_put_int(object, "columns", (int64_t)buffer->columns);
	json_put_int(object, "ld", (int64_t)buffer->ld);
	if (buffer->role == BUFFER_INPUT) {
		json_put_double(object, "fill_low", buffer->fill_low);
		json_put_double(object, "fill_high", buffer->fill_high);
	}
	return object;
}

enum status plan_buffer_from_json(
	const struct json_at *at, struct plan_buffer *buffer, struct error *err)
{
	unsigned role, init;

	if (read_plan_name(at, buffer->name, err) != STATUS_OK ||
		read_name(at, "role", roles, &role, err) != STATUS_OK ||
		read_dtype(at, &buffer->dtype, err) != STATUS_OK ||
		read_u64(at, "bytes", &buffer->bytes, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	buffer->role = (enum buffer_role)role;
	if (buffer->role == BUFFER_WORKSPACE) {
		if (read_name(at, "init", inits, &init, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		buffer->init = (enum buffer_init)init;
		return STATUS_OK;
	}
	if (read_u64(at, "rows", &buffer->rows, err) != STATUS_OK ||
		read_u64(at, "columns", &buffer->columns, err) != STATUS_OK ||
		read_u64(at, "ld", &buffer->ld, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (buffer->role != BUFFER_INPUT)
		return STATUS_OK;
	if (json_member_double(at, "fill_low", &buffer->fill_low, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return json_member_double(at, "fill_high", &buffer->fill_high, err);
}

/* A map has one stride less than it has dimensions; an absent one has none. */
static size_t outer_rank(size_t rank)
{
	return rank ? rank - 1 : 0;
}

struct json *plan_tensor_map_to_json(const struct plan_tensor_map *map)
{
	struct json *object = json_new_object();

	json_put_string(object, "name", map->name);
	json_put_int(object, "buffer", map->buffer);
	json_put_string(object, "dtype", dtype_name(map->dtype));
	json_put(object, "dims", numbers_to_json(map->dims, map->rank));
	json_put(object, "strides", numbers_to_json(map->strides, outer_rank(map->rank)));
	json_put(object, "box", numbers_u32_to_json(map->box, map->rank));
	json_put_int(object, "swizzle_bytes", map->swizzle_bytes);
	json_put_int(object, "l2_promotion_bytes", map->l2_promotion_bytes);
	return object;
}

enum status plan_tensor_map_from_json(
	const struct json_at *at, struct plan_tensor_map *map, struct error *err)
{
	size_t rank, strides;

	if (read_plan_name(at, map->name, err) != STATUS_OK ||
		read_u32(at, "buffer", &map->buffer, err) != STATUS_OK ||
		read_dtype(at, &map->dtype, err) != STATUS_OK ||
		read_numbers(at, "dims", 0, TENSOR_MAP_RANK_MAX, map->dims, &rank, err) !=
			STATUS_OK ||
		read_numbers(at, "strides", outer_rank(rank), outer_rank(rank), map->strides,
			&strides, err) != STATUS_OK ||
		read_numbers_u32(at, "box", rank, map->box, err) != STATUS_OK ||
		read_u32(at, "swizzle_bytes", &map->swizzle_bytes, err) != STATUS_OK ||
		read_u32(at, "l2_promotion_bytes", &map->l2_promotion_bytes, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	map->rank = (uint32_t)rank;
	return plan_tensor_map_check(map, err);
}

/* {"buffer": 0}, {"i32": 4096}, {"units": true} */
static struct json *argument_to_json(const struct plan_argument *argument)
{
	struct json *object = json_new_object();
	const char *kind = kinds[argument->kind];

	switch (argument->kind) {
	case ARGUMENT_BUFFER:
	case ARGUMENT_TENSOR_MAP:
		json_put_int(object, kind, argument->index);
		break;
	case ARGUMENT_INT32:
	case ARGUMENT_INT64:
		json_put_int(object, kind, argument->integer);
		break;
	case ARGUMENT_FLOAT32:
		json_put_double(object, kind, argument->real);
		break;
	case ARGUMENT_UNITS:
	case ARGUMENT_UNIT_COUNT:
	case ARGUMENT_EXPECTED:
		json_put_bool(object, kind, true);
		break;
	}
	return object;
}

static enum status argument_from_json(
	const struct json_at *at, struct plan_argument *argument, struct error *err)
{
	struct json_at member;
	unsigned kind = 0;
	bool flag;

	if (json_expect_keys(at, kinds, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_count(at) != 1)
		return json_error(at, err, "one kind of argument");
	member = json_item(at, 0);
	while (strcmp(kinds[kind], member.key) != 0)
		kind++;
	argument->kind = (enum argument_kind)kind;
	switch (argument->kind) {
	case ARGUMENT_BUFFER:
	case ARGUMENT_TENSOR_MAP:
		return read_u32(at, member.key, &argument->index, err);
	case ARGUMENT_INT32:
	case ARGUMENT_INT64:
		return json_get_int(&member, &argument->integer, err);
	case ARGUMENT_FLOAT32:
		return json_get_double(&member, &argument->real, err);
	case ARGUMENT_UNITS:
	case ARGUMENT_UNIT_COUNT:
	case ARGUMENT_EXPECTED:
		break;
	}
	return json_get_bool(&member, &flag, err);
}

struct json *plan_launch_to_json(const struct plan_launch *launch)
{
	struct json *object = json_new_object();
	struct json *arguments = json_new_array();

	json_put_int(object, "unit", launch->unit);
	json_put_string(object, "entry", launch->entry);
	json_put(object, "grid", numbers_u32_to_json(launch->grid, 3));
	json_put(object, "block", numbers_u32_to_json(launch->block, 3));
	json_put(object, "cluster", numbers_u32_to_json(launch->cluster, 3));
	json_put_int(object, "smem_dynamic_bytes", launch->smem_dynamic_bytes);
	json_put_int(object, "repeat", launch->repeat);
	for (size_t i = 0; i < launch->argument_count; i++)
		json_push(arguments, argument_to_json(&launch->arguments[i]));
	json_put(object, "args", arguments);
	return object;
}

enum status plan_launch_from_json(
	const struct json_at *at, struct plan_launch *launch, struct error *err)
{
	const char *entry;
	struct json_at list;

	if (read_u32(at, "unit", &launch->unit, err) != STATUS_OK ||
		json_member_string(at, "entry", &entry, err) != STATUS_OK ||
		read_numbers_u32(at, "grid", 3, launch->grid, err) != STATUS_OK ||
		read_numbers_u32(at, "block", 3, launch->block, err) != STATUS_OK ||
		read_numbers_u32(at, "cluster", 3, launch->cluster, err) != STATUS_OK ||
		read_u32(at, "smem_dynamic_bytes", &launch->smem_dynamic_bytes, err) != STATUS_OK ||
		read_u32(at, "repeat", &launch->repeat, err) != STATUS_OK ||
		json_member(at, "args", &list, err) != STATUS_OK ||
		json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	launch->entry = string_copy(entry);
	launch->argument_count = json_count(&list);
	launch->arguments = memory_zeroed(launch->argument_count + 1, sizeof(*launch->arguments));
	for (size_t i = 0; i < launch->argument_count; i++) {
		struct json_at item = json_item(&list, i);

		if (argument_from_json(&item, &launch->arguments[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}
