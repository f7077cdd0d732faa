/* SPDX-License-Identifier: MIT */
#include "family/operation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"
#include "family/problem.h"
#include "spec/device_spec.h"

static enum status fact_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct fact_text *fact = value;

	(void)context;
	return fact->as && fact->when
		       ? json_invalid_of(at, "when", err,
				 "a fact with \"as\" must not have a condition, because other "
				 "files read it by name")
		       : STATUS_OK;
}

static const struct record_member fact_members[] = {
	RECORD_VALUE(struct fact_text, name, "name"),
	RECORD_VALUE(struct fact_text, unit, "unit"),
	RECORD_VALUE(struct fact_text, expression, "expression"),
	RECORD_VALUE(struct fact_text, source, "source"),
	RECORD_VALUE(struct fact_text, when, "when", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct fact_text, as, "as", .flags = RECORD_OPTIONAL, .rule = &name_rule),
	RECORD_COMMENT("help"),
};
static RECORD_DEFINE(
	struct fact_text, fact_record, fact_members, .name = "fact", .check = fact_check);

static enum status axis_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct operation *operation = ((const struct expression_reading *)context)->operation;
	struct advice_axis *axis = value;
	const int key = name_table_find(&operation->key_names, axis->name);

	if (key == NAME_UNKNOWN || operation->keys[key].values || operation->keys[key].is_real)
		return json_error(at, err, "the name of an integer key");
	axis->key = (size_t)key;
	return STATUS_OK;
}

#define AXIS_NAME      RECORD_VALUE(struct advice_axis, name, "key")
#define AXIS_MULTIPLES EXPRESSION(struct advice_axis, multiples, "multiples")
static const struct record_member size_members[] = {
	AXIS_NAME,
	AXIS_MULTIPLES,
	RECORD_VALUE(struct advice_axis, is_padding, "padding", .flags = RECORD_OPTIONAL),
	RECORD_COMMENT("help"),
};
static RECORD_DEFINE(
	struct advice_axis, size_record, size_members, .name = "size", .check = axis_check);
static const struct record_member pitch_members[] = {
	AXIS_NAME,
	AXIS_MULTIPLES,
	RECORD_COMMENT("help"),
};
static RECORD_DEFINE(
	struct advice_axis, pitch_record, pitch_members, .name = "pitch", .check = axis_check);

static enum status advice_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct advice_list *list = value;

	(void)at;
	(void)context;
	(void)err;
	list->items = memory_resize(
		list->items, list->count + list->pitch_count + 1, sizeof(*list->items));
	for (size_t i = 0; i < list->pitch_count; i++) {
		list->pitches[i].is_pitch = list->pitches[i].is_padding = true;
		list->items[list->count++] = list->pitches[i];
	}
	free(list->pitches);
	list->pitches = NULL;
	list->pitch_count = 0;
	return STATUS_OK;
}

