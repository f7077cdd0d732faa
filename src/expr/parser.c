/* SPDX-License-Identifier: MIT
 *
 * Recursive descent over Python's grammar of expressions. Operators of two operands climb a table
 * of precedences. A function that returns a node returns NULL after an error, which then is in
 * parser->err.
 */
#include "expr/parser.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/token.h"

/* Operators of two operands; those that bind tighter than COMPARISON associate to the left. */
enum {
	COMPARISON
};
static const struct {
	enum token_kind token;
	enum opcode opcode;
	int precedence; /* higher binds tighter */
} operators[] = {
	{TOKEN_EQUAL, OPCODE_EQUAL, COMPARISON},
	{TOKEN_NOT_EQUAL, OPCODE_NOT_EQUAL, COMPARISON},
	{TOKEN_LESS, OPCODE_LESS, COMPARISON},
	{TOKEN_LESS_EQUAL, OPCODE_LESS_EQUAL, COMPARISON},
	{TOKEN_GREATER, OPCODE_GREATER, COMPARISON},
	{TOKEN_GREATER_EQUAL, OPCODE_GREATER_EQUAL, COMPARISON},
	{TOKEN_IN, OPCODE_IN, COMPARISON},
	{TOKEN_BIT_OR, OPCODE_BIT_OR, 1},
	{TOKEN_BIT_XOR, OPCODE_BIT_XOR, 2},
	{TOKEN_BIT_AND, OPCODE_BIT_AND, 3},
	{TOKEN_SHIFT_LEFT, OPCODE_SHIFT_LEFT, 4},
	{TOKEN_SHIFT_RIGHT, OPCODE_SHIFT_RIGHT, 4},
	{TOKEN_ADD, OPCODE_ADD, 5},
	{TOKEN_SUBTRACT, OPCODE_SUBTRACT, 5},
	{TOKEN_MULTIPLY, OPCODE_MULTIPLY, 6},
	{TOKEN_DIVIDE, OPCODE_DIVIDE, 6},
	{TOKEN_FLOOR_DIVIDE, OPCODE_FLOOR_DIVIDE, 6},
	{TOKEN_MODULO, OPCODE_MODULO, 6},
};

struct parser {
	const char *where;
	struct value_arena *arena;
	struct lexer lexer;
	struct token token; /* the next one, not consumed */
	int nesting;
	struct error *err;
};

/* Children gathered before their number is known. */
struct node_array {
	struct node **items;
	size_t count, capacity;
};

static struct node *parse_factor(struct parser *parser);
static struct node *parse_or(struct parser *parser); /* an expression without `if` */
static struct node *parse_expression(struct parser *parser);

static bool parser_advance(struct parser *parser)
{
	return lexer_next(&parser->lexer, &parser->token, parser->err) == STATUS_OK;
}

static struct node *parser_expected(struct parser *parser, const char *what)
{
	token_error(&parser->token, parser->where, parser->err, "%s", what);
	return NULL;
}

/* Consumes a token that must be there. */
static bool parser_take(struct parser *parser, enum token_kind kind, const char *what)
{
	return parser->token.kind == kind ? parser_advance(parser)
					  : parser_expected(parser, what) != NULL;
}

static void node_array_release(struct node_array *array)
{
	free(array->items);
}

static void node_array_push(struct node_array *array, struct node *node)
{
	ARRAY_GROW(array->items, array->count, array->capacity);
	array->items[array->count++] = node;
}

static struct node *parser_adopt(
	struct parser *parser, struct node *node, struct node *const *children, size_t count)
{
	node_adopt(parser->arena, node, children, count);
	if (node->height <= NODE_HEIGHT_MAX)
		return node;
	error_set(parser->err, STATUS_BAD_INPUT,
		"%s: column %u: expected at most %d operators in a row, found more", parser->where,
		node->column, NODE_HEIGHT_MAX);
	return NULL;
}

