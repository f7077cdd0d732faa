/* SPDX-License-Identifier: MIT
 *
 * Recursive descent over Python's grammar of expressions; see parser.h. Operators of two operands
 * climb a table of precedences. The atoms are in atom.c.
 */
#include "expr/parser.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/atom.h"

/* Operators that associate to the left; higher binds tighter. Comparisons lie below. */
static const struct {
	enum token_kind token;
	enum opcode opcode;
	int precedence;
} operators[] = {
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

static const struct {
	enum token_kind token;
	enum opcode opcode;
} comparisons[] = {
	{TOKEN_EQUAL, OPCODE_EQUAL},
	{TOKEN_NOT_EQUAL, OPCODE_NOT_EQUAL},
	{TOKEN_LESS, OPCODE_LESS},
	{TOKEN_LESS_EQUAL, OPCODE_LESS_EQUAL},
	{TOKEN_GREATER, OPCODE_GREATER},
	{TOKEN_GREATER_EQUAL, OPCODE_GREATER_EQUAL},
	{TOKEN_IN, OPCODE_IN},
};

static struct node *parse_factor(struct parser *parser);

bool parser_advance(struct parser *parser)
{
	return lexer_next(&parser->lexer, &parser->token, parser->err) == STATUS_OK;
}

struct node *parser_expected(struct parser *parser, const char *what)
{
	token_error(&parser->token, parser->where, parser->err, "%s", what);
	return NULL;
}

void node_array_push(struct node_array *array, struct node *node)
{
	ARRAY_GROW(array->items, array->count, array->capacity);
	array->items[array->count++] = node;
}

struct node *parser_adopt(
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

struct node *parser_unary(
	struct parser *parser, enum opcode opcode, uint32_t column, struct node *operand)
{
	if (!operand)
		return NULL;
	struct node *node = node_new(parser->arena, NODE_UNARY, column);
	node->opcode = opcode;
	return parser_adopt(parser, node, &operand, 1);
}

struct node *parser_binary(struct parser *parser, enum opcode opcode, uint32_t column,
	struct node *left, struct node *right)
{
	if (!left || !right)
		return NULL;
	struct node *node = node_new(parser->arena, NODE_BINARY, column);
	node->opcode = opcode;
	return parser_adopt(parser, node, (struct node *[]){left, right}, 2);
}

struct node *parser_constant(struct parser *parser, struct value value)
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

/* atom ['**' factor]: binds tighter than a sign on its left, weaker than one on its right */
static struct node *parse_power(struct parser *parser)
{
	struct node *base = parse_atom(parser);
	if (!base || parser->token.kind != TOKEN_POWER)
		return base;
	uint32_t column = parser->token.column;
	if (!enter(parser) || !parser_advance(parser))
		return NULL;
	struct node *node = parser_binary(parser, OPCODE_POWER, column, base, parse_factor(parser));
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
		node = parser_unary(
			parser, minus ? OPCODE_NEGATE : OPCODE_PLUS, column, parse_factor(parser));
	parser->nesting--;
	return node;
}

static struct node *parse_factor(struct parser *parser)
{
	bool sign = parser->token.kind == TOKEN_ADD || parser->token.kind == TOKEN_SUBTRACT;
	return sign ? parse_sign(parser) : parse_power(parser);
}

static struct node *parse_binary(struct parser *parser, int least_precedence)
{
	struct node *left = parse_factor(parser);
	while (left) {
		size_t o = 0;
		while (o < ARRAY_COUNT(operators) &&
			(operators[o].token != parser->token.kind ||
				operators[o].precedence < least_precedence))
			o++;
		if (o == ARRAY_COUNT(operators))
			return left;
		uint32_t column = parser->token.column;
		struct node *right = parser_advance(parser)
					     ? parse_binary(parser, operators[o].precedence + 1)
					     : NULL;
		left = parser_binary(parser, operators[o].opcode, column, left, right);
	}
	return NULL;
}

/* Consumes a comparison operator; false if there is none, or (with *failed) after an error. */
static bool accept_comparison(struct parser *parser, struct node_link *link, bool *failed)
{
	link->column = parser->token.column;
	if (parser->token.kind == TOKEN_NOT) {
		*failed = !parser_advance(parser);
		if (!*failed && parser->token.kind != TOKEN_IN)
			*failed = !parser_expected(parser, "'in'");
		link->opcode = OPCODE_NOT_IN;
	} else {
		size_t c = 0;
		while (c < ARRAY_COUNT(comparisons) && comparisons[c].token != parser->token.kind)
			c++;
		if (c == ARRAY_COUNT(comparisons))
			return false;
		link->opcode = comparisons[c].opcode;
	}
	if (!*failed)
		*failed = !parser_advance(parser);
	return !*failed;
}

static struct node *parse_comparison(struct parser *parser)
{
	struct node *first = parse_binary(parser, 0);
	if (!first)
		return NULL;
	struct node_array operands = {0};
	struct node_link *links = NULL;
	size_t count = 0, capacity = 0;
	bool failed = false;
	node_array_push(&operands, first);
	struct node_link link;
	while (accept_comparison(parser, &link, &failed)) {
		struct node *operand = parse_binary(parser, 0);
		failed = !operand;
		if (failed)
			break;
		node_array_push(&operands, operand);
		ARRAY_GROW(links, count, capacity);
		links[count++] = link;
	}
	struct node *node = NULL;
	if (!failed && count == 0) {
		node = first;
	} else if (!failed && count == 1) {
		node = parser_binary(
			parser, links[0].opcode, links[0].column, first, operands.items[1]);
	} else if (!failed) {
		node = node_new(parser->arena, NODE_CHAIN, links[0].column);
		node->links = value_arena_take(parser->arena, count * sizeof(*links));
		memcpy(node->links, links, count * sizeof(*links));
		node = parser_adopt(parser, node, operands.items, operands.count);
	}
	free(links);
	free(operands.items);
	return node;
}

static struct node *parse_not(struct parser *parser)
{
	if (parser->token.kind != TOKEN_NOT)
		return parse_comparison(parser);
	uint32_t column = parser->token.column;
	if (!enter(parser) || !parser_advance(parser))
		return NULL;
	struct node *node = parser_unary(parser, OPCODE_NOT, column, parse_not(parser));
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
	struct node_array operands = {0};
	struct node *node = node_new(parser->arena, kind, parser->token.column);
	node_array_push(&operands, first);
	while (parser->token.kind == word) {
		struct node *operand = parser_advance(parser) ? parse_operand(parser) : NULL;
		if (!operand) {
			free(operands.items);
			return NULL;
		}
		node_array_push(&operands, operand);
	}
	node = parser_adopt(parser, node, operands.items, operands.count);
	free(operands.items);
	return node;
}

static struct node *parse_and(struct parser *parser)
{
	return parse_logical(parser, TOKEN_AND, NODE_AND, parse_not);
}

struct node *parse_or(struct parser *parser)
{
	return parse_logical(parser, TOKEN_OR, NODE_OR, parse_and);
}

struct node *parse_expression(struct parser *parser)
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
