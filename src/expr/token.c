/* SPDX-License-Identifier: MIT */
#include "expr/token.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct spelling {
	const char *text; /* NULL at the end of a list */
	enum token_kind kind;
	enum opcode opcode;
	enum precedence precedence;
};

/* A sign precedes the signs that are its prefixes. */
static const struct spelling signs[] = {
	{"**", TOKEN_OPERATOR, OPCODE_POWER, PRECEDENCE_POWER},
	{"//", TOKEN_OPERATOR, OPCODE_FLOOR_DIVIDE, PRECEDENCE_PRODUCT},
	{"<<", TOKEN_OPERATOR, OPCODE_SHIFT_LEFT, PRECEDENCE_SHIFT},
	{">>", TOKEN_OPERATOR, OPCODE_SHIFT_RIGHT, PRECEDENCE_SHIFT},
	{"<=", TOKEN_OPERATOR, OPCODE_LESS_EQUAL, PRECEDENCE_COMPARISON},
	{">=", TOKEN_OPERATOR, OPCODE_GREATER_EQUAL, PRECEDENCE_COMPARISON},
	{"==", TOKEN_OPERATOR, OPCODE_EQUAL, PRECEDENCE_COMPARISON},
	{"!=", TOKEN_OPERATOR, OPCODE_NOT_EQUAL, PRECEDENCE_COMPARISON},
	{"+", TOKEN_OPERATOR, OPCODE_ADD, PRECEDENCE_SUM},
	{"-", TOKEN_OPERATOR, OPCODE_SUBTRACT, PRECEDENCE_SUM},
	{"*", TOKEN_OPERATOR, OPCODE_MULTIPLY, PRECEDENCE_PRODUCT},
	{"/", TOKEN_OPERATOR, OPCODE_DIVIDE, PRECEDENCE_PRODUCT},
	{"%", TOKEN_OPERATOR, OPCODE_MODULO, PRECEDENCE_PRODUCT},
	{"&", TOKEN_OPERATOR, OPCODE_BIT_AND, PRECEDENCE_BIT_AND},
	{"|", TOKEN_OPERATOR, OPCODE_BIT_OR, PRECEDENCE_BIT_OR},
	{"^", TOKEN_OPERATOR, OPCODE_BIT_XOR, PRECEDENCE_BIT_XOR},
	{"<", TOKEN_OPERATOR, OPCODE_LESS, PRECEDENCE_COMPARISON},
	{">", TOKEN_OPERATOR, OPCODE_GREATER, PRECEDENCE_COMPARISON},
	{"(", TOKEN_OPEN, 0, 0},
	{")", TOKEN_CLOSE, 0, 0},
	{"[", TOKEN_OPEN_LIST, 0, 0},
	{"]", TOKEN_CLOSE_LIST, 0, 0},
	{",", TOKEN_COMMA, 0, 0},
	{0},
};
static const struct spelling keywords[] = {
	{"and", TOKEN_OPERATOR, OPCODE_AND, PRECEDENCE_AND},
	{"or", TOKEN_OPERATOR, OPCODE_OR, PRECEDENCE_OR},
	{"not", TOKEN_OPERATOR, OPCODE_NOT, PRECEDENCE_COMPARISON},
	{"in", TOKEN_OPERATOR, OPCODE_IN, PRECEDENCE_COMPARISON},
	{"if", TOKEN_IF, 0, 0},
	{"else", TOKEN_ELSE, 0, 0},
	{"for", TOKEN_FOR, 0, 0},
	{"True", TOKEN_TRUE, 0, 0},
	{"False", TOKEN_FALSE, 0, 0},
	{0},
};

/* Finds the token in a list. A keyword must have the token's length; a sign sets the length. */
static bool find_spelling(struct token *token, const struct spelling *list)
{
	for (; list->text; list++) {
		size_t length;
		if (*token->start != *list->text)
			continue;
		length = token->length ? token->length : strlen(list->text);
		if (strncmp(token->start, list->text, length) != 0 || list->text[length])
			continue;
		token->kind = list->kind;
		token->opcode = list->opcode;
		token->precedence = list->precedence;
		token->length = length;
		return true;
	}
	return false;
}

/* Operators of other languages, with hints at the operators to write instead. */
static const struct {
	const char *sign, *hint;
} foreign_signs[] = {
	{"&&", "write `and`"},
	{"||", "write `or`"},
	{"!", "write `not`"},
	{"?", "write `a if condition else b`"},
	{"=>", "write `>=`"},
	{"=<", "write `<=`"},
	{"=", "write `==` to compare"},
};

static bool is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_word_start(c) || is_digit(c);
}

/* Counts characters, not bytes: continuation bytes of UTF-8 do not count. */
static uint32_t count_characters(const char *start, size_t length)
{
	uint32_t count = 0;
	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)start[i] & 0xc0) != 0x80;
	return count;
}

enum status token_error(
	const struct token *token, const char *where, struct error *err, const char *expected)
{
	enum {
		SHOWN = 40
	};
	if (token->kind == TOKEN_END)
		return error_set(err, STATUS_BAD_INPUT, "%s: column %u: expected %s, found the end",
			where, token->column, expected);
	/* Do not cut inside a UTF-8 character. */
	size_t shown = token->length < SHOWN ? token->length : SHOWN;
	while (shown < token->length && ((unsigned char)token->start[shown] & 0xc0) == 0x80)
		shown--;
	const char *kind = token->kind == TOKEN_STRING ? "the string " : "";
	const char *quote = token->kind == TOKEN_STRING ? "" : "'";
	return error_set(err, STATUS_BAD_INPUT, "%s: column %u: expected %s, found %s%s%.*s%s%s",
		where, token->column, expected, kind, quote, (int)shown, token->start,
		shown < token->length ? "..." : "", quote);
}

