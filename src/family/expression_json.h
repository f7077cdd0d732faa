/* SPDX-License-Identifier: MIT
 *
 * Expressions as they stand in JSON: a string is an expression; a number, a boolean or a list of
 * literals stands for itself (strings inside such a list are taken literally).
 */
#ifndef FAMILY_EXPRESSION_JSON_H
#define FAMILY_EXPRESSION_JSON_H

#include "base/json.h"
#include "base/text.h"
#include "expr/expression.h"

/* The text of the expression, appended. */
enum status expression_json_text(const struct json_at *at, struct text *text, struct error *err);
/* "file: $.path", appended: what messages of the expression begin with. */
void expression_json_where(const struct json_at *at, struct text *where);

/* Compiles; the caller frees *expression. */
enum status expression_json_compile(const struct json_at *at, const struct name_table *names,
	struct expression **expression, struct error *err);
/* As above, NULL where a name is unknown. */
enum status expression_json_compile_optional(const struct json_at *at,
	const struct name_table *names, struct expression **expression, struct error *err);
/* Of a member that must be there. */
enum status expression_json_member(const struct json_at *object, const char *key,
	const struct name_table *names, struct expression **expression, struct error *err);
/* Of a member that may be left out (*expression stays NULL then). */
enum status expression_json_member_if(const struct json_at *object, const char *key,
	const struct name_table *names, struct expression **expression, struct error *err);

/* A list of expressions: of a member with at least `least` and at most `most` of them. */
struct expression_list {
	struct expression **items;
	size_t count;
};
enum status expression_json_list(const struct json_at *object, const char *key, size_t least,
	size_t most, const struct name_table *names, struct expression_list *list,
	struct error *err);
void expression_list_release(struct expression_list *list);

/* Names that others may read: letters, digits and _, not a digit first, shorter than 48, no word
 * or function of the expression language. */
enum status name_json_check(const struct json_at *at, const char *name, struct error *err);

/* {"expr", "why"}: a condition and what it is for. */
struct condition {
	struct expression *expression;
	const char *why; /* borrowed from the JSON tree */
};
struct condition_list {
	struct condition *items;
	size_t count;
};
/* Of a member that may be left out. */
enum status condition_json_list(const struct json_at *object, const char *key,
	const struct name_table *names, struct condition_list *list, struct error *err);
void condition_list_release(struct condition_list *list);

#endif