static const struct record_member advice_members[] = {
	RECORD_MAP(
		struct advice_list, items, count, size_record, "sizes", .flags = RECORD_OPTIONAL),
	RECORD_MAP(struct advice_list, pitches, pitch_count, pitch_record, "pitches",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct advice_list, sweep, "sweep", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(
	struct advice_list, advice_record, advice_members, .name = "advise", .check = advice_check);

static bool is_ready(const struct key *key, const bool *placed)
{
	size_t count = 0;
	const int *indices =
		key->default_value ? expression_indices(key->default_value, &count) : NULL;

	for (size_t i = 0; i < count; i++)
		if (!placed[indices[i]])
			return false;
	return true;
}

static enum status order_defaults(
	const struct json_at *root, struct operation *operation, struct error *err)
{
	CLEANUP(memory_free)
	bool *placed = memory_zeroed(operation->key_count + 1, sizeof(*placed));
	size_t count = 0, before, late = 0;
	struct json_at keys, at;

	operation->default_order =
		memory_zeroed(operation->key_count + 1, sizeof(*operation->default_order));
	do {
		before = count;
		for (size_t i = 0; i < operation->key_count; i++) {
			if (!placed[i] && is_ready(&operation->keys[i], placed)) {
				operation->default_order[count++] = i;
				placed[i] = true;
			}
		}
	} while (count > before);
	while (placed[late])
		late++;
	if (count == operation->key_count)
		return STATUS_OK;
	json_find(root, "keys", &keys);
	at = json_item(&keys, late);
	return json_invalid_of(
		&at, "default", err, "this default depends on itself through other defaults");
}

static enum status operation_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct operation *operation = value;
	struct json_at tensors;
	size_t outputs = 0;

	(void)context;
	for (size_t i = 0; i < operation->tensor_count; i++)
		outputs += buffer_is_output(operation->tensors[i].buffer.role);
	if (!operation->advice.sweep)
		operation->advice.sweep = "";
	/* The operation of a program may omit its tensors. */
	if (json_find(at, "tensors", &tensors) && !outputs)
		return json_invalid(&tensors, err, "no tensor has the role \"out\" or \"inout\"");
	if (outputs > PLAN_OUTPUTS_MAX)
		return json_error_of(at, "tensors", err, "at most %d tensors that are written",
			(int)PLAN_OUTPUTS_MAX);
	TRY(references_check(at, operation, err));
	return order_defaults(at, operation, err);
}

static const struct record_member operation_members[] = {
	RECORD_CONSTANT("format", "tiletune.operation/1"),
	/* The operation may have the name of a function, because expressions do not read it. */
	RECORD_VALUE(struct operation, name, "name", .rule = &word_name_rule),
	RECORD_VALUE(struct operation, summary, "summary"),
	RECORD_COMMENT("help"),
	RECORD_MAP(struct operation, keys, key_count, key_record, "keys", .count_min = 1),
	RECORD_RECORDS(struct operation, constraints.items, constraints.count, condition_record,
		"constraints", .flags = RECORD_OPTIONAL),
	RECORD_MAP(struct operation, tensors, tensor_count, tensor_record, "tensors",
		.flags = RECORD_OPTIONAL, .count_min = 1),
	RECORD_CUSTOM(
		struct operation, flop, &expression_sum_member, "flop", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct operation, is_deterministic, "deterministic", .flags = RECORD_OPTIONAL,
		.absent = true),
	RECORD_CUSTOM(struct operation, min_bytes, &expression_sum_member, "min_bytes",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct operation, references.items, references.count, reference_record,
		"reference", .flags = RECORD_OPTIONAL | RECORD_SCALAR_OR_LIST),
	RECORD_NESTED(struct operation, tolerance, tolerance_record, "tolerance",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct operation, tolerance.is_given)),
	RECORD_NESTED(struct operation, advice, advice_record, "advise", .flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct operation, facts, fact_count, fact_record, "facts",
		.flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct operation, operation_record, operation_members, .name = "operation",
	.check = operation_check);

/* Collects all names first, because defaults may read all keys. */
static void collect_keys(const struct json_at *root, struct name_table *names)
{
	struct json_at keys, key = {0};

	if (json_find(root, "keys", &keys) && json_type(&keys) == JSON_OBJECT)
		while (json_next(&keys, &key))
			name_table_add(names, key.key);
}

static enum status read_root(const struct json_at *root, const char *name,
	struct operation *operation, struct error *err)
{
	struct name_table *keys = &operation->key_names;
	CLEANUP(reading_release)
	struct expression_reading reading = {.operation = operation, .names = keys};
	CLEANUP(scope_release) struct scope scope = {0};

	scope_init(&scope, NULL, 0);
	reading.scope = &scope;
	collect_keys(root, keys);
	for (size_t i = 0; i < keys->count; i++)
		name_table_add(&reading.fixed, keys->names[i]);
	for (size_t i = 0; i < DEVICE_VALUE_COUNT; i++)
		if (name_table_find(keys, device_value_names[i]) == NAME_UNKNOWN)
			name_table_add(&reading.fixed, device_value_names[i]);
	TRY(record_from_json_computed(
		&operation_record, root, operation, family_computed_read, &reading, err));
	if (!name || strcmp(operation->name, name) == 0)
		return STATUS_OK;
	return json_error_of(root, "name", err, "\"%s\", the name of the folder", name);
}

enum status operation_load(struct json *tree, const char *file, const struct source_place *place,
	const char *name, const char *const *template_folders, struct operation **operation,
	struct error *err)
{
	struct operation *made = memory_zeroed(1, sizeof(*made));
	struct json_at root;
	enum status status;

	made->tree = tree;
	made->file = string_copy(file);
	root = json_root(tree, made->file);
	*operation = NULL;
	status = read_root(&root, name, made, err);
	if (status == STATUS_OK && place)
		status = references_load(made, place, template_folders, err);
	if (status == STATUS_OK)
		*operation = made;
	else
		operation_free(made);
	return status;
}

void operation_free(struct operation *operation)
{
	if (!operation)
		return;
	record_release(&operation_record, operation);
	name_table_release(&operation->key_names);
	free(operation->default_order);
	json_free(operation->tree);
	free(operation->file);
	free(operation);
}

static int compare_integers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static enum status read_multiples(const struct advice_axis *axis, const struct value *list,
	int64_t *multiples, size_t *count, struct error *err)
{
	for (size_t i = 0; i < list->list->count; i++) {
		int64_t multiple;

		if (!value_as_int(list->list->items[i], &multiple))
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a list of integers, found a list with %s",
				expression_where(axis->multiples),
				value_type_name(list->list->items[i].type));
		if (multiple > 1)
			multiples[(*count)++] = multiple;
	}
	qsort(multiples, *count, sizeof(*multiples), compare_integers);
	return STATUS_OK;
}

enum status advice_multiples(const struct problem *problem, const struct advice_axis *axis,
	int64_t **multiples, size_t *count, struct error *err)
{
	CLEANUP(value_arena_release) struct value_arena lists = {0};
	CLEANUP(memory_free) int64_t *found = NULL;
	struct value list;

	*multiples = NULL;
	*count = 0;
	TRY(expression_evaluate(axis->multiples, problem->values, &lists, &list, err));
	if (list.type != VALUE_LIST)
		return error_set(err, STATUS_BAD_INPUT, "%s: expected a list, found %s",
			expression_where(axis->multiples), value_type_name(list.type));
	found = memory_zeroed(list.list->count + 1, sizeof(*found));
	TRY(read_multiples(axis, &list, found, count, err));
	*multiples = found;
	found = NULL;
	return STATUS_OK;
}

enum status operation_tensors_evaluate(const struct operation *operation, struct value *values,
	struct plan_buffer *buffers, struct error *err)
{
	for (size_t i = 0; i < operation->tensor_count; i++)
		TRY(tensor_evaluate(&operation->tensors[i], values, &buffers[i], err));
	return STATUS_OK;
}
