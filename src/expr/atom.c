/* SPDX-License-Identifier: MIT */
#include "expr/atom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct {
	const char *name;
	size_t least, most; /* arguments */
	enum opcode opcode;
} functions[] = {
	{"min", 1, SIZE_MAX, OPCODE_MIN},
	{"max", 1, SIZE_MAX, OPCODE_MAX},
	{"abs", 1, 1, OPCODE_ABS},
	{"ceil_div", 2, 2, OPCODE_CEIL_DIV},
	{"round_up", 2, 2, OPCODE_ROUND_UP},
	{"is_pow2", 1, 1, OPCODE_IS_POW2},
	{"len", 1, 1, OPCODE_LEN},
	{"range", 1, 3, OPCODE_RANGE_LIST},
	{"dtype_bytes", 1, 1, OPCODE_DTYPE_BYTES},
};

static const char *const names_of_functions[] = {"min", "max", "abs", "ceil_div", "round_up",
	"is_pow2", "len", "range", "dtype_bytes", NULL};

const char *const *function_names(void)
{
	return names_of_functions;
}

/* Comma-separated expressions up to the closing token, which is consumed. */
static bool parse_elements(
	struct parser *parser, struct node_array *array, enum token_kind close, const char *what)
{
	while (parser->token.kind != close) {
		struct node *element = parse_expression(parser);
		if (!element)
			return false;
		node_array_push(array, element);
		if (parser->token.kind == TOKEN_COMMA) {
			if (!parser_advance(parser))
				return false;
		} else if (parser->token.kind != close) {
			return parser_expected(parser, what) != NULL;
		}
	}
	return parser_advance(parser);
}

static size_t function_find(const struct token *name)
{
	size_t f = 0;
	while (f < ARRAY_COUNT(functions) &&
		(strlen(functions[f].name) != name->length ||
			strncmp(functions[f].name, name->start, name->length) != 0))
		f++;
	return f;
}

/* name is one of the functions */
static struct node *call_with(
	struct parser *parser, const struct token *name, const struct node_array *arguments)
{
	size_t f = function_find(name), count = arguments->count;
	if (count < functions[f].least || count > functions[f].most) {
		char range[48] = "1 argument or more";
		if (functions[f].most != SIZE_MAX)
			snprintf(range, sizeof(range),
				functions[f].least == functions[f].most ? "%zu argument%s"
									: "%zu%s to 3 arguments",
				functions[f].least,
				functions[f].least == functions[f].most && functions[f].least > 1
					? "s"
					: "");
		error_set(parser->err, STATUS_BAD_INPUT,
			"%s: column %u: expected %s of %s, found %zu", parser->where, name->column,
			range, functions[f].name, count);
		return NULL;
	}
	enum opcode opcode = functions[f].opcode;
	struct node *const *items = arguments->items;
	if (opcode == OPCODE_RANGE_LIST)
		return parser_adopt(
			parser, node_new(parser->arena, NODE_RANGE, name->column), items, count);
	if (functions[f].most == 1)
		return parser_unary(parser, opcode, name->column, items[0]);
	if (count == 1) /* min or max of a list */
		return parser_unary(parser,
			opcode == OPCODE_MIN ? OPCODE_MIN_LIST : OPCODE_MAX_LIST, name->column,
			items[0]);
	struct node *node = items[0];
	for (size_t i = 1; i < count && node; i++)
		node = parser_binary(parser, opcode, name->column, node, items[i]);
	return node;
}

static struct node *parse_name(struct parser *parser)
{
	struct token name = parser->token;
	if (!parser_advance(parser))
		return NULL;
	if (parser->token.kind != TOKEN_OPEN) {
		struct node *node = node_new(parser->arena, NODE_NAME, name.column);
		node->name = value_arena_copy_string(parser->arena, name.start, name.length);
		return node;
	}
	if (function_find(&name) == ARRAY_COUNT(functions)) {
		token_error(&name, parser->where, parser->err, "a function");
		const char *near = name_nearest(
			value_arena_copy_string(parser->arena, name.start, name.length),
			names_of_functions);
		if (near)
			error_hint(parser->err, "did you mean %s?", near);
		return NULL;
	}
	struct node_array arguments = {0};
	struct node *node = NULL;
	if (parser_advance(parser) &&
		parse_elements(parser, &arguments, TOKEN_CLOSE, "',', ')' or an operator"))
		node = call_with(parser, &name, &arguments);
	free(arguments.items);
	return node;
}