/* NULL also if an operand is; right is NULL where there is but one. */
static struct node *parser_operator(struct parser *parser, enum node_kind kind, enum opcode opcode,
	uint32_t column, struct node *left, struct node *right)
{
	if (!left || (kind == NODE_BINARY && !right))
		return NULL;
	struct node *node = node_new(parser->arena, kind, column);
	node->opcode = opcode;
	return parser_adopt(
		parser, node, (struct node *[]){left, right}, kind == NODE_BINARY ? 2 : 1);
}

static struct node *parser_constant(struct parser *parser, struct value value)
{
	struct node *node = node_new(parser->arena, NODE_CONSTANT, parser->token.column);
	node->value = value;
	return parser_advance(parser) ? node : NULL;
}

static bool enter(struct parser *parser)
{
	if (++parser->nesting <= PARSER_NESTING_MAX)
		return true;
	error_set(parser->err, STATUS_BAD_INPUT,
		"%s: column %u: expected at most %d levels of nesting, found more", parser->where,
		parser->token.column, PARSER_NESTING_MAX);
	return false;
}

/* ---- atoms ---- */
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

static struct node *unknown_function(struct parser *parser, const struct token *name)
{
	const char *near = function_nearest(name->start, name->length);
	token_error(name, parser->where, parser->err, "a function");
	if (near)
		error_hint(parser->err, "did you mean %s?", near);
	return NULL;
}

static struct node *call_with(struct parser *parser, const struct function *function,
	const struct token *name, const struct node_array *arguments)
{
	const size_t count = arguments->count;
	enum opcode opcode = function->opcode;
	struct node *node = count ? arguments->items[0] : NULL;
	if (count < function->least || count > function->most) {
		error_set(parser->err, STATUS_BAD_INPUT,
			"%s: column %u: expected %s of %s, found %zu", parser->where, name->column,
			function->arguments, function->name, count);
		return NULL;
	}
	if (opcode == OPCODE_RANGE_LIST)
		return parser_adopt(parser, node_new(parser->arena, NODE_RANGE, name->column),
			arguments->items, count);
	if (count == 1 && (opcode == OPCODE_MIN || opcode == OPCODE_MAX))
		opcode = opcode == OPCODE_MIN ? OPCODE_MIN_LIST : OPCODE_MAX_LIST;
	if (count == 1)
		return parser_operator(parser, NODE_UNARY, opcode, name->column, node, NULL);
	for (size_t i = 1; i < count && node; i++)
		node = parser_operator(
			parser, NODE_BINARY, opcode, name->column, node, arguments->items[i]);
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
	const struct function *function = function_find(name.start, name.length);
	if (!function)
		return unknown_function(parser, &name);
	CLEANUP(node_array_release) struct node_array arguments = {0};
	if (!parser_advance(parser) ||
		!parse_elements(parser, &arguments, TOKEN_CLOSE, "',', ')' or an operator"))
		return NULL;
	return call_with(parser, function, &name, &arguments);
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
			const struct token name = parser->token;
			if (!parser_take(parser, TOKEN_NAME, "a loop variable") ||
				!parser_take(parser, TOKEN_IN, "'in'"))
				return NULL;
			clause->name =
				value_arena_copy_string(parser->arena, name.start, name.length);
		}
		struct node *child = parse_or(parser);
		if (!child || !parser_adopt(parser, clause, &child, 1))
			return NULL;
		node_array_push(children, clause);
	}
	if (!parser_take(parser, TOKEN_CLOSE_LIST, "']', 'for', 'if' or an operator"))
		return NULL;
	list->kind = NODE_COMPREHENSION;
	return parser_adopt(parser, list, children->items, children->count);
}

static struct node *parse_list(struct parser *parser)
{
	struct node *list = node_new(parser->arena, NODE_LIST, parser->token.column);
	CLEANUP(node_array_release) struct node_array children = {0};
	if (!parser_advance(parser))
		return NULL;
	if (parser->token.kind != TOKEN_CLOSE_LIST) {
		struct node *first = parse_expression(parser);
		if (!first)
			return NULL;
		node_array_push(&children, first);
		if (parser->token.kind == TOKEN_FOR)
			return parse_clauses(parser, list, &children);
		if (parser->token.kind != TOKEN_COMMA && parser->token.kind != TOKEN_CLOSE_LIST)
			return parser_expected(parser, "',', ']', 'for' or an operator");
		if (parser->token.kind == TOKEN_COMMA && !parser_advance(parser))
			return NULL;
	}
	if (!parse_elements(parser, &children, TOKEN_CLOSE_LIST, "',', ']' or an operator"))
		return NULL;
	return parser_adopt(parser, list, children.items, children.count);
}

