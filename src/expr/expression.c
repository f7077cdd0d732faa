/* SPDX-License-Identifier: MIT
 *
 * Compiles text to a tree (parser.c), then resolves names and folds constants (node.c). walk.c
 * evaluates the tree.
 */
#include "expr/expression.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/node.h"
#include "expr/token.h"

/* ---- names: a linear search suffices, because compilation searches only dozens of names ---- */
int name_table_find(const struct name_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->names[i] && *table->names[i] == *name && !strcmp(table->names[i], name))
			return (int)i;
	return NAME_UNKNOWN;
}

int name_table_add(struct name_table *table, const char *name)
{
	ARRAY_GROW(table->names, table->count, table->capacity);
	table->names[table->count] = name;
	return (int)table->count++;
}

void name_table_release(struct name_table *table)
{
	free(table->names);
	*table = (struct name_table){0};
}

bool name_is_valid(const char *name)
{
	struct lexer lexer = {.at = name, .where = "", .column = 1};
	struct token token;
	return lexer_next(&lexer, &token, NULL) == STATUS_OK && token.kind == TOKEN_NAME &&
	       token.length == strlen(name);
}

bool name_is_function(const char *name)
{
	return function_find(name, strlen(name)) != NULL;
}

struct expression {
	char *text;
	char *where;
	struct value_arena arena;
	struct node *root; /* tree after constant folding */
	int *indices;      /* indices of the names that the expression reads, ascending */
	size_t index_count, index_capacity;
};

static struct expression *expression_new(const char *text, const char *where)
{
	struct expression *expression = memory_zeroed(1, sizeof(*expression));
	expression->text = string_copy(text);
	expression->where = string_copy(where);
	return expression;
}

void expression_free(struct expression *expression)
{
	if (!expression)
		return;
	value_arena_release(&expression->arena);
	free(expression->indices);
	free(expression->text);
	free(expression->where);
	free(expression);
}

static void release(struct expression **expression)
{
	expression_free(*expression);
}

static void collect_indices(struct expression *expression, const struct node *node)
{
	size_t at = 0;
	for (size_t i = 0; i < node->count; i++)
		collect_indices(expression, &node->children[i]);
	if (node->kind != NODE_VALUE)
		return;
	while (at < expression->index_count && expression->indices[at] < node->index)
		at++;
	if (at < expression->index_count && expression->indices[at] == node->index)
		return;
	ARRAY_GROW(expression->indices, expression->index_count, expression->index_capacity);
	memmove(expression->indices + at + 1, expression->indices + at,
		(expression->index_count - at) * sizeof(*expression->indices));
	expression->indices[at] = node->index;
	expression->index_count++;
}

static void expression_finish(struct expression *expression)
{
	node_fold(expression->root, &expression->arena);
	collect_indices(expression, expression->root);
}

static enum status compile(const char *text, const char *where, const struct name_table *names,
	bool *unknown, struct expression **expression, struct error *err)
{
	CLEANUP(release) struct expression *made = expression_new(text, where);
	*expression = NULL;
	TRY(node_parse(text, where, &made->arena, &made->root, err));
	TRY(node_resolve(made->root, where, names, unknown, err));
	if (unknown && *unknown)
		return STATUS_OK;
	expression_finish(made);
	*expression = made;
	made = NULL;
	return STATUS_OK;
}

enum status expression_compile(const char *text, const char *where, const struct name_table *names,
	struct expression **expression, struct error *err)
{
	return compile(text, where, names, NULL, expression, err);
}

enum status expression_compile_optional(const char *text, const char *where,
	const struct name_table *names, struct expression **expression, struct error *err)
{
	bool unknown = false;
	return compile(text, where, names, &unknown, expression, err);
}

struct expression *expression_specialise(
	const struct expression *expression, const struct value *values)
{
	struct expression *made = expression_new(expression->text, expression->where);
	made->root = node_new(&made->arena, NODE_CONSTANT, 0);
	node_specialise(expression->root, values, &made->arena, made->root);
	expression_finish(made);
	return made;
}

