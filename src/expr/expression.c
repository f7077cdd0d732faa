/* SPDX-License-Identifier: MIT
 *
 * Expressions: text -> tree (parser.c) -> names (resolver.c) -> folded tree (folder.c) -> program
 * (generator.c), which machine.c runs. See expression.h.
 */
#include "expr/expression.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/folder.h"
#include "expr/parser.h"
#include "expr/program.h"
#include "expr/resolver.h"

struct expression {
	char *text;
	char *where;
	struct arena arena;
	struct node *root;       /* folded */
	struct program *program; /* its registers change while it runs */
};

static struct expression *expression_new(const char *text, const char *where)
{
	struct expression *expression = memory_zeroed(1, sizeof(*expression));
	expression->text = string_copy(text);
	expression->where = string_copy(where);
	expression->program = memory_zeroed(1, sizeof(*expression->program));
	return expression;
}

static enum status compile(const char *text, const char *where, const struct name_table *names,
	bool *unknown, struct expression **expression, struct error *err)
{
	struct expression *made = expression_new(text, where);
	enum status status = parse(text, where, &made->arena, &made->root, err);
	if (!status)
		status = resolve(made->root, where, names, unknown, err);
	if (!status && !(unknown && *unknown)) {
		made->root = fold(made->root, &made->arena);
		status = program_build(made->program, made->root, where, err);
	}
	*expression = made;
	if (status || (unknown && *unknown)) {
		expression_free(made);
		*expression = NULL;
	}
	return status;
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
	made->root = fold(made->root, &made->arena);
	/* no larger than the one that it came from */
	if (program_build(made->program, made->root, made->where, NULL) != STATUS_OK)
		BUG("%s: specialised beyond the limits of a program", made->where);
	return made;
}

void expression_free(struct expression *expression)
{
	if (!expression)
		return;
	program_release(expression->program);
	free(expression->program);
	parse_arena_release(&expression->arena);
	free(expression->text);
	free(expression->where);
	free(expression);
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
	*count = expression->program->slot_count;
	return expression->program->slots;
}

static enum status run(const struct expression *expression, const struct value *values,
	const struct value **result, struct error *err)
{
	return program_run(
		expression->program, values, PROGRAM_STEPS_MAX, result, expression->where, err);
}

enum status expression_evaluate(const struct expression *expression, const struct value *values,
	struct value *result, struct error *err)
{
	const struct value *at;
	enum status status = run(expression, values, &at, err);
	if (!status)
		*result = *at;
	return status;
}

enum status expression_test(const struct expression *expression, const struct value *values,
	bool *result, struct error *err)
{
	const struct value *at;
	enum status status = run(expression, values, &at, err);
	if (!status)
		*result = at->type == VALUE_BOOL ? at->boolean : value_truth(*at);
	return status;
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

enum status expression_int(const struct expression *expression, const struct value *values,
	int64_t *result, struct error *err)
{
	const struct value *at;
	enum status status = run(expression, values, &at, err);
	if (status || value_as_int(*at, result))
		return status;
	if (at->type != VALUE_REAL || !(at->real >= -0x1p63 && at->real < 0x1p63) ||
		(double)(int64_t)at->real != at->real)
		return unexpected(expression, "an integer", at, err);
	*result = (int64_t)at->real;
	return STATUS_OK;
}

enum status expression_real(const struct expression *expression, const struct value *values,
	double *result, struct error *err)
{
	const struct value *at;
	enum status status = run(expression, values, &at, err);
	if (status || value_as_real(*at, result))
		return status;
	return unexpected(expression, "a number", at, err);
}

enum status expression_string(const struct expression *expression, const struct value *values,
	const char **result, struct error *err)
{
	const struct value *at;
	enum status status = run(expression, values, &at, err);
	if (status)
		return status;
	if (at->type != VALUE_STRING)
		return unexpected(expression, "a string", at, err);
	*result = at->string;
	return STATUS_OK;
}
