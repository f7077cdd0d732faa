/* SPDX-License-Identifier: MIT */
#include "expr/list.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

void list_pool_release(struct list_pool *pool)
{
	for (size_t i = 0; i < pool->count; i++) {
		free(pool->lists[i]->view.items);
		free(pool->lists[i]);
	}
	free(pool->lists);
	*pool = (struct list_pool){0};
}

size_t value_weight(struct value value)
{
	return value.type == VALUE_LIST ? ((const struct list *)value.list)->weight : 1;
}

struct value value_copy_lists(struct value value, struct value_arena *arena)
{
	if (value.type != VALUE_LIST)
		return value;
	const struct value_list *from = value.list;
	struct list *list = value_arena_take(arena, sizeof(*list));
	list->view.items = value_arena_take(arena, from->count * sizeof(*from->items));
	list->view.count = list->capacity = from->count;
	list->weight = value_weight(value);
	for (size_t i = 0; i < from->count; i++)
		list->view.items[i] = value_copy_lists(from->items[i], arena);
	value.list = &list->view;
	return value;
}

/* ---- what an evaluation may use up ---- */
enum status allowance_use(struct allowance *allowance, size_t steps, struct error *err)
{
	allowance->steps -= (int64_t)steps;
	if (allowance->steps >= 0)
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT, "expected an end within 4194304 steps, found more");
}

enum status operator_new_list(struct list **list, struct allowance *allowance, struct error *err)
{
	struct list_pool *pool = allowance->pool;
	if (pool->weight >= LIST_WEIGHT_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"expected lists of at most %d values in all, found more", LIST_WEIGHT_MAX);
	ARRAY_GROW(pool->lists, pool->count, pool->capacity);
	*list = pool->lists[pool->count++] = memory_zeroed(1, sizeof(struct list));
	(*list)->weight = 1;
	pool->weight++;
	return STATUS_OK;
}

enum status operator_append(
	struct list *list, struct value value, struct allowance *allowance, struct error *err)
{
	size_t weight = list->weight + value_weight(value);
	if (list->view.count >= LIST_COUNT_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"expected a list of at most %d values, found more", LIST_COUNT_MAX);
	if (weight > LIST_WEIGHT_MAX || allowance->pool->weight >= LIST_WEIGHT_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"expected lists of at most %d values in all, found more", LIST_WEIGHT_MAX);
	ARRAY_GROW(list->view.items, list->view.count, list->capacity);
	list->view.items[list->view.count++] = value;
	list->weight = weight;
	allowance->pool->weight++;
	return STATUS_OK;
}

/* ---- range(stop), range(start, stop), range(start, stop, step) ---- */
static enum status read_arguments(const struct value *arguments, size_t count, int64_t *start,
	int64_t *stop, int64_t *step, struct error *err)
{
	int64_t numbers[3] = {0, 0, 1};
	for (size_t i = 0; i < count; i++)
		/* a single argument is the second number: the end */
		if (!value_as_int(arguments[i], &numbers[count == 1 ? 1 : i]))
			return error_set(err, STATUS_BAD_INPUT,
				"expected integers as arguments of range, found %s",
				value_type_name(arguments[i].type));
	*start = numbers[0];
	*stop = numbers[1];
	*step = numbers[2];
	if (*step == 0)
		return error_set(
			err, STATUS_BAD_INPUT, "expected a step other than 0 of range, found 0");
	return STATUS_OK;
}

/* From a up to b > a; exact, although the difference may exceed an int64. */
static uint64_t distance(int64_t a, int64_t b)
{
	return (uint64_t)b - (uint64_t)a;
}

static uint64_t magnitude(int64_t step)
{
	return step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
}

enum status range_read(
	const struct value *arguments, size_t count, struct range *range, struct error *err)
{
	int64_t stop;
	TRY(read_arguments(arguments, count, &range->start, &stop, &range->step, err));
	uint64_t span = 0;
	if (range->step > 0 && range->start < stop)
		span = distance(range->start, stop);
	if (range->step < 0 && range->start > stop)
		span = distance(stop, range->start);
	uint64_t elements = span ? (span - 1) / magnitude(range->step) + 1 : 0;
	range->count = elements > INT64_MAX ? INT64_MAX : (int64_t)elements;
	return STATUS_OK;
}

enum status range_contains(const struct value *arguments, size_t count, struct value value,
	bool *contains, struct error *err)
{
	int64_t start, stop, step, integer;
	TRY(read_arguments(arguments, count, &start, &stop, &step, err));
	*contains = false;
	if (value.type == VALUE_REAL) {
		if (!(value.real >= -0x1p63 && value.real < 0x1p63))
			return STATUS_OK;
		integer = (int64_t)value.real;
		if (value_compare(value_int(integer), value) != VALUE_EQUAL)
			return STATUS_OK;
	} else if (!value_as_int(value, &integer)) {
		return STATUS_OK;
	}
	if (step > 0)
		*contains = integer >= start && integer < stop &&
			    distance(start, integer) % magnitude(step) == 0;
	else
		*contains = integer <= start && integer > stop &&
			    distance(integer, start) % magnitude(step) == 0;
	return STATUS_OK;
}

enum status range_list(const struct range *range, struct value *result, struct allowance *allowance,
	struct error *err)
{
	struct list *list;
	if (range->count > LIST_COUNT_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"expected a list of at most %d values, found %" PRId64, LIST_COUNT_MAX,
			range->count);
	TRY(operator_new_list(&list, allowance, err));
	int64_t next = range->start;
	for (int64_t i = 0; i < range->count; i++) {
		TRY(operator_append(list, value_int(next), allowance, err));
		if (i + 1 < range->count)
			next += range->step;
	}
	*result = (struct value){.type = VALUE_LIST, .list = &list->view};
	return STATUS_OK;
}
