/* SPDX-License-Identifier: MIT
 *
 * Lists and ranges made while an expression is evaluated. A pool owns the lists and bounds them.
 *
 * Every list that the machine sees comes from a pool or from an arena, never from a caller, so
 * that its weight (values in it, those of nested lists included, as often as they appear) is
 * known: it bounds what a comparison or a print of it can cost.
 */
#ifndef EXPR_LIST_H
#define EXPR_LIST_H

#include "base/error.h"
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
	size_t count, capacity;
	size_t weight; /* values appended */
};

void list_pool_release(struct list_pool *pool);

/* 1 for anything but a list. */
size_t value_weight(struct value value);
/* A copy with all its lists in the arena; strings stay borrowed. */
struct value value_copy_lists(struct value value, struct value_arena *arena);

/* What one evaluation may use up. */
struct allowance {
	struct list_pool *pool;
	int64_t steps;
};
/* Uses up steps; error if there are not so many left. */
enum status allowance_use(struct allowance *allowance, size_t steps, struct error *err);
/* Appends to a list of the pool. */
enum status operator_append(
	struct list *list, struct value value, struct allowance *allowance, struct error *err);
enum status operator_new_list(struct list **list, struct allowance *allowance, struct error *err);

/* A range: its first value, how many there are (at most INT64_MAX), and their distance. */
struct range {
	int64_t start, count, step;
};
/* count arguments of range(). */
enum status range_read(
	const struct value *arguments, size_t count, struct range *range, struct error *err);
/* Whether a value is in range(arguments); no list is made. */
enum status range_contains(const struct value *arguments, size_t count, struct value value,
	bool *contains, struct error *err);
enum status range_list(const struct range *range, struct value *result, struct allowance *allowance,
	struct error *err);

#endif