static unsigned digit_value(char c)
{
	if (is_digit(c))
		return (unsigned)(c - '0');
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

static enum status lex_int(
	const struct lexer *lexer, struct token *token, unsigned base, struct error *err)
{
	size_t at = base == 10 ? 0 : 2;
	bool digit_before = base != 10; /* 0x_10 is valid */
	token->kind = TOKEN_INT;
	token->magnitude = 0;
	for (; at < token->length; at++) {
		char c = token->start[at];
		if (c == '_' && digit_before) {
			digit_before = false;
			continue;
		}
		if (digit_value(c) >= base)
			return token_error(token, lexer->where, err, "a number");
		if (__builtin_mul_overflow(token->magnitude, base, &token->magnitude) ||
			__builtin_add_overflow(token->magnitude, digit_value(c), &token->magnitude))
			return token_error(token, lexer->where, err, "an integer within 64 bits");
		digit_before = true;
	}
	if (!digit_before || (base != 10 && token->length == 2) ||
		(base == 10 && token->length > 1 && token->start[0] == '0' && token->magnitude))
		return token_error(token, lexer->where, err, "a number");
	return STATUS_OK;
}

/* Reads a real. Its first `length` characters include a point or an exponent; more digits may
 * follow. */
static enum status lex_real(const struct lexer *lexer, struct token *token, struct error *err)
{
	char digits[128];
	token->kind = TOKEN_REAL;
	if (token->length >= sizeof(digits))
		return token_error(token, lexer->where, err, "a number of at most 127 digits");
	memcpy(digits, token->start, token->length);
	digits[token->length] = 0;
	char *end;
	token->real = strtod(digits, &end);
	if (end != digits + token->length)
		return token_error(token, lexer->where, err, "a number");
	if (!isfinite(token->real))
		return token_error(token, lexer->where, err, "a number within a double's range");
	return STATUS_OK;
}

static enum status lex_number(const struct lexer *lexer, struct token *token, struct error *err)
{
	const char *text = token->start;
	char second = (char)(text[0] == '0' ? text[1] | 0x20 : 0);
	unsigned base = second == 'x' ? 16 : second == 'o' ? 8 : second == 'b' ? 2 : 10;
	bool real = false;
	size_t length = 0;
	for (; is_word(text[length]) || (base == 10 && text[length] == '.'); length++) {
		char c = (char)(text[length] | 0x20);
		real = real || text[length] == '.' || (base == 10 && c == 'e');
		if (base == 10 && c == 'e' && (text[length + 1] == '-' || text[length + 1] == '+'))
			length++;
	}
	token->length = length;
	return real ? lex_real(lexer, token, err) : lex_int(lexer, token, base, err);
}

static enum status lex_string(const struct lexer *lexer, struct token *token, struct error *err)
{
	const char *text = token->start;
	size_t length = 1;
	while (text[length] && text[length] != text[0] && text[length] != '\\')
		length++;
	token->length = length;
	if (!text[length])
		return error_set(err, STATUS_BAD_INPUT, "%s: column %u: the closing %c is missing",
			lexer->where, token->column, text[0]);
	if (text[length] == '\\')
		return error_set(err, STATUS_BAD_INPUT,
			"%s: column %u: strings must not contain a backslash", lexer->where,
			token->column + count_characters(text, length));
	token->kind = TOKEN_STRING;
	token->length = length + 1;
	return STATUS_OK;
}

static enum status lex_sign(const struct lexer *lexer, struct token *token, struct error *err)
{
	/* Report && and || as one operator each. */
	const bool pair = strchr("&|", *token->start) && token->start[1] == *token->start;
	if (!pair && find_spelling(token, signs))
		return STATUS_OK;
	token->length = 1;
	while (((unsigned char)token->start[token->length] & 0xc0) == 0x80)
		token->length++;
	token->kind = TOKEN_NAME;
	const char *hint = NULL;
	for (size_t i = 0; i < ARRAY_COUNT(foreign_signs) && !hint; i++)
		if (string_starts_with(token->start, foreign_signs[i].sign)) {
			hint = foreign_signs[i].hint;
			token->length = strlen(foreign_signs[i].sign);
		}
	token_error(token, lexer->where, err, "an operator or a value");
	if (hint)
		error_hint(err, "%s", hint);
	return STATUS_BAD_INPUT;
}

enum status lexer_next(struct lexer *lexer, struct token *token, struct error *err)
{
	while (*lexer->at && strchr(" \t\r\n", *lexer->at)) {
		lexer->at++;
		lexer->column++;
	}
	const char *text = lexer->at;
	*token = (struct token){.start = text, .column = lexer->column};
	enum status status = STATUS_OK;
	if (!*text) {
		token->kind = TOKEN_END;
	} else if (is_digit(*text) || (*text == '.' && is_digit(text[1]))) {
		status = lex_number(lexer, token, err);
	} else if (*text == '\'' || *text == '"') {
		status = lex_string(lexer, token, err);
	} else if (is_word_start(*text)) {
		while (is_word(text[token->length]))
			token->length++;
		token->kind = TOKEN_NAME;
		find_spelling(token, keywords);
	} else {
		status = lex_sign(lexer, token, err);
	}
	lexer->at = text + token->length;
	lexer->column += count_characters(text, token->length);
	return status;
}
