/* SPDX-License-Identifier: MIT */
#include "family/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/operation.h"

static enum status read_axis(const struct json_at *at, const struct operation *operation,
	bool is_pitch, struct advice_axis *axis, struct error *err)
{
	static const char *const size_keys[] = {"multiples", "padding", "help", NULL};
	static const char *const pitch_keys[] = {"multiples", "help", NULL};
	int key = name_table_find(&operation->key_names, at->key);
	struct json_at padding;

	if (key == NAME_UNKNOWN || operation->keys[key].values)
		return json_error(at, err, "the name of a key that is an integer");
	axis->key = (size_t)key;
	axis->is_pitch = is_pitch;
	axis->is_padding = is_pitch;
	if (json_expect_keys(at, is_pitch ? pitch_keys : size_keys, err) != STATUS_OK ||
		(json_find(at, "padding", &padding) &&
			json_get_bool(&padding, &axis->is_padding, err) != STATUS_OK))
		return STATUS_BAD_INPUT;
	return expression_json_member(
		at, "multiples", &operation->key_names, &axis->multiples, err);
}

static enum status read_group(const struct json_at *at, const char *name, bool is_pitch,
	struct operation *operation, struct error *err)
{
	struct advice_list *list = &operation->advice;
	struct json_at group;

	if (!json_find(at, name, &group))
		return STATUS_OK;
	if (json_expect(&group, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	list->items = memory_resize(
		list->items, list->count + json_count(&group) + 1, sizeof(*list->items));
	for (size_t i = 0; i < json_count(&group); i++) {
		struct json_at item = json_item(&group, i);
		struct advice_axis *axis = &list->items[list->count++];

		*axis = (struct advice_axis){0};
		if (json_expect(&item, JSON_OBJECT, err) != STATUS_OK ||
			read_axis(&item, operation, is_pitch, axis, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

enum status operation_advice_read(
	const struct json_at *root, struct operation *operation, struct error *err)
{
	static const char *const groups[] = {"sizes", "pitches", "sweep", NULL};
	struct json_at at, sweep;

	operation->advice.sweep = "";
	if (!json_find(root, "advise", &at))
		return STATUS_OK;
	if (json_expect(&at, JSON_OBJECT, err) != STATUS_OK ||
		json_expect_keys(&at, groups, err) != STATUS_OK ||
		(json_find(&at, "sweep", &sweep) &&
			json_get_string(&sweep, &operation->advice.sweep, err) != STATUS_OK) ||
		read_group(&at, "sizes", false, operation, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return read_group(&at, "pitches", true, operation, err);
}

void advice_list_release(struct advice_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		expression_free(list->items[i].multiples);
	free(list->items);
	*list = (struct advice_list){0};
}

const struct advice_list *operation_advice(const struct operation *operation)
{
	return &operation->advice;
}

static int compare_integers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static enum status read_multiples(const struct advice_axis *axis, const struct value *list,
	int64_t **multiples, size_t *count, struct error *err)
{
	if (list->type != VALUE_LIST)
		return error_set(err, STATUS_BAD_INPUT, "%s: expected a list, found %s",
			expression_where(axis->multiples), value_type_name(list->type));
	*multiples = memory_zeroed(list->list->count + 1, sizeof(**multiples));
	for (size_t i = 0; i < list->list->count; i++) {
		int64_t multiple;

		if (!value_as_int(list->list->items[i], &multiple)) {
			free(*multiples);
			*multiples = NULL;
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a list of integers, found %s in it",
				expression_where(axis->multiples),
				value_type_name(list->list->items[i].type));
		}
		if (multiple > 1)
			(*multiples)[(*count)++] = multiple;
	}
	qsort(*multiples, *count, sizeof(**multiples), compare_integers);
	return STATUS_OK;
}

enum status advice_multiples(const struct problem *problem, const struct advice_axis *axis,
	int64_t **multiples, size_t *count, struct error *err)
{
	struct value_arena lists = {0};
	struct value list;
	enum status status =
		expression_evaluate(axis->multiples, problem->values, &lists, &list, err);

	*multiples = NULL;
	*count = 0;
	if (status == STATUS_OK)
		status = read_multiples(axis, &list, multiples, count, err);
	value_arena_release(&lists);
	return status;
}

const char *const *advice_alias_parts(const struct operation *operation, size_t key, size_t *count)
{
	const struct key *found = &operation->keys[key];

	*count = found->alias_count ? found->aliases[0].parts.count : 0;
	return *count ? found->aliases[0].parts.names : NULL;
}
