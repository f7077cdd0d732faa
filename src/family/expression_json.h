/* SPDX-License-Identifier: MIT
 *
 * Expressions as members of records (base/record.h). In JSON a string is an expression; a number, a
 * boolean or a list of literals stands for itself (strings in such a list are taken literally).
 */
#ifndef FAMILY_EXPRESSION_JSON_H
#define FAMILY_EXPRESSION_JSON_H

#include "base/record_read.h"
#include "family/scope.h"

/* The context of all records of this folder: what is read, and which names it may use. */
struct reading {
	const struct operation *operation;
	struct family *family;          /* NULL while the operation itself is read */
	const struct scope *scope;      /* every name that is taken */
	const struct name_table *names; /* of expressions, where their member says nothing else */
	struct name_table fixed;        /* keys and device names */
	struct name_table lane, prune;  /* those of a context; reading_names() makes them */
	const struct json_at *root;
};
const struct name_table *reading_names(struct reading *reading, enum scope_context context);
void reading_release(struct reading *reading);

/* A member of type struct expression *. */
#define EXPRESSION(type, field, key, meaning, ...)                                                 \
	RECORD_CUSTOM(type, field, &expression_member, key, meaning, ##__VA_ARGS__)
#define EXPRESSION_OPTIONAL(type, field, key, meaning)                                             \
	EXPRESSION(type, field, key, meaning, .flags = RECORD_OPTIONAL)
extern const struct record_custom expression_member;
extern const struct record_custom expression_fixed_member; /* over `fixed` */
extern const struct record_custom expression_keys_member;  /* over the operation's keys */

/* One over other names: `table` is a const struct name_table *, and may use `reading`. */
#define EXPRESSION_CUSTOM(storage, id, table)                                                      \
	static enum status id##_read(                                                              \
		const struct json_at *at, void *field, void *context, struct error *err)           \
	{                                                                                          \
		struct reading *reading = context;                                                 \
                                                                                                   \
		return expression_json_compile(at, (table), field, err);                           \
	}                                                                                          \
	storage const struct record_custom id = {                                                  \
		id##_read, NULL, expression_schema, expression_member_release}

/* Compiles; the caller frees *expression. */
enum status expression_json_compile(const struct json_at *at, const struct name_table *names,
	struct expression **expression, struct error *err);
struct json *expression_schema(struct json *definitions);
void expression_member_release(void *field);

/* A custom for the whole struct: an expression for its member `field`, or an object that the record
 * describes. */
#define EXPRESSION_OR(id, other, type, field, table)                                               \
	static enum status id##_read(                                                              \
		const struct json_at *at, void *whole, void *context, struct error *err)           \
	{                                                                                          \
		struct reading *reading = context;                                                 \
                                                                                                   \
		return json_type(at) == JSON_OBJECT                                                \
			       ? record_from_json(&(other), at, whole, context, err)               \
			       : expression_json_compile(                                          \
					 at, (table), &((type *)whole)->field, err);               \
	}                                                                                          \
	static struct json *id##_schema(struct json *definitions)                                  \
	{                                                                                          \
		return expression_schema_or(&(other), definitions);                                \
	}                                                                                          \
	static void id##_release(void *whole)                                                      \
	{                                                                                          \
		record_release(&(other), whole);                                                   \
	}                                                                                          \
	static const struct record_custom id = {id##_read, NULL, id##_schema, id##_release}
struct json *expression_schema_or(const struct record *other, struct json *definitions);

struct expression_list {
	struct expression **items;
	size_t count;
};

/* An expression of an operation that is compiled for each family. */
struct formula {
	char *text;  /* NULL: there is none */
	char *where; /* "file: $.path", for messages */
};
extern const struct record_custom formula_member;
/* *expression is NULL where there is no formula, or one that reads an unknown name. */
enum status formula_compile(const struct formula *formula, const struct name_table *names,
	struct expression **expression, struct error *err);

/* Names that others may read: letters, digits and _, not a digit first, shorter than 48, no word
 * or function of the expression language. */
extern const struct record_rule name_rule;

/* A condition and what it is for. */
struct condition {
	struct expression *expression;
	const char *why; /* borrowed from the JSON tree */
};
struct condition_list {
	struct condition *items;
	size_t count;
};
RECORD_DECLARE(struct condition, condition_record);

#endif
