/* SPDX-License-Identifier: MIT
 *
 * Compiles any bytes as an expression over a few names: the expression is refused, evaluated, or
 * fails in bounded time and memory. Replacing names by constants beforehand gives the same result.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Constant folding saves steps and lists, so only these limits may differ. */
static bool is_limit(const struct error *err)
{
	return strstr(err->message, " steps, found more") || strstr(err->message, " in all, found");
}

static void compare(enum status status, const struct value *value, const struct error *err,
	enum status special_status, const struct value *special_value,
	const struct error *special_err)
{
	if (status && special_status)
		return;
	if (status || special_status) {
		if (!is_limit(status ? err : special_err))
			BUG("%s", status ? err->message : special_err->message);
		return;
	}
	if (value->type != special_value->type || !value_equal(*value, *special_value))
		BUG("not the same with the names put in");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *names[] = {"BM", "x", "f", "dtype", "t"};
	const struct name_table table = {.names = names, .count = 5};
	const struct value values[] = {value_int(128), value_int(0), value_real(2.5),
		value_string("bf16"), value_bool(true)};
	struct expression *expression;
	struct error err = {0}, special_err = {0};
	char *text = string_copy_bytes((const char *)data, size);
	if (expression_compile(text, "fuzz", &table, &expression, &err) == STATUS_OK) {
		struct expression *special = expression_specialise(expression, values);
		struct value_arena lists = {0};
		struct value value, special_value;
		bool truth = false;
		enum status status = expression_evaluate(expression, values, &lists, &value, &err);
		enum status special_status =
			expression_evaluate(special, values, &lists, &special_value, &special_err);
		compare(status, &value, &err, special_status, &special_value, &special_err);
		struct text formatted = {0};
		if (!status)
			value_format(value, &formatted);
		text_release(&formatted);
		if (expression_test(expression, values, &truth, &err) != status)
			BUG("not the same the second time");
		value_arena_release(&lists);
		expression_free(special);
		expression_free(expression);
	}
	free(text);
	return 0;
}
