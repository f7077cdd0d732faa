/* SPDX-License-Identifier: MIT
 *
 * Evaluates trees. Integers take a fast path; all other values and all errors go through
 * operator_apply(). Mutable state belongs to the evaluation, so that threads can share a tree.
 */
#include "expr/node.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

/* Adds the file and column to an error of operator_apply() and similar functions. */
static const struct value *__attribute__((cold))
fail(const struct evaluation *evaluation, const struct node *node)
{
	error_context(evaluation->err, "%s: column %u", evaluation->where, node->column);
	return NULL;
}

static const struct value *__attribute__((cold))
refuse_value(const struct evaluation *evaluation, const struct node *node, enum value_type type)
{
	if (type == VALUE_NONE)
		BUG("%s: the value %d is not bound", evaluation->where, node->index);
	error_set(evaluation->err, STATUS_BAD_INPUT,
		"%s: expected names of numbers and strings, found the name of %s",
		evaluation->where, value_type_name(type));
	return NULL;
}

static inline const struct value *apply(struct evaluation *evaluation, const struct node *node,
	const struct value *left, const struct value *right, struct value *result)
{
	if (left->type == VALUE_INT && right->type == VALUE_INT &&
		integer_apply(node->opcode, left->integer, right->integer, result))
		return result;
	return operator_apply(evaluation, node->opcode, left, right, result)
		       ? result
		       : fail(evaluation, node);
}

static const struct value *walk_chain(
	struct evaluation *evaluation, const struct node *node, struct value *result)
{
	struct value rooms[2];
	const struct value *left = node_evaluate(evaluation, &node->children[0], &rooms[0]);
	for (size_t i = 1; left && i < node->count; i++) {
		const struct node *link = &node->children[i];
		const struct value *right =
			node_evaluate(evaluation, &link->children[0], &rooms[i % 2]);
		if (!right || !apply(evaluation, link, left, right, result))
			return NULL;
		if (!value_truth(*result))
			return result;
		left = right;
	}
	return left ? result : NULL;
}

static bool walk_range(
	struct evaluation *evaluation, const struct node *node, struct value_bounds *range)
{
	struct value arguments[3];
	for (size_t i = 0; i < node->count; i++) {
		const struct value *argument =
			node_evaluate(evaluation, &node->children[i], &arguments[i]);
		if (!argument)
			return false;
		arguments[i] = *argument;
	}
	return range_read(evaluation, arguments, node->count, range) || fail(evaluation, node);
}

static const struct value *walk_in_range(
	struct evaluation *evaluation, const struct node *node, struct value *result)
{
	struct value_bounds range;
	const struct value *left = node_evaluate(evaluation, &node->children[0], result);
	if (!left || !walk_range(evaluation, &node->children[1], &range))
		return NULL;
	*result = value_bool(range_contains(&range, left) == (node->opcode == OPCODE_IN));
	return result;
}

static const struct value *range_list(
	struct evaluation *evaluation, const struct node *node, struct value *result)
{
	struct value_list *list;
	struct value_bounds range;
	if (!walk_range(evaluation, node, &range))
		return NULL;
	if (range.count > LIST_COUNT_MAX) {
		error_set(evaluation->err, STATUS_BAD_INPUT,
			"the list has %" PRIu64 " values, more than the limit of %d", range.count,
			LIST_COUNT_MAX);
		return fail(evaluation, node);
	}
	if (!evaluation_new_list(evaluation, &list))
		return fail(evaluation, node);
	for (uint64_t i = 0; i < range.count; i++) {
		const struct value next = range_at(&range, i);
		if (!evaluation_append(evaluation, list, &next))
			return fail(evaluation, node);
	}
	*result = (struct value){.type = VALUE_LIST, .list = list};
	return result;
}

static bool append_element(
	struct evaluation *evaluation, const struct node *node, struct value_list *list)
{
	struct value room;
	const struct value *element = node_evaluate(evaluation, node, &room);
	return element && (evaluation_append(evaluation, list, element) || fail(evaluation, node));
}

struct comprehension {
	struct evaluation *evaluation;
	const struct node *node;
	/* the list to create; NULL if any() or all() reads the elements directly */
	struct value_list *list;
	bool is_decided; /* an element has decided any() or all() */
};

static bool take_element(struct comprehension *made)
{
	struct value room;
	const struct node *element = &made->node->children[0];
	const struct value *value;
	if (made->list)
		return append_element(made->evaluation, element, made->list);
	value = node_evaluate(made->evaluation, element, &room);
	made->is_decided = value && value_truth(*value) == (made->node->opcode == OPCODE_ANY);
	return value;
}

static bool walk_clauses(struct comprehension *made, size_t clause_index);