static struct node *parse_parenthesis(struct parser *parser)
{
	struct node *node = parser_advance(parser) ? parse_expression(parser) : NULL;
	const bool tuple = parser->token.kind == TOKEN_COMMA;
	if (!node || parser_take(parser, TOKEN_CLOSE, "')' or an operator"))
		return node;
	if (tuple)
		error_hint(parser->err, "write a list in brackets: [a, b]");
	return NULL;
}

static struct node *parse_atom(struct parser *parser)
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

/* ---- operators ---- */
/* atom ['**' factor]: binds tighter than a sign on its left, weaker than one on its right */
static struct node *parse_power(struct parser *parser)
{
	struct node *base = parse_atom(parser);
	if (!base || parser->token.kind != TOKEN_POWER)
		return base;
	uint32_t column = parser->token.column;
	if (!enter(parser) || !parser_advance(parser))
		return NULL;
	struct node *node = parser_operator(
		parser, NODE_BINARY, OPCODE_POWER, column, base, parse_factor(parser));
	parser->nesting--;
	return node;
}

static struct node *parse_sign(struct parser *parser)
{
	uint32_t column = parser->token.column;
	bool minus = parser->token.kind == TOKEN_SUBTRACT;
	if (!enter(parser) || !parser_advance(parser))
		return NULL;
	struct node *node;
	/* the smallest integer has no positive counterpart */
	if (minus && parser->token.kind == TOKEN_INT &&
		parser->token.magnitude == (uint64_t)INT64_MAX + 1)
		node = parser_constant(parser, value_int(INT64_MIN));
	else
		node = parser_operator(parser, NODE_UNARY, minus ? OPCODE_NEGATE : OPCODE_PLUS,
			column, parse_factor(parser), NULL);
	parser->nesting--;
	return node;
}

static struct node *parse_factor(struct parser *parser)
{
	bool sign = parser->token.kind == TOKEN_ADD || parser->token.kind == TOKEN_SUBTRACT;
	return sign ? parse_sign(parser) : parse_power(parser);
}

/* The operator of two operands that comes next, if it binds that tightly; else their number. */
static size_t next_operator(const struct parser *parser, int least_precedence)
{
	size_t o = 0;
	while (o < ARRAY_COUNT(operators) && (operators[o].token != parser->token.kind ||
						     operators[o].precedence < least_precedence))
		o++;
	return o;
}

static struct node *parse_binary(struct parser *parser, int least_precedence)
{
	struct node *left = parse_factor(parser);
	for (size_t o;
		left && (o = next_operator(parser, least_precedence)) < ARRAY_COUNT(operators);) {
		uint32_t column = parser->token.column;
		struct node *right = parser_advance(parser)
					     ? parse_binary(parser, operators[o].precedence + 1)
					     : NULL;
		left = parser_operator(
			parser, NODE_BINARY, operators[o].opcode, column, left, right);
	}
	return left;
}

/* Consumes a comparison operator; false if there is none, or (with *failed) after an error. */
static bool accept_comparison(struct parser *parser, struct node_link *link, bool *failed)
{
	const size_t o = next_operator(parser, COMPARISON);
	link->column = parser->token.column;
	if (parser->token.kind == TOKEN_NOT) {
		link->opcode = OPCODE_NOT_IN;
		*failed = !parser_advance(parser) || !parser_take(parser, TOKEN_IN, "'in'");
		return !*failed;
	}
	if (o == ARRAY_COUNT(operators))
		return false;
	link->opcode = operators[o].opcode;
	*failed = !parser_advance(parser);
	return !*failed;
}

