/* SPDX-License-Identifier: MIT
 *
 * Lists made while an expression is evaluated. A pool owns them, bounds them and keeps their
 * memory for the next evaluation.
 *
 * Every list that the machine sees comes from a pool or from an arena, never from a caller, so
 * that its weight (values in it, those of nested lists included, as often as they appear) is
 * known: it bounds what a comparison or a print of it can cost.
 */
#ifndef EXPR_LIST_H
#define EXPR_LIST_H

#include "expr/arena.h"
#include "expr/value.h"

enum {
	LIST_COUNT_MAX = 65536,    /* elements of one list */
	LIST_WEIGHT_MAX = 1 << 18, /* values in all, per list and per evaluation */
};

struct list {
	struct value_list view; /* first: a value points here */
	size_t capacity;
	size_t weight;
};

struct list_pool {
	struct list **lists;
	size_t used, count, capacity;
	size_t weight;   /* values appended since the last reset */
	size_t retained; /* values that all lists have memory for */
};

/* An empty list; NULL where the pool has given out too many. */
struct list *list_take(struct list_pool *pool);
/* NULL, or what the list would exceed: "a list of at most 65536 values". */
const char *list_append(struct list_pool *pool, struct list *list, struct value value);
void list_pool_reset(struct list_pool *pool);
void list_pool_release(struct list_pool *pool);

/* 1 for anything but a list. */
size_t value_weight(struct value value);
/* A copy with all its lists in the arena; strings stay borrowed. */
struct value value_copy_lists(struct value value, struct arena *arena);

#endif
