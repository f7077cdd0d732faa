/* SPDX-License-Identifier: MIT
 *
 * Cases of the expression language. Each line of the files in tests/data/space/ reads
 *
 * 	expression :: NAME=value, NAME=value :: result
 *
 * Values and results are written as Python's repr() writes them: 7, 2.5, 'bf16', True, [1, 2]. A
 * case that must fail has the error, and optionally its hint, in place of the result:
 *
 * 	1 + * 2 ::  :: error: column 5: expected a value, found '*'
 * 	BMM :: BM=1 :: error: column 1: unknown name 'BMM' (did you mean BM?)
 */
#ifndef TESTS_UNIT_EXPRESSION_CASES_H
#define TESTS_UNIT_EXPRESSION_CASES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/expression.h"

enum {
	CASE_NAMES_MAX = 32
};

struct expression_case {
	char *expression, *bindings, *result; /* pointers into the line */
	struct name_table names;
	struct value values[CASE_NAMES_MAX];
};

static void repr_real(double real, struct text *text)
{
	char digits[64];
	int precision = 1;
	do
		snprintf(digits, sizeof(digits), "%.*e", precision - 1, real);
	while (strtod(digits, NULL) != real && precision++ < 17);
	char *e = strchr(digits, 'e');
	int exponent = atoi(e + 1);
	if (exponent < -4 || exponent >= 16)
		text_append(text, digits);
	else
		text_appendf(text, "%.*f",
			precision - 1 - exponent > 1 ? precision - 1 - exponent : 1, real);
}

static void repr(struct value value, struct text *text)
{
	switch (value.type) {
	case VALUE_NONE:
		text_append(text, "None");
		break;
	case VALUE_BOOL:
		text_append(text, value.boolean ? "True" : "False");
		break;
	case VALUE_INT:
		text_appendf(text, "%" PRId64, value.integer);
		break;
	case VALUE_REAL:
		repr_real(value.real, text);
		break;
	case VALUE_STRING: {
		char quote = strchr(value.string, '\'') ? '"' : '\'';
		text_appendf(text, "%c%s%c", quote, value.string, quote);
		break;
	}
	case VALUE_LIST:
		text_append(text, value.list->is_tuple ? "(" : "[");
		for (size_t i = 0; i < value.list->count; i++) {
			text_append(text, i ? ", " : "");
			repr(value.list->items[i], text);
		}
		if (value.list->is_tuple && value.list->count == 1)
			text_append(text, ",");
		text_append(text, value.list->is_tuple ? ")" : "]");
		break;
	}
}

/* Parses the value after NAME= and terminates its text there. */
static struct value case_value(char *text)
{
	if (text[0] == '\'') {
		text[strlen(text) - 1] = 0;
		return value_string(text + 1);
	}
	if (!strcmp(text, "True") || !strcmp(text, "False"))
		return value_bool(text[0] == 'T');
	if (strpbrk(text, ".e"))
		return value_real(strtod(text, NULL));
	return value_int(strtoll(text, NULL, 10));
}

/* Splits a line in place; the result points into the line. Returns false for comments and empty
 * lines. */
static bool case_parse(char *line, struct expression_case *parsed)
{
	*parsed = (struct expression_case){0};
	if (!line[0] || line[0] == '#')
		return false;
	char *first = strstr(line, " :: "), *second = first ? strstr(first + 4, " :: ") : NULL;
	if (!second) {
		fprintf(stderr, "expected expression :: names :: result, found %s\n", line);
		abort();
	}
	*first = *second = 0;
	parsed->expression = line;
	parsed->bindings = first + 4;
	parsed->result = second + 4;
	char *rest = parsed->bindings;
	for (char *item; (item = strsep(&rest, ",")) != NULL;) {
		while (*item == ' ')
			item++;
		char *equals = strchr(item, '=');
		if (!equals)
			continue;
		*equals = 0;
		int index = name_table_add(&parsed->names, item);
		parsed->values[index] = case_value(equals + 1);
	}
	return true;
}

/* Writes the result, or the error without its "where: ". */
static void case_describe(
	enum status status, const struct value *value, const struct error *err, struct text *text)
{
	if (!status) {
		repr(*value, text);
		return;
	}
	const char *message = err->message;
	if (string_starts_with(message, "case: "))
		message += strlen("case: ");
	text_appendf(text, "error: %s", message);
	/* The hint of a failed evaluation is the expression, unless the error has a more helpful
	 * hint. */
	if (err->hint[0] && !string_starts_with(err->hint, "the expression is: "))
		text_appendf(text, " (%s)", err->hint);
}

/* Compiles and evaluates. The names whose bits are set in `put_in` are replaced by constants
 * first. */
static void case_run(const struct expression_case *parsed, uint32_t put_in, struct text *text)
{
	struct error err = {0};
	struct expression *expression = NULL, *special = NULL;
	struct value value = {0}, known[CASE_NAMES_MAX] = {0};
	struct value_arena lists = {0};
	enum status status =
		expression_compile(parsed->expression, "case", &parsed->names, &expression, &err);
	if (!status && put_in) {
		for (size_t i = 0; i < parsed->names.count; i++)
			if (put_in >> i & 1)
				known[i] = parsed->values[i];
		special = expression_specialise(expression, known);
	}
	if (!status)
		status = expression_evaluate(
			special ? special : expression, parsed->values, &lists, &value, &err);
	case_describe(status, &value, &err, text);
	value_arena_release(&lists);
	expression_free(special);
	expression_free(expression);
}

#endif
