/* SPDX-License-Identifier: MIT
 *
 * Tokens of an expression.
 */
#ifndef EXPR_TOKEN_H
#define EXPR_TOKEN_H

#include "expr/operator.h"

enum token_kind {
	TOKEN_END,
	TOKEN_INT, /* magnitude up to 2^64-1; the parser checks the sign */
	TOKEN_REAL,
	TOKEN_STRING, /* its start and length include the quotes */
	TOKEN_NAME,
	TOKEN_OPERATOR, /* has an opcode and a precedence */
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_OPEN_LIST,
	TOKEN_CLOSE_LIST,
	TOKEN_COMMA,
	TOKEN_IF,
	TOKEN_ELSE,
	TOKEN_FOR,
	TOKEN_TRUE,
	TOKEN_FALSE,
};

/* Precedence of binary operators; higher values bind tighter. Signs bind tighter than all binary
 * operators except **. */
enum precedence {
	PRECEDENCE_OR = 1,
	PRECEDENCE_AND,
	PRECEDENCE_NOT, /* unary */
	PRECEDENCE_COMPARISON,
	PRECEDENCE_BIT_OR,
	PRECEDENCE_BIT_XOR,
	PRECEDENCE_BIT_AND,
	PRECEDENCE_SHIFT,
	PRECEDENCE_SUM,
	PRECEDENCE_PRODUCT,
	PRECEDENCE_POWER,
};

struct token {
	enum token_kind kind;
	enum opcode opcode; /* OPCODE_NOT for `not` and `not in` */
	enum precedence precedence;
	uint32_t column; /* 1-based, in characters */
	const char *start;
	size_t length;
	uint64_t magnitude;
	double real;
};

struct lexer {
	const char *at;
	uint32_t column;
	const char *where;
};

/* Reads the next token. Fails on invalid tokens and numbers out of range. */
enum status lexer_next(struct lexer *lexer, struct token *token, struct error *err);
/* Sets the error "where: column 7: expected <expected>, found <the token>". */
enum status token_error(
	const struct token *token, const char *where, struct error *err, const char *expected);

#endif
