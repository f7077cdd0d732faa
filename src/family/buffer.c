/* SPDX-License-Identifier: MIT */
#include "family/buffer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

/* Returns the NULL-terminated names of tensors, then of workspaces. The caller frees the array. */
static const char **buffer_names(const struct expression_reading *reading)
{
	const struct operation *operation = reading->operation;
	const size_t tensors = operation->tensor_count;
	const size_t workspaces = reading->family ? reading->family->workspace_count : 0;
	const char **names = memory_zeroed(tensors + workspaces + 1, sizeof(*names));

	for (size_t i = 0; i < tensors; i++)
		names[i] = operation->tensors[i].buffer.name;
	for (size_t i = 0; i < workspaces; i++)
		names[tensors + i] = *reading->family->workspaces[i].name
					     ? reading->family->workspaces[i].name
					     : NULL;
	return names;
}

static int map_find(const struct expression_reading *reading, const char *name)
{
	const struct family *family = reading->family;

	for (size_t i = 0; family && i < family->tensor_map_count; i++)
		if (strcmp(family->tensor_maps[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Refuses a buffer's name that expressions can read, because an argument may be either. `first` is
 * false if an earlier buffer has the name. */
static enum status name_check(const struct json_at *item, const struct expression_reading *reading,
	const char *name, bool first, struct error *err)
{
	return first && name_table_find(&reading->scope->all, name) < 0
		       ? STATUS_OK
		       : json_invalid_of(item, "name", err, "this name is already in use");
}

static enum status buffer_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	CLEANUP(memory_free) const char **names = buffer_names(context);
	const char *name;
	int found;

	TRY(json_get_string(at, &name, err));
	found = name_find(name, names);
	*(uint32_t *)field = (uint32_t)found;
	if (found >= 0)
		return STATUS_OK;
	json_invalid(at, err, "there is no such tensor or workspace");
	return name_hint(name, names, err);
}

const struct record_custom buffer_member = {buffer_read, NULL, NULL};

enum status dtype_list_types(struct error *err)
{
	CLEANUP(text_release) struct text list = {0};
	CLEANUP(memory_free)
	char *nearest =
		string_copy(err && string_starts_with(err->hint, "did you mean") ? err->hint : "");

	text_append_names(&list, dtype_names);
	return error_hint(
		err, "%s%selement types are %s", nearest, *nearest ? " " : "", text_string(&list));
}

enum status dtype_default(const struct expression_reading *reading, struct computed_list *computed,
	ptrdiff_t list, size_t offset, struct error *err)
{
	static const struct record_member member = {.kind = RECORD_KIND_ENUM,
		.size = sizeof(enum dtype),
		.names = dtype_names,
		.expected = "an element type"};
	struct expression *expression;
	struct computed *added;
	const int key = name_table_find(&reading->operation->key_names, "dtype");
	const char *const *values =
		key == NAME_UNKNOWN ? NULL : reading->operation->keys[key].values;

	if (!values)
		return STATUS_OK;
	for (; *values; values++)
		if (dtype_find(*values) < 0)
			return STATUS_OK; /* in this operation, "dtype" is not an element type */
	TRY(expression_compile(
		"dtype", reading->operation->file, reading->names, &expression, err));
	added = computed_add(computed, expression, &member);
	added->list = list;
	added->offset = offset;
	return STATUS_OK;
}

static enum status workspace_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct expression_reading *reading = context;
	struct plan_buffer *workspace = value;
	CLEANUP(memory_free) const char **names = buffer_names(reading);
	const size_t index = reading->operation->tensor_count +
			     (size_t)(workspace - reading->family->workspaces);
	const bool first = name_find(workspace->name, names) == (int)index;
	struct json_at dtype;

	workspace->role = BUFFER_WORKSPACE;
	TRY(name_check(at, reading, workspace->name, first, err));
	return json_find(at, "dtype", &dtype)
		       ? STATUS_OK
		       : dtype_default(reading, &reading->family->computed,
				 offsetof(struct plan, buffers),
				 index * sizeof(*workspace) + offsetof(struct plan_buffer, dtype),
				 err);
}

static const struct record_member workspace_members[] = {
	RECORD_TEXT(struct plan_buffer, name, "name", .rule = &name_rule),
	RECORD_VALUE(struct plan_buffer, bytes, "bytes", COMPUTED, .high = 0x1p63,
		.expected = "a size of at least 0"),
	RECORD_ENUM(struct plan_buffer, init, buffer_init_names, "init", .flags = RECORD_OPTIONAL),
	RECORD_ENUM(struct plan_buffer, dtype, dtype_names, "dtype", .flags = RECORD_OPTIONAL,
		COMPUTED, .expected = "an element type"),
	RECORD_COMMENT("help"),
};
RECORD_DEFINE(struct plan_buffer, workspace_record, workspace_members, .name = "workspace",
	.check = workspace_check);

static enum status tensor_map_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct expression_reading *reading = context;
	const struct plan_tensor_map *map = value;
	CLEANUP(memory_free) const char **names = buffer_names(reading);
	const bool first =
		name_find(map->name, names) < 0 &&
		map_find(reading, map->name) == (int)(map - reading->family->tensor_maps);

	TRY(name_check(at, reading, map->name, first, err));
	return map->stride_count == map->rank - 1
		       ? STATUS_OK
		       : json_invalid_of(at, "strides", err,
				 "every dimension except the first needs one stride");
}

#define NUMBERS(field, count, ...)                                                                 \
	RECORD_ARRAY_COUNTED(struct plan_tensor_map, field, count, #field, COMPUTED, ##__VA_ARGS__)
static const struct record_member tensor_map_members[] = {
	RECORD_TEXT(struct plan_tensor_map, name, "name", .rule = &name_rule),
	RECORD_CUSTOM(struct plan_tensor_map, buffer, &buffer_member, "buffer"),
	RECORD_VALUE(struct plan_tensor_map, when, "when", .flags = RECORD_OPTIONAL, .absent = 1,
		COMPUTED),
	NUMBERS(dims, rank, .count_min = 1),
	NUMBERS(strides, stride_count),
	NUMBERS(box, rank, .count_min = 1),
	RECORD_VALUE(struct plan_tensor_map, swizzle_bytes, "swizzle", .flags = RECORD_OPTIONAL,
		COMPUTED),
	RECORD_VALUE(struct plan_tensor_map, l2_promotion_bytes, "l2_promotion",
		.flags = RECORD_OPTIONAL, COMPUTED),
	RECORD_COMMENT("help"),
};
#undef NUMBERS
RECORD_DEFINE(struct plan_tensor_map, tensor_map_record, tensor_map_members, .name = "tensor_map",
	.check = tensor_map_check);

struct typed_argument {
	struct expression *value;
	int type;
};

static const struct record_member typed_members[] = {
	EXPRESSION(struct typed_argument, value, "value"),
	RECORD_ENUM(struct typed_argument, type, argument_kind_names + ARGUMENT_INT32, "type"),
};
static RECORD_DEFINE(struct typed_argument, typed_record, typed_members, .name = "typed_argument",
	.short_form = "value");

static bool is_special(int kind)
{
	return kind >= ARGUMENT_UNITS && kind <= ARGUMENT_EXPECTED;
}

/* Sets the hint to the valid argument names, buffers first. */
static enum status unknown_word(
	const char *text, const struct expression_reading *reading, struct error *err)
{
	const size_t maps = reading->family ? reading->family->tensor_map_count : 0;
	CLEANUP(memory_free) const char **buffers = buffer_names(reading);
	CLEANUP(memory_free) const char **names = NULL;
	size_t count = 0;

	while (buffers[count])
		count++;
	names = memory_zeroed(
		count + maps + ARGUMENT_INT32 + reading->names->count + 1, sizeof(*names));
	memcpy(names, buffers, count * sizeof(*names));
	for (size_t i = 0; i < maps; i++)
		if (*reading->family->tensor_maps[i].name)
			names[count++] = reading->family->tensor_maps[i].name;
	for (int kind = 0; !reading->family && kind < ARGUMENT_INT32; kind++)
		if (is_special(kind))
			names[count++] = argument_kind_names[kind];
	for (size_t i = 0; i < reading->names->count; i++)
		if (reading->names->names[i])
			names[count++] = reading->names->names[i];
	return name_hint_or_list(text, names, err);
}

/* Reads an argument that is a bare word and not an expression. Returns false for other text. */
static bool find_word(
	const char *text, const struct expression_reading *reading, struct plan_argument *argument)
{
	CLEANUP(memory_free) const char **names = buffer_names(reading);
	const int buffer = name_find(text, names), map = map_find(reading, text);
	const int kind = reading->family ? -1 : name_find(text, argument_kind_names);

	if (buffer >= 0)
		*argument = (struct plan_argument){ARGUMENT_BUFFER, .index = (uint32_t)buffer};
	else if (map >= 0)
		*argument = (struct plan_argument){ARGUMENT_TENSOR_MAP, .index = (uint32_t)map};
	else if (is_special(kind))
		argument->kind = (enum argument_kind)kind;
	return buffer >= 0 || map >= 0 || is_special(kind);
}

/* Adds a computed argument, which must fit its type. */
static void number_add(
	struct argument_list *list, enum argument_kind kind, struct expression *expression)
{
	const enum dtype dtype = argument_dtype(kind);
	const int bits = 8 * (int)dtype_size(dtype) - dtype_is_signed(dtype);
	const bool is_real = dtype_is_float(dtype), is_bool = dtype == DTYPE_BOOL;
	const struct record_member member = {.kind = is_bool   ? RECORD_KIND_BOOL
						     : is_real ? RECORD_KIND_REAL
							       : RECORD_KIND_INT,
		.size = sizeof(int64_t),
		.low = is_real || !dtype_is_signed(dtype) ? 0 : -ldexp(1, bits),
		.high = is_real ? 0 : ldexp(1, bits) - 1,
		.expected = is_real              ? NULL
			    : dtype == DTYPE_I32 ? "an int32 (i64 holds larger numbers)"
						 : dtype_names[dtype]};

	computed_add(&list->computed, expression, &member)->offset =
		list->count * sizeof(*list->items) +
		(is_real ? offsetof(struct plan_argument, real)
			 : offsetof(struct plan_argument, integer));
}

static enum status argument_read(const struct json_at *at, struct argument_list *list,
	const struct expression_reading *reading, struct error *err)
{
	struct plan_argument *argument = &list->items[list->count];
	struct typed_argument typed = {0};
	const char *text;

	if (json_get_string(at, &text, NULL) == STATUS_OK && find_word(text, reading, argument))
		return STATUS_OK;
	if (record_from_json(&typed_record, at, &typed, (void *)(uintptr_t)reading, err) ==
		STATUS_OK) {
		argument->kind = (enum argument_kind)(ARGUMENT_INT32 + typed.type);
		number_add(list, argument->kind, typed.value);
		return STATUS_OK;
	}
	return json_get_string(at, &text, NULL) == STATUS_OK && name_is_valid(text) &&
			       !name_is_function(text)
		       ? unknown_word(text, reading, err)
		       : STATUS_BAD_INPUT;
}

static enum status arguments_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct expression_reading reading = *(const struct expression_reading *)context;
	struct argument_list *list = field;
	struct json_at item = {0};

	if (!reading.family)
		reading.names = &reading.fixed; /* A reference may read device names. */
	TRY(json_expect(at, JSON_ARRAY, err));
	list->items = memory_zeroed(json_count(at) + 1, sizeof(*list->items));
	for (; json_next(at, &item); list->count++)
		TRY(argument_read(&item, list, &reading, err));
	return STATUS_OK;
}

static void arguments_release(void *field)
{
	struct argument_list *list = field;

	computed_list_release(&list->computed);
	free(list->items);
	*list = (struct argument_list){0};
}

const struct record_custom argument_list_member = {arguments_read, NULL, arguments_release};

enum status arguments_evaluate(const struct argument_list *list, struct value *values,
	struct plan_launch *launch, struct error *err)
{
	launch->argument_count = list->count;
	launch->arguments = memory_zeroed(list->count + 1, sizeof(*launch->arguments));
	if (list->count)
		memcpy(launch->arguments, list->items, list->count * sizeof(*list->items));
	return computed_evaluate(&list->computed, list->computed.count, launch->arguments, values,
		0, COMPUTED_ALL, err);
}
