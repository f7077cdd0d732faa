/* SPDX-License-Identifier: MIT
 *
 * A recursive descent parser for Python's expression grammar. After an error the parser behaves as
 * at the end of the text, so that all functions return; the tree is discarded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/node.h"
#include "expr/token.h"

struct parser {
	const char *where;
	struct value_arena *arena;
	struct lexer lexer;
	struct token token;
	int nesting;
	bool failed;
	struct error *err;
};

static const struct function functions[] = {
	{"min", "1 argument or more", 1, SIZE_MAX, OPCODE_MIN},
	{"max", "1 argument or more", 1, SIZE_MAX, OPCODE_MAX},
	{"abs", "1 argument", 1, 1, OPCODE_ABS},
	{"ceil_div", "2 arguments", 2, 2, OPCODE_CEIL_DIV},
	{"round_up", "2 arguments", 2, 2, OPCODE_ROUND_UP},
	{"is_pow2", "1 argument", 1, 1, OPCODE_IS_POW2},
	{"int", "1 argument", 1, 1, OPCODE_INT},
	{"len", "1 argument", 1, 1, OPCODE_LEN},
	{"any", "1 argument", 1, 1, OPCODE_ANY},
	{"all", "1 argument", 1, 1, OPCODE_ALL},
	{"range", "1 to 3 arguments", 1, 3, OPCODE_RANGE},
	{"dtype_bytes", "1 argument", 1, 1, OPCODE_DTYPE_BYTES},
};

const struct function *function_find(const char *name, size_t length)
{
	for (size_t f = 0; f < ARRAY_COUNT(functions); f++)
		if (strlen(functions[f].name) == length &&
			memcmp(functions[f].name, name, length) == 0)
			return &functions[f];
	return NULL;
}

static struct node *parse_binary(struct parser *parser, enum precedence least);
static struct node *parse_expression(struct parser *parser);

static void parser_fail(struct parser *parser)
{
	parser->failed = true;
	parser->token.kind = TOKEN_END;
}

static void parser_advance(struct parser *parser)
{
	if (!parser->failed && lexer_next(&parser->lexer, &parser->token, parser->err) != STATUS_OK)
		parser_fail(parser);
}

static void parser_expected(struct parser *parser, const char *noun)
{
	if (!parser->failed)
		token_error(&parser->token, parser->where, parser->err, noun);
	parser_fail(parser);
}

/* Sets an error at a column other than the next token's. */
static void __attribute__((format(printf, 3, 4)))
parser_refuse(struct parser *parser, uint32_t column, const char *format, ...)
{
	va_list args;
	CLEANUP(text_release) struct text message = {0};
	va_start(args, format);
	text_append_args(&message, format, args);
	va_end(args);
	if (!parser->failed)
		error_set(parser->err, STATUS_BAD_INPUT, "%s: column %u: %s", parser->where, column,
			message.data);
	parser_fail(parser);
}

/* Consumes the next token, which must be of this kind. */
static void parser_take(struct parser *parser, enum token_kind kind, const char *noun)
{
	if (parser->token.kind != kind)
		parser_expected(parser, noun);
	parser_advance(parser);
}

static bool parser_accept(struct parser *parser, enum token_kind kind)
{
	if (parser->token.kind != kind)
		return false;
	parser_advance(parser);
	return true;
}

static bool next_is(const struct parser *parser, enum opcode opcode)
{
	return parser->token.kind == TOKEN_OPERATOR && parser->token.opcode == opcode;
}

static void parser_push(struct parser *parser, struct node *node, const struct node *child)
{
	node_push(parser->arena, node, child);
	if (node->height > NODE_HEIGHT_MAX)
		parser_refuse(parser, node->column,
			"expected at most %d operators in a row, found more", NODE_HEIGHT_MAX);
}

static struct node *parser_operator(struct parser *parser, enum opcode opcode, uint32_t column,
	const struct node *left, const struct node *right)
{
	const bool in_range =
		(opcode == OPCODE_IN || opcode == OPCODE_NOT_IN) && right->kind == NODE_RANGE;
	struct node *node = node_new(parser->arena,
		in_range ? NODE_IN_RANGE
		: right  ? NODE_BINARY
			 : NODE_UNARY,
		column);
	node->opcode = (uint8_t)opcode;
	parser_push(parser, node, left);
	if (right)
		parser_push(parser, node, right);
	return node;
}