static struct node *parse_comparison(struct parser *parser)
{
	struct node *first = parse_binary(parser, COMPARISON + 1);
	CLEANUP(node_array_release) struct node_array operands = {0};
	CLEANUP(memory_free) struct node_link *links = NULL;
	size_t count = 0, capacity = 0;
	bool failed = !first;
	struct node_link link;
	node_array_push(&operands, first);
	while (!failed && accept_comparison(parser, &link, &failed)) {
		struct node *operand = parse_binary(parser, COMPARISON + 1);
		failed = !operand;
		node_array_push(&operands, operand);
		ARRAY_GROW(links, count, capacity);
		links[count++] = link;
	}
	if (failed)
		return NULL;
	if (count == 0)
		return first;
	if (count == 1)
		return parser_operator(parser, NODE_BINARY, links[0].opcode, links[0].column, first,
			operands.items[1]);
	struct node *node = node_new(parser->arena, NODE_CHAIN, links[0].column);
	node->links = value_arena_take(parser->arena, count * sizeof(*links));
	memcpy(node->links, links, count * sizeof(*links));
	return parser_adopt(parser, node, operands.items, operands.count);
}

static struct node *parse_not(struct parser *parser)
{
	if (parser->token.kind != TOKEN_NOT)
		return parse_comparison(parser);
	uint32_t column = parser->token.column;
	if (!enter(parser) || !parser_advance(parser))
		return NULL;
	struct node *node =
		parser_operator(parser, NODE_UNARY, OPCODE_NOT, column, parse_not(parser), NULL);
	parser->nesting--;
	return node;
}

/* operand (word operand)*, as one node with all operands */
static struct node *parse_logical(struct parser *parser, enum token_kind word, enum node_kind kind,
	struct node *parse_operand(struct parser *parser))
{
	struct node *first = parse_operand(parser);
	if (!first || parser->token.kind != word)
		return first;
	CLEANUP(node_array_release) struct node_array operands = {0};
	struct node *node = node_new(parser->arena, kind, parser->token.column);
	node_array_push(&operands, first);
	while (parser->token.kind == word) {
		struct node *operand = parser_advance(parser) ? parse_operand(parser) : NULL;
		if (!operand)
			return NULL;
		node_array_push(&operands, operand);
	}
	return parser_adopt(parser, node, operands.items, operands.count);
}

static struct node *parse_and(struct parser *parser)
{
	return parse_logical(parser, TOKEN_AND, NODE_AND, parse_not);
}

static struct node *parse_or(struct parser *parser)
{
	return parse_logical(parser, TOKEN_OR, NODE_OR, parse_and);
}

static struct node *parse_expression(struct parser *parser)
{
	if (!enter(parser))
		return NULL;
	struct node *node = parse_or(parser);
	if (node && parser->token.kind == TOKEN_IF) {
		struct node *condition =
			node_new(parser->arena, NODE_CONDITION, parser->token.column);
		struct node *test = parser_advance(parser) ? parse_or(parser) : NULL;
		if (test && parser->token.kind != TOKEN_ELSE)
			test = parser_expected(parser, "'else' or an operator");
		struct node *otherwise =
			test && parser_advance(parser) ? parse_expression(parser) : NULL;
		node = otherwise ? parser_adopt(parser, condition,
					   (struct node *[]){node, test, otherwise}, 3)
				 : NULL;
	}
	parser->nesting--;
	return node;
}

enum status parse(const char *text, const char *where, struct value_arena *arena,
	struct node **root, struct error *err)
{
	if (strlen(text) > PARSER_TEXT_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an expression of at most %d characters, found %zu", where,
			PARSER_TEXT_MAX, strlen(text));
	struct parser parser = {
		.where = where,
		.arena = arena,
		.lexer = {.at = text, .column = 1, .where = where},
		.err = err,
	};
	if (!parser_advance(&parser))
		return STATUS_BAD_INPUT;
	*root = parse_expression(&parser);
	if (*root && parser.token.kind != TOKEN_END)
		*root = parser_expected(&parser, "an operator or the end");
	return *root ? STATUS_OK : STATUS_BAD_INPUT;
}
