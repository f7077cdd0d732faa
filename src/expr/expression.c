/* SPDX-License-Identifier: MIT
 *
 * Text -> tree (parser.c) -> names resolved, folded (node.c) -> program (program.c), which
 * machine.c runs.
 */
#include "expr/expression.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/machine.h"
#include "expr/parser.h"
#include "expr/token.h"

/* ---- names: dozens in a table, searched only when expressions are compiled ---- */
int name_table_find(const struct name_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->names[i], name))
			return (int)i;
	return NAME_UNKNOWN;
}

int name_table_add(struct name_table *table, const char *name)
{
	if (name_table_find(table, name) != NAME_UNKNOWN)
		BUG("the name %s is in the table already", name);
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

/* ---- expressions ---- */
struct expression {
	char *text;
	char *where;
	struct value_arena arena;
	struct node *root; /* folded */
	struct program program;
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
	program_release(&expression->program);
	value_arena_release(&expression->arena);
	free(expression->text);
	free(expression->where);
	free(expression);
}

static void release(struct expression **expression)
{
	expression_free(*expression);
}

static enum status compile(const char *text, const char *where, const struct name_table *names,
	bool *unknown, struct expression **expression, struct error *err)
{
	CLEANUP(release) struct expression *made = expression_new(text, where);
	*expression = NULL;
	TRY(parse(text, where, &made->arena, &made->root, err));
	TRY(node_resolve(made->root, where, names, unknown, err));
	if (unknown && *unknown)
		return STATUS_OK;
	made->root = node_fold(made->root, &made->arena);
	TRY(program_build(&made->program, made->root, where, err));
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
	made->root = node_specialise(expression->root, values, &made->arena);
	made->root = node_fold(made->root, &made->arena);
	/* no larger than the one that it came from */
	if (program_build(&made->program, made->root, made->where, NULL) != STATUS_OK)
		BUG("%s: specialised beyond the limits of a program", made->where);
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

const int *expression_slots(const struct expression *expression, size_t *count)
{
	*count = expression->program.slot_count;
	return expression->program.slots;
}

static enum status run(const struct expression *expression, const struct value *values,
	struct run *run, struct error *err)
{
	return run_program(
		run, &expression->program, values, RUN_STEPS_MAX, expression->where, err);
}

enum status expression_evaluate(const struct expression *expression, const struct value *values,
	struct value_arena *lists, struct value *result, struct error *err)
{
	CLEANUP(run_end) struct run now;
	TRY(run(expression, values, &now, err));
	if (now.result->type == VALUE_LIST && !lists)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a number or a string, found a list", expression->where);
	*result = value_copy_lists(*now.result, lists);
	return STATUS_OK;
}

enum status expression_test(const struct expression *expression, const struct value *values,
	bool *result, struct error *err)
{
	CLEANUP(run_end) struct run now;
	TRY(run(expression, values, &now, err));
	*result = now.result->type == VALUE_BOOL ? now.result->boolean : value_truth(*now.result);
	return STATUS_OK;
}

/* "where: column 1: expected <what>, found <the value>" */
static enum status unexpected(const struct expression *expression, const char *what,
	const struct value *value, struct error *err)
{
	struct text found = {0};
	if (value->type == VALUE_INT || value->type == VALUE_REAL)
		value_format(*value, &found);
	else
		text_append(&found, value_type_name(value->type));
	error_set(err, STATUS_BAD_INPUT, "%s: column 1: expected %s, found %s", expression->where,
		what, found.data);
	text_release(&found);
	return STATUS_BAD_INPUT;
}

static bool whole_number(const struct value *value, int64_t *result)
{
	if (value_as_int(*value, result))
		return true;
	if (value->type != VALUE_REAL || !(value->real >= -0x1p63 && value->real < 0x1p63) ||
		(double)(int64_t)value->real != value->real)
		return false;
	*result = (int64_t)value->real;
	return true;
}

enum status expression_int(const struct expression *expression, const struct value *values,
	int64_t *result, struct error *err)
{
	CLEANUP(run_end) struct run now;
	TRY(run(expression, values, &now, err));
	return whole_number(now.result, result)
		       ? STATUS_OK
		       : unexpected(expression, "an integer", now.result, err);
}

enum status expression_int_within(const struct expression *expression, const struct value *values,
	int64_t least, int64_t most, int64_t *result, struct error *err)
{
	TRY(expression_int(expression, values, result, err));
	if (*result >= least && *result <= most)
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected a number from %" PRId64 " to %" PRId64 ", found %" PRId64,
		expression->where, least, most, *result);
}

enum status expression_real(const struct expression *expression, const struct value *values,
	double *result, struct error *err)
{
	CLEANUP(run_end) struct run now;
	TRY(run(expression, values, &now, err));
	return value_as_real(*now.result, result)
		       ? STATUS_OK
		       : unexpected(expression, "a number", now.result, err);
}

enum status expression_string(const struct expression *expression, const struct value *values,
	const char **result, struct error *err)
{
	CLEANUP(run_end) struct run now;
	TRY(run(expression, values, &now, err));
	if (now.result->type != VALUE_STRING)
		return unexpected(expression, "a string", now.result, err);
	*result = now.result->string;
	return STATUS_OK;
}