static struct node *parser_constant(struct parser *parser, struct value value)
{
	struct node *node = node_new(parser->arena, NODE_CONSTANT, parser->token.column);
	node->value = value;
	parser_advance(parser);
	return node;
}

/* Increments parser->nesting, which the caller decrements. */
static void enter(struct parser *parser)
{
	if (++parser->nesting > NODE_NESTING_MAX)
		parser_refuse(parser, parser->token.column,
			"expected at most %d levels of nesting, found more", NODE_NESTING_MAX);
}

/* Parses comma-separated expressions through the closing token. */
static void parse_elements(
	struct parser *parser, struct node *list, enum token_kind close, const char *noun)
{
	while (!parser->failed && parser->token.kind != close) {
		parser_push(parser, list, parse_expression(parser));
		if (!parser_accept(parser, TOKEN_COMMA) && parser->token.kind != close)
			parser_expected(parser, noun);
	}
	parser_advance(parser);
}

/* Parses the clauses of a comprehension, after its element, through the closing token. */
static void parse_clauses(
	struct parser *parser, struct node *list, enum token_kind close, const char *noun)
{
	list->kind = NODE_COMPREHENSION;
	while (parser->token.kind == TOKEN_FOR || parser->token.kind == TOKEN_IF) {
		const bool is_for = parser->token.kind == TOKEN_FOR;
		struct node *clause =
			node_new(parser->arena, is_for ? NODE_FOR : NODE_IF, parser->token.column);
		if (list->count > NODE_CLAUSES_MAX)
			parser_refuse(parser, clause->column,
				"expected at most %d clauses, found more", NODE_CLAUSES_MAX);
		parser_advance(parser);
		if (is_for) {
			const struct token name = parser->token;
			parser_take(parser, TOKEN_NAME, "a loop variable");
			clause->name =
				value_arena_copy_string(parser->arena, name.start, name.length);
			if (!next_is(parser, OPCODE_IN))
				parser_expected(parser, "'in'");
			parser_advance(parser);
		}
		parser_push(parser, clause, parse_binary(parser, PRECEDENCE_OR));
		parser_push(parser, list, clause);
	}
	parser_take(parser, close, noun);
}

/* Parses list elements, function arguments, or a comprehension, through the closing token. */
static void parse_sequence(struct parser *parser, struct node *list, enum token_kind close)
{
	const char *const end = close == TOKEN_CLOSE ? "',', ')', 'for' or an operator"
						     : "',', ']', 'for' or an operator";
	parser_advance(parser);
	if (parser->token.kind != close) {
		parser_push(parser, list, parse_expression(parser));
		if (parser->token.kind == TOKEN_FOR) {
			parse_clauses(parser, list, close,
				close == TOKEN_CLOSE ? "')', 'for', 'if' or an operator"
						     : "']', 'for', 'if' or an operator");
			return;
		}
		if (!parser_accept(parser, TOKEN_COMMA) && parser->token.kind != close)
			parser_expected(parser, end);
	}
	parse_elements(parser, list, close,
		close == TOKEN_CLOSE ? "',', ')' or an operator" : "',', ']' or an operator");
}

static void unknown_function(struct parser *parser, const struct token *name)
{
	CLEANUP(memory_free) char *copy = string_copy_bytes(name->start, name->length);
	const char *names[ARRAY_COUNT(functions) + 1] = {NULL};
	for (size_t f = 0; f < ARRAY_COUNT(functions); f++)
		names[f] = functions[f].name;
	const char *near = name_nearest(copy, names);
	token_error(name, parser->where, parser->err, "a function");
	if (near)
		error_hint(parser->err, "did you mean %s?", near);
	parser_fail(parser);
}

/* Makes the node of a call. `arguments` is a comprehension, or has the arguments as children and
 * becomes the node of range(). */
