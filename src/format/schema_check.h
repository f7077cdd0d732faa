/* SPDX-License-Identifier: MIT
 *
 * Inside results/schema*.c only: one keyword's check.
 */
#ifndef FORMAT_SCHEMA_CHECK_H
#define FORMAT_SCHEMA_CHECK_H

#include "format/schema.h"

struct schema_walk {
	const struct json_at *root; /* of the schema, for $ref */
	int depth;                  /* of schemas inside each other */
};

/* schema: the object that holds the keyword; keyword: its value. */
typedef enum status schema_keyword(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err);

/* value against one (sub)schema. */
enum status schema_walk_check(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *value, struct error *err);
/* The error of a schema that is not what we understand. */
enum status schema_broken(const struct json_at *keyword, struct error *err, const char *expected);
bool schema_same(const struct json_at *a, const struct json_at *b);
bool schema_matches(const char *pattern, const char *text, bool *broken);

/* schema_value.c: numbers, strings, enumerations */
schema_keyword schema_type, schema_enum, schema_const, schema_minimum, schema_maximum,
	schema_exclusive_minimum, schema_exclusive_maximum, schema_min_length, schema_max_length,
	schema_pattern;
/* schema_container.c: arrays and objects */
schema_keyword schema_items, schema_min_items, schema_max_items, schema_unique_items,
	schema_properties, schema_required, schema_additional, schema_pattern_properties,
	schema_property_names, schema_min_properties, schema_max_properties;

#endif