static bool walk_loop(struct comprehension *made, size_t clause_index)
{
	struct evaluation *evaluation = made->evaluation;
	const struct node *clause = &made->node->children[clause_index];
	const struct node *over = &clause->children[0];
	struct value *variable = &evaluation->locals[clause->index], room;
	const struct value_list *items = NULL;
	struct value_bounds range;
	uint64_t count;
	if (over->kind == NODE_RANGE) {
		if (!walk_range(evaluation, over, &range))
			return false;
		count = range.count;
	} else {
		const struct value *value = node_evaluate(evaluation, over, &room);
		if (!value)
			return false;
		if (value->type != VALUE_LIST) {
			error_set(evaluation->err, STATUS_BAD_INPUT,
				"expected a list or a range after 'in', found %s",
				value_type_name(value->type));
			return fail(evaluation, over);
		}
		items = value->list;
		count = items->count;
	}
	for (uint64_t i = 0; i < count && !made->is_decided; i++) {
		if (!evaluation_use(evaluation, 1))
			return fail(evaluation, clause);
		*variable = items ? items->items[i] : range_at(&range, i);
		if (!walk_clauses(made, clause_index + 1))
			return false;
	}
	return true;
}

/* Runs the clauses from clause_index on for the current values of the outer loop variables. */
static bool walk_clauses(struct comprehension *made, size_t clause_index)
{
	struct value room;
	if (clause_index == made->node->count)
		return take_element(made);
	const struct node *clause = &made->node->children[clause_index];
	if (clause->kind == NODE_FOR)
		return walk_loop(made, clause_index);
	const struct value *condition =
		node_evaluate(made->evaluation, &clause->children[0], &room);
	return condition && (!value_truth(*condition) || walk_clauses(made, clause_index + 1));
}

static const struct value *walk_comprehension(
	struct evaluation *evaluation, const struct node *node, struct value *result)
{
	struct comprehension made = {.evaluation = evaluation, .node = node};
	const bool is_list = node->opcode != OPCODE_ANY && node->opcode != OPCODE_ALL;
	if (is_list && !evaluation_new_list(evaluation, &made.list))
		return fail(evaluation, node);
	if (!walk_clauses(&made, 1))
		return NULL;
	*result = is_list ? (struct value){.type = VALUE_LIST, .list = made.list}
			  : value_bool(made.is_decided == (node->opcode == OPCODE_ANY));
	return result;
}

static const struct value *walk_list(
	struct evaluation *evaluation, const struct node *node, struct value *result)
{
	struct value_list *list;
	if (!evaluation_new_list(evaluation, &list))
		return fail(evaluation, node);
	list->is_tuple = node->opcode == OPCODE_TUPLE;
	for (size_t i = 0; i < node->count; i++)
		if (!append_element(evaluation, &node->children[i], list))
			return NULL;
	*result = (struct value){.type = VALUE_LIST, .list = list};
	return result;
}

const struct value *node_evaluate(
	struct evaluation *evaluation, const struct node *node, struct value *room)
{
	const struct value *left, *right;
	struct value left_room;
	switch (node->kind) {
	case NODE_CONSTANT:
		return &node->value;
	case NODE_LOCAL:
		return &evaluation->locals[node->index];
	case NODE_VALUE:
		left = &evaluation->values[node->index];
		return left->type != VALUE_NONE && left->type != VALUE_LIST
			       ? left
			       : refuse_value(evaluation, node, left->type);
	case NODE_BINARY:
		left = node_evaluate(evaluation, &node->children[0], &left_room);
		right = left ? node_evaluate(evaluation, &node->children[1], room) : NULL;
		return right ? apply(evaluation, node, left, right, room) : NULL;
	case NODE_UNARY:
		left = node_evaluate(evaluation, &node->children[0], room);
		if (!left)
			return NULL;
		return operator_apply(evaluation, node->opcode, left, NULL, room)
			       ? room
			       : fail(evaluation, node);
	case NODE_LOGICAL:
		for (size_t i = 0;; i++) {
			left = node_evaluate(evaluation, &node->children[i], room);
			if (!left || i + 1 == node->count ||
				value_truth(*left) == (node->opcode == OPCODE_OR))
				return left;
		}
	case NODE_CONDITION:
		left = node_evaluate(evaluation, &node->children[1], room);
		return left ? node_evaluate(
				      evaluation, &node->children[value_truth(*left) ? 0 : 2], room)
			    : NULL;
	case NODE_CHAIN:
		return walk_chain(evaluation, node, room);
	case NODE_IN_RANGE:
		return walk_in_range(evaluation, node, room);
	case NODE_RANGE:
		return range_list(evaluation, node, room);
	case NODE_LIST:
		return walk_list(evaluation, node, room);
	case NODE_COMPREHENSION:
		return walk_comprehension(evaluation, node, room);
	case NODE_NAME:
	case NODE_LINK:
	case NODE_FOR:
	case NODE_IF:
		break;
	}
	BUG("a node of kind %d has no value", (int)node->kind);
}
