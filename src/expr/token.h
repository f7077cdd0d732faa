/* SPDX-License-Identifier: MIT
 *
 * The text of an expression, cut into tokens.
 */
#ifndef EXPR_TOKEN_H
#define EXPR_TOKEN_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* Signs and words of the language: id, spelling. A longer sign stands before its prefix. */
#define TOKENS(ROW)                                                                                \
	ROW(POWER, "**")                                                                           \
	ROW(FLOOR_DIVIDE, "//")                                                                    \
	ROW(SHIFT_LEFT, "<<")                                                                      \
	ROW(SHIFT_RIGHT, ">>")                                                                     \
	ROW(LESS_EQUAL, "<=")                                                                      \
	ROW(GREATER_EQUAL, ">=")                                                                   \
	ROW(EQUAL, "==")                                                                           \
	ROW(NOT_EQUAL, "!=")                                                                       \
	ROW(ADD, "+")                                                                              \
	ROW(SUBTRACT, "-")                                                                         \
	ROW(MULTIPLY, "*")                                                                         \
	ROW(DIVIDE, "/")                                                                           \
	ROW(MODULO, "%")                                                                           \
	ROW(BIT_AND, "&")                                                                          \
	ROW(BIT_OR, "|")                                                                           \
	ROW(BIT_XOR, "^")                                                                          \
	ROW(LESS, "<")                                                                             \
	ROW(GREATER, ">")                                                                          \
	ROW(OPEN, "(")                                                                             \
	ROW(CLOSE, ")")                                                                            \
	ROW(OPEN_LIST, "[")                                                                        \
	ROW(CLOSE_LIST, "]")                                                                       \
	ROW(COMMA, ",")                                                                            \
	ROW(AND, "and")                                                                            \
	ROW(OR, "or")                                                                              \
	ROW(NOT, "not")                                                                            \
	ROW(IN, "in")                                                                              \
	ROW(IF, "if")                                                                              \
	ROW(ELSE, "else")                                                                          \
	ROW(FOR, "for")                                                                            \
	ROW(TRUE, "True")                                                                          \
	ROW(FALSE, "False")

enum token_kind {
	TOKEN_END,
	TOKEN_INT,    /* magnitude: up to 2^64-1, the parser checks */
	TOKEN_REAL,   /* real */
	TOKEN_STRING, /* start, length with the quotes */
	TOKEN_NAME,
#define ROW(id, spelling) TOKEN_##id,
	TOKENS(ROW)
#undef ROW
	TOKEN_KIND_COUNT
};

struct token {
	enum token_kind kind;
	uint32_t column; /* 1-based, in characters */
	const char *start;
	size_t length;
	uint64_t magnitude;
	double real;
};

struct lexer {
	const char *at;
	uint32_t column;
	const char *where; /* for messages */
};

/* The next token. Errors: what is no token; numbers that do not fit. */
enum status lexer_next(struct lexer *lexer, struct token *token, struct error *err);
/* "where: column 7: expected <expected>, found <the token>" */
enum status token_error(const struct token *token, const char *where, struct error *err,
	const char *expected, ...) PRINTF_LIKE(4, 5);

#endif
