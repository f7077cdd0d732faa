/* SPDX-License-Identifier: MIT
 *
 * An ordered list of named values: a problem, a configuration, or the -D list of a kernel. In JSON
 * it is an object such as {"BM": 128, "dtype": "bf16"}.
 */
#ifndef EXPR_NAMED_VALUES_H
#define EXPR_NAMED_VALUES_H

#include "record/record.h"
#include "expr/value.h"

struct named_value {
	char *name;
	struct value value; /* owns its string */
};

struct named_values {
	struct named_value *items;
	size_t count;
};

/* Accepts names that pass name_is_valid(), including names of functions. */
extern const struct record_rule word_name_rule;

RECORD_DECLARE(struct named_value, named_value_record);
extern const struct record_custom named_value_custom; /* for members of type struct value */
/* Declares a member `field` of type struct named_values. */
#define RECORD_NAMED_VALUES(type, field, key, ...)                                                 \
	RECORD_MAP(type, field.items, field.count, named_value_record, key, ##__VA_ARGS__)

/* Strings are borrowed from the tree. */
enum status value_from_json(const struct json_at *at, struct value *value, struct error *err);

/* The items of an empty list are not NULL, either, which distinguishes it from an absent list. */
struct named_values named_values_new(size_t count);
void named_values_release(struct named_values *values);
void named_values_put(struct named_values *values, size_t index, const char *name,
	struct value value); /* index < count of named_values_new() */
/* Appends a copy of the value. */
void named_values_add(struct named_values *values, const char *name, struct value value);
/* Returns whether both have the same names and values, in any order. */
bool named_values_equal(const struct named_values *a, const struct named_values *b);
/* Returns the values of `all`, in order, that `values` lacks or that differ in `values`. */
struct named_values named_values_difference(
	const struct named_values *all, const struct named_values *values);
/* Returns `all` with the values of `changed` for the names that it contains. */
struct named_values named_values_changed(
	const struct named_values *all, const struct named_values *changed);
/* Appends e.g. "M=4096,dtype=bf16" for the separator ",". */
void named_values_format(
	const struct named_values *values, const char *separator, struct text *text);
/* uses the separator ","; caller frees */
char *named_values_text(const struct named_values *values);
struct json *named_values_to_json(const struct named_values *values);

#endif
