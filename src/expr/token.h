/* SPDX-License-Identifier: MIT
 *
 * The text of an expression, cut into tokens.
 */
#ifndef EXPR_TOKEN_H
#define EXPR_TOKEN_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum token_kind {
	TOKEN_END,
	TOKEN_INT,    /* magnitude: up to 2^64-1, the parser checks */
	TOKEN_REAL,   /* real */
	TOKEN_STRING, /* start, length with the quotes */
	TOKEN_NAME,
#define TOKEN(id, spelling) TOKEN_##id,
#include "expr/token.def"
#undef TOKEN
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
const char *token_spelling(enum token_kind kind); /* of signs and words */
/* Whether a word belongs to the language and cannot be a name. */
bool word_is_reserved(const char *word, size_t length);

#endif