bool expression_constant(const struct expression *expression, struct value *value)
{
	if (expression->root->kind != NODE_CONSTANT)
		return false;
	*value = expression->root->value;
	return true;
}

const char *expression_text(const struct expression *expression)
{
	return expression->text;
}

const char *expression_where(const struct expression *expression)
{
	return expression->where;
}

const int *expression_indices(const struct expression *expression, size_t *count)
{
	*count = expression->index_count;
	return expression->indices;
}

static enum status evaluate(const struct expression *expression, const struct value *values,
	struct value_arena *lists, struct value *result, struct error *err)
{
	struct evaluation evaluation; /* loop variables need no initialisation */
	evaluation.values = values;
	evaluation.arena = lists;
	evaluation.steps = EVALUATION_STEPS_MAX;
	evaluation.where = expression->where;
	evaluation.err = err;
	const struct value *value = node_evaluate(&evaluation, expression->root, result);
	if (!value)
		return err && !err->hint[0]
			       ? error_hint(err, "the expression is: %s", expression->text)
			       : STATUS_BAD_INPUT;
	if (value != result)
		*result = *value;
	return STATUS_OK;
}

/* Works like evaluate(), but retains only the type of a result that is a list. */
static enum status evaluate_scalar(const struct expression *expression, const struct value *values,
	struct value *result, struct error *err)
{
	CLEANUP(value_arena_release) struct value_arena lists = {0};
	return evaluate(expression, values, &lists, result, err);
}

enum status expression_evaluate(const struct expression *expression, const struct value *values,
	struct value_arena *lists, struct value *result, struct error *err)
{
	struct value value;
	TRY(lists ? evaluate(expression, values, lists, &value, err)
		  : evaluate_scalar(expression, values, &value, err));
	if (value.type == VALUE_LIST && !lists)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a number or a string, found a list", expression->where);
	*result = value;
	return STATUS_OK;
}

enum status expression_test(const struct expression *expression, const struct value *values,
	bool *result, struct error *err)
{
	CLEANUP(value_arena_release) struct value_arena lists = {0};
	struct value value = value_bool(true);

	if (expression)
		TRY(evaluate(expression, values, &lists, &value, err));
	*result = value_truth(value);
	return STATUS_OK;
}

struct value_range expression_range(
	const struct expression *expression, value_range_find *find, void *context)
{
	return node_range(expression->root, find, context);
}

/* Sets the error "where: column 1: expected <noun>, found <the value>". */
static enum status unexpected(const struct expression *expression, const char *noun,
	const struct value *value, struct error *err)
{
	CLEANUP(text_release) struct text found = {0};
	if (value->type == VALUE_INT || value->type == VALUE_REAL)
		value_format(*value, &found);
	else
		text_append(&found, value_type_name(value->type));
	error_set(err, STATUS_BAD_INPUT, "%s: column 1: expected %s, found %s", expression->where,
		noun, found.data);
	return value->type == VALUE_REAL && strchr(expression->text, '/')
		       ? error_hint(err, "`/` gives a fraction: write `//` to round down or "
					 "ceil_div(a, b) to round up")
		       : STATUS_BAD_INPUT;
}

enum status expression_int(const struct expression *expression, const struct value *values,
	int64_t *result, struct error *err)
{
	struct value value;
	TRY(evaluate_scalar(expression, values, &value, err));
	return value_whole(value, result) ? STATUS_OK
					  : unexpected(expression, "an integer", &value, err);
}

enum status expression_real(const struct expression *expression, const struct value *values,
	double *result, struct error *err)
{
	struct value value;
	TRY(evaluate_scalar(expression, values, &value, err));
	return value_as_real(value, result) ? STATUS_OK
					    : unexpected(expression, "a number", &value, err);
}

enum status expression_string(const struct expression *expression, const struct value *values,
	const char **result, struct error *err)
{
	struct value value;
	TRY(evaluate_scalar(expression, values, &value, err));
	if (value.type != VALUE_STRING)
		return unexpected(expression, "a string", &value, err);
	*result = value.string;
	return STATUS_OK;
}
