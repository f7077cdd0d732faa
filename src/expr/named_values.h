/* SPDX-License-Identifier: MIT
 *
 * Values by name, in their order: a problem, a configuration, the -D list of a kernel. In JSON an
 * object, {"BM": 128, "dtype": "bf16"}.
 */
#ifndef EXPR_NAMED_VALUES_H
#define EXPR_NAMED_VALUES_H

#include "record/record.h"
#include "expr/value.h"

/* A boolean, an integer, a real or a string. */
struct named_value {
	char *name;
	struct value value; /* a string is owned here */
};

struct named_values {
	struct named_value *items;
	size_t count;
};

RECORD_DECLARE(struct named_value, named_value_record);
extern const struct record_custom named_value_custom; /* of a struct value */
/* The member `field` of a table, a struct named_values. */
#define RECORD_NAMED_VALUES(type, field, key, ...)                                                 \
	RECORD_MAP(type, field.items, field.count, named_value_record, key, ##__VA_ARGS__)

/* A string is borrowed from the tree. */
enum status value_from_json(const struct json_at *at, struct value *value, struct error *err);

/* The items of an empty list are not NULL: it is there. */
struct named_values named_values_new(size_t count);
void named_values_release(struct named_values *values);
void named_values_put(struct named_values *values, size_t index, const char *name,
	struct value value); /* index < count of named_values_new() */
/* The same names with the same values, in any order. */
bool named_values_equal(const struct named_values *a, const struct named_values *b);
/* The values of `all`, in its order, that are others in `values` or that `values` lacks. */
struct named_values named_values_difference(
	const struct named_values *all, const struct named_values *values);
/* The values of `all`, but those of `changed` where it has the name. */
struct named_values named_values_changed(
	const struct named_values *all, const struct named_values *changed);
/* "M=4096,dtype=bf16" with separator ",". */
void named_values_format(
	const struct named_values *values, const char *separator, struct text *text);
char *named_values_text(const struct named_values *values); /* separator ","; caller frees */
struct json *named_values_to_json(const struct named_values *values);

#endif
