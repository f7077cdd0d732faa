/* SPDX-License-Identifier: MIT
 *
 * What the files of the parser share. Every function that returns a node returns NULL after an
 * error, which then is in parser->err.
 */
#ifndef EXPR_GRAMMAR_H
#define EXPR_GRAMMAR_H

#include "base/error.h"
#include "expr/node.h"
#include "expr/token.h"

struct parser {
	const char *where;
	struct arena *arena;
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
void node_array_push(struct node_array *array, struct node *node);

/* Consumes the next token; false after an error. */
bool parser_advance(struct parser *parser);
/* "expected what, found the next token" */
struct node *parser_expected(struct parser *parser, const char *what);
/* Gives node its children; NULL if the tree got too high. */
struct node *parser_adopt(
	struct parser *parser, struct node *node, struct node *const *children, size_t count);
/* NULL also if an operand is. */
struct node *parser_unary(
	struct parser *parser, enum opcode opcode, uint32_t column, struct node *operand);
struct node *parser_binary(struct parser *parser, enum opcode opcode, uint32_t column,
	struct node *left, struct node *right);
struct node *parser_constant(struct parser *parser, struct value value);

struct node *parse_expression(struct parser *parser);
struct node *parse_or(struct parser *parser);   /* an expression without `if` */
struct node *parse_atom(struct parser *parser); /* a number, string, name, call, (...) or [...] */

#endif