static struct node *call(struct parser *parser, const struct function *function,
	const struct token *name, struct node *arguments)
{
	const bool is_generator = arguments->kind == NODE_COMPREHENSION;
	const bool is_any_or_all = function->opcode == OPCODE_ANY || function->opcode == OPCODE_ALL;
	const size_t count = is_generator ? 1 : arguments->count;
	const bool takes_list = function->opcode == OPCODE_MIN || function->opcode == OPCODE_MAX;
	enum opcode opcode = function->opcode;
	if (!parser->failed && (count < function->least || count > function->most))
		parser_refuse(parser, name->column, "expected %s of %s, found %zu",
			function->arguments, function->name, count);
	if (is_generator && !is_any_or_all && !takes_list)
		parser_refuse(parser, name->column, "expected %s of %s, found a generator",
			function->arguments, function->name);
	if (opcode == OPCODE_RANGE || parser->failed)
		return arguments;
	if (takes_list && count == 1)
		opcode = opcode == OPCODE_MIN ? OPCODE_MIN_LIST : OPCODE_MAX_LIST;
	if (is_generator && is_any_or_all) {
		arguments->opcode = (uint8_t)opcode;
		return arguments;
	}
	struct node *node = is_generator ? arguments : &arguments->children[0];
	if (count == 1)
		return parser_operator(parser, opcode, name->column, node, NULL);
	for (size_t i = 1; i < count && !parser->failed; i++)
		node = parser_operator(parser, opcode, name->column, node, &arguments->children[i]);
	return node;
}

static struct node *parse_name(struct parser *parser)
{
	const struct token name = parser->token;
	struct node *node = node_new(parser->arena, NODE_NAME, name.column);
	parser_advance(parser);
	if (parser->token.kind != TOKEN_OPEN) {
		node->name = value_arena_copy_string(parser->arena, name.start, name.length);
		return node;
	}
	const struct function *function = function_find(name.start, name.length);
	if (!function) {
		unknown_function(parser, &name);
		return node;
	}
	node->kind = NODE_RANGE;
	parse_sequence(parser, node, TOKEN_CLOSE);
	return call(parser, function, &name, node);
}

static struct node *parse_list(struct parser *parser)
{
	struct node *list = node_new(parser->arena, NODE_LIST, parser->token.column);
	parse_sequence(parser, list, TOKEN_CLOSE_LIST);
	return list;
}

static struct node *parse_parenthesis(struct parser *parser)
{
	struct node *tuple = node_new(parser->arena, NODE_LIST, parser->token.column);
	tuple->opcode = OPCODE_TUPLE;
	parser_advance(parser);
	if (parser_accept(parser, TOKEN_CLOSE))
		return tuple;
	struct node *node = parse_expression(parser);
	if (!parser_accept(parser, TOKEN_COMMA)) {
		parser_take(parser, TOKEN_CLOSE, "')' or an operator");
		return node;
	}
	parser_push(parser, tuple, node);
	parse_elements(parser, tuple, TOKEN_CLOSE, "',', ')' or an operator");
	return tuple;
}

static struct node *parse_atom(struct parser *parser)
{
	const struct token *token = &parser->token;
	switch (token->kind) {
	case TOKEN_INT:
		if (token->magnitude > INT64_MAX)
			parser_expected(parser, "an integer within 64 bits");
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
		parser_expected(parser, "a value");
		return node_new(parser->arena, NODE_CONSTANT, token->column);
	}
}

static struct node *parse_factor(struct parser *parser);

static struct node *parse_prefix(struct parser *parser, enum opcode opcode)
{
	const uint32_t column = parser->token.column;
	enter(parser);
	parser_advance(parser);
	struct node *operand;
	/* The smallest integer is parsed with its sign, because its magnitude exceeds int64. */
	if (opcode == OPCODE_NEGATE && parser->token.kind == TOKEN_INT &&
		parser->token.magnitude == (uint64_t)INT64_MAX + 1)
		operand = parser_constant(parser, value_int(INT64_MIN));
	else
		operand = parser_operator(parser, opcode, column,
			opcode == OPCODE_NOT ? parse_binary(parser, PRECEDENCE_NOT)
					     : parse_factor(parser),
			NULL);
	parser->nesting--;
	return operand;
}

/* Parses [sign] atom ['**' factor]: ** binds tighter than a sign on its left, but weaker than a
 * sign on its right. */
static struct node *parse_factor(struct parser *parser)
{
	if (next_is(parser, OPCODE_ADD))
		return parse_prefix(parser, OPCODE_PLUS);
	if (next_is(parser, OPCODE_SUBTRACT))
		return parse_prefix(parser, OPCODE_NEGATE);
	struct node *base = parse_atom(parser);
	if (!next_is(parser, OPCODE_POWER))
		return base;
	const uint32_t column = parser->token.column;
	enter(parser);
	parser_advance(parser);
	struct node *node =
		parser_operator(parser, OPCODE_POWER, column, base, parse_factor(parser));
	parser->nesting--;
	return node;
}

