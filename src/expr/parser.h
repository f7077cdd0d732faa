/* SPDX-License-Identifier: MIT
 *
 * From text to tree; what the parser shares with atom.c. Every function that returns a node returns
 * NULL after an error, which then is in parser->err.
 */
#ifndef EXPR_PARSER_H
#define EXPR_PARSER_H

#include "base/error.h"
#include "expr/node.h"
#include "expr/token.h"

enum {
	PARSER_TEXT_MAX = 65536, /* bytes */
	PARSER_CLAUSES_MAX = 16, /* `for` and `if` of one comprehension */
	PARSER_NESTING_MAX = 100 /* brackets, signs, `not`, `**` and `if` within each other */
};

/* Names are not resolved yet. Strings and nodes lie in the arena. */
enum status parse(const char *text, const char *where, struct value_arena *arena,
	struct node **root, struct error *err);

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
struct node *parse_or(struct parser *parser); /* an expression without `if` */

#endif