/* What follows the element of a comprehension, up to and with the closing bracket. */
static struct node *parse_clauses(
	struct parser *parser, struct node *list, struct node_array *children)
{
	while (parser->token.kind == TOKEN_FOR || parser->token.kind == TOKEN_IF) {
		if (children->count > PARSER_CLAUSES_MAX)
			return parser_expected(parser, "']' after 16 clauses");
		bool is_for = parser->token.kind == TOKEN_FOR;
		struct node *clause =
			node_new(parser->arena, is_for ? NODE_FOR : NODE_IF, parser->token.column);
		if (!parser_advance(parser))
			return NULL;
		if (is_for) {
			if (parser->token.kind != TOKEN_NAME)
				return parser_expected(parser, "a loop variable");
			clause->name = value_arena_copy_string(
				parser->arena, parser->token.start, parser->token.length);
			if (!parser_advance(parser))
				return NULL;
			if (parser->token.kind != TOKEN_IN)
				return parser_expected(parser, "'in'");
			if (!parser_advance(parser))
				return NULL;
		}
		struct node *child = parse_or(parser);
		if (!child || !parser_adopt(parser, clause, &child, 1))
			return NULL;
		node_array_push(children, clause);
	}
	if (parser->token.kind != TOKEN_CLOSE_LIST)
		return parser_expected(parser, "']', 'for', 'if' or an operator");
	if (!parser_advance(parser))
		return NULL;
	list->kind = NODE_COMPREHENSION;
	return parser_adopt(parser, list, children->items, children->count);
}

static struct node *parse_list(struct parser *parser)
{
	struct node *list = node_new(parser->arena, NODE_LIST, parser->token.column);
	struct node_array children = {0};
	struct node *result = NULL;
	if (!parser_advance(parser))
		return NULL;
	if (parser->token.kind != TOKEN_CLOSE_LIST) {
		struct node *first = parse_expression(parser);
		if (!first)
			return NULL;
		node_array_push(&children, first);
		if (parser->token.kind == TOKEN_FOR) {
			result = parse_clauses(parser, list, &children);
			goto cleanup;
		}
		if (parser->token.kind == TOKEN_COMMA) {
			if (!parser_advance(parser))
				goto cleanup;
		} else if (parser->token.kind != TOKEN_CLOSE_LIST) {
			parser_expected(parser, "',', ']', 'for' or an operator");
			goto cleanup;
		}
	}
	if (parse_elements(parser, &children, TOKEN_CLOSE_LIST, "',', ']' or an operator"))
		result = parser_adopt(parser, list, children.items, children.count);
cleanup:
	free(children.items);
	return result;
}

static struct node *parse_parenthesis(struct parser *parser)
{
	if (!parser_advance(parser))
		return NULL;
	struct node *node = parse_expression(parser);
	if (!node)
		return NULL;
	if (parser->token.kind != TOKEN_CLOSE) {
		bool tuple = parser->token.kind == TOKEN_COMMA;
		parser_expected(parser, "')' or an operator");
		if (tuple)
			error_hint(parser->err, "write a list in brackets: [a, b]");
		return NULL;
	}
	return parser_advance(parser) ? node : NULL;
}

struct node *parse_atom(struct parser *parser)
{
	const struct token *token = &parser->token;
	switch (token->kind) {
	case TOKEN_INT:
		if (token->magnitude > INT64_MAX)
			return parser_expected(parser, "an integer within 64 bits");
		return parser_constant(parser, value_int((int64_t)token->magnitude));
	case TOKEN_REAL:
		return parser_constant(parser, value_real(token->real));
	case TOKEN_STRING:
		return parser_constant(parser, value_string(value_arena_copy_string(parser->arena,
						       token->start + 1, token->length - 2)));
	case TOKEN_TRUE:
	case TOKEN_FALSE:
		return parser_constant(parser, value_bool(token->kind == TOKEN_TRUE));
	case TOKEN_NAME:
		return parse_name(parser);
	case TOKEN_OPEN:
		return parse_parenthesis(parser);
	case TOKEN_OPEN_LIST:
		return parse_list(parser);
	default:
		return parser_expected(parser, "a value");
	}
}