/* Returns whether the next token is a binary operator with at least this precedence. parse_factor()
 * handles **. */
static bool next_operator(const struct parser *parser, enum precedence least)
{
	return parser->token.kind == TOKEN_OPERATOR && parser->token.precedence >= least &&
	       parser->token.precedence < PRECEDENCE_POWER;
}

/* Parses the comparisons after `first`: a single one or a chain. */
static struct node *parse_comparisons(struct parser *parser, struct node *first)
{
	struct node *chain = node_new(parser->arena, NODE_CHAIN, parser->token.column);
	parser_push(parser, chain, first);
	while (next_operator(parser, PRECEDENCE_COMPARISON)) {
		struct node *link = node_new(parser->arena, NODE_LINK, parser->token.column);
		link->opcode = (uint8_t)parser->token.opcode;
		parser_advance(parser);
		if (link->opcode == OPCODE_NOT) {
			link->opcode = OPCODE_NOT_IN;
			if (!next_is(parser, OPCODE_IN))
				parser_expected(parser, "'in'");
			parser_advance(parser);
		}
		parser_push(parser, link, parse_binary(parser, PRECEDENCE_COMPARISON + 1));
		parser_push(parser, chain, link);
	}
	const struct node *link = &chain->children[1];
	return chain->count > 2 ? chain
				: parser_operator(parser, link->opcode, link->column, first,
					  &link->children[0]);
}

/* Parses `first` and all operands of the same `and` or `or` into one node. */
static struct node *parse_logical(struct parser *parser, struct node *first)
{
	const struct token word = parser->token;
	struct node *node = node_new(parser->arena, NODE_LOGICAL, word.column);
	node->opcode = (uint8_t)word.opcode;
	parser_push(parser, node, first);
	while (next_is(parser, word.opcode)) {
		parser_advance(parser);
		parser_push(parser, node, parse_binary(parser, word.precedence + 1));
	}
	return node;
}

static struct node *parse_binary(struct parser *parser, enum precedence least)
{
	struct node *left = least <= PRECEDENCE_NOT && next_is(parser, OPCODE_NOT)
				    ? parse_prefix(parser, OPCODE_NOT)
				    : parse_factor(parser);
	while (next_operator(parser, least)) {
		const struct token token = parser->token;
		if (token.precedence == PRECEDENCE_COMPARISON) {
			left = parse_comparisons(parser, left);
		} else if (token.precedence < PRECEDENCE_NOT) {
			left = parse_logical(parser, left);
		} else {
			parser_advance(parser);
			left = parser_operator(parser, token.opcode, token.column, left,
				parse_binary(parser, token.precedence + 1));
		}
	}
	return left;
}

static struct node *parse_expression(struct parser *parser)
{
	enter(parser);
	struct node *node = parse_binary(parser, PRECEDENCE_OR);
	if (parser->token.kind == TOKEN_IF) {
		struct node *condition =
			node_new(parser->arena, NODE_CONDITION, parser->token.column);
		parser_advance(parser);
		parser_push(parser, condition, node);
		parser_push(parser, condition, parse_binary(parser, PRECEDENCE_OR));
		parser_take(parser, TOKEN_ELSE, "'else' or an operator");
		parser_push(parser, condition, parse_expression(parser));
		node = condition;
	}
	parser->nesting--;
	return node;
}

enum status node_parse(const char *text, const char *where, struct value_arena *arena,
	struct node **root, struct error *err)
{
	if (strlen(text) > NODE_TEXT_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: the expression has %zu characters, more than the limit of %d", where,
			strlen(text), NODE_TEXT_MAX);
	struct parser parser = {
		.where = where,
		.arena = arena,
		.lexer = {.at = text, .column = 1, .where = where},
		.err = err,
	};
	parser_advance(&parser);
	*root = parse_expression(&parser);
	if (parser.token.kind != TOKEN_END && !parser.failed) {
		const bool is_comma = parser.token.kind == TOKEN_COMMA;
		parser_expected(&parser, "an operator or the end");
		if (is_comma)
			error_hint(err, "write several values as a list: [%s]", text);
	}
	return parser.failed ? STATUS_BAD_INPUT : STATUS_OK;
}
