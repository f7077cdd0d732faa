/* SPDX-License-Identifier: MIT
 *
 * Lists and their pool; see list.h.
 */
#include "expr/list.h"

#include <stdlib.h>

#include "base/memory.h"

struct list *list_take(struct list_pool *pool)
{
	if (pool->weight >= LIST_WEIGHT_MAX)
		return NULL;
	if (pool->used == pool->count) {
		ARRAY_GROW(pool->lists, pool->count, pool->capacity);
		pool->lists[pool->count++] = memory_zeroed(1, sizeof(struct list));
	}
	struct list *list = pool->lists[pool->used++];
	pool->weight++;
	list->view.count = 0;
	list->weight = 1;
	return list;
}

const char *list_append(struct list_pool *pool, struct list *list, struct value value)
{
	size_t weight = list->weight + value_weight(value);
	if (list->view.count >= LIST_COUNT_MAX)
		return "a list of at most 65536 values";
	if (weight > LIST_WEIGHT_MAX || pool->weight >= LIST_WEIGHT_MAX)
		return "lists of at most 262144 values in all";
	if (list->view.count == list->capacity) {
		pool->retained -= list->capacity;
		ARRAY_GROW(list->view.items, list->view.count, list->capacity);
		pool->retained += list->capacity;
	}
	list->view.items[list->view.count++] = value;
	list->weight = weight;
	pool->weight++;
	return NULL;
}

void list_pool_reset(struct list_pool *pool)
{
	/* lists of different sizes in turn must not add up without end */
	if (pool->retained > 2 * LIST_WEIGHT_MAX)
		list_pool_release(pool);
	pool->used = 0;
	pool->weight = 0;
}

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

struct value value_copy_lists(struct value value, struct arena *arena)
{
	if (value.type != VALUE_LIST)
		return value;
	const struct value_list *from = value.list;
	struct list *list = parse_arena_take(arena, sizeof(*list));
	list->view.items = parse_arena_take(arena, from->count * sizeof(*from->items));
	list->view.count = list->capacity = from->count;
	list->weight = value_weight(value);
	for (size_t i = 0; i < from->count; i++)
		list->view.items[i] = value_copy_lists(from->items[i], arena);
	value.list = &list->view;
	return value;
}
