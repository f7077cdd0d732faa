/* SPDX-License-Identifier: MIT */
#include "format/schema_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	SCHEMA_DEPTH_MAX = 256 /* a $ref that leads to itself ends here */
};

enum status schema_broken(const struct json_at *keyword, struct error *err, const char *expected)
{
	json_error(keyword, err, "%s", expected);
	if (err)
		err->status = STATUS_FAILED;
	return STATUS_FAILED;
}

/* How far down a value an error lies: of several alternatives that all fail, the one that failed
 * last is the one that was meant. */
static size_t error_depth(const struct error *err)
{
	const char *path = strstr(err->message, ": $");
	size_t depth = 0;

	for (path = path ? path + 2 : ""; *path && *path != ':'; path++)
		depth += *path == '.' || *path == '[';
	return depth;
}

/* How many of the schemas in the list fit; the best of the errors in `closest`. */
static enum status try_all(struct schema_walk *walk, const struct json_at *list,
	const struct json_at *value, size_t *fitting, struct error *closest, struct error *err)
{
	*fitting = 0;
	if (json_type(list) != JSON_ARRAY || !json_count(list))
		return schema_broken(list, err, "an array of schemas");
	for (size_t i = 0; i < json_count(list); i++) {
		struct json_at schema = json_item(list, i);
		struct error reason = {0};
		enum status status = schema_walk_check(walk, &schema, value, &reason);

		if (status == STATUS_FAILED) {
			*err = reason;
			return status;
		}
		*fitting += status == STATUS_OK;
		if (status != STATUS_OK &&
			(!closest->message[0] || error_depth(&reason) > error_depth(closest)))
			*closest = reason;
	}
	return STATUS_OK;
}

static enum status check_any_of(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	struct error closest = {0};
	size_t fitting;
	enum status status = try_all(walk, keyword, value, &fitting, &closest, err);

	(void)schema;
	if (status != STATUS_OK || fitting)
		return status;
	if (err)
		*err = closest;
	return closest.status;
}

static enum status check_one_of(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	struct error closest = {0};
	size_t fitting;
	enum status status = try_all(walk, keyword, value, &fitting, &closest, err);

	(void)schema;
	if (status != STATUS_OK || fitting == 1)
		return status;
	if (fitting > 1)
		return json_error(value, err, "exactly one of %zu forms (%zu fit)",
			json_count(keyword), fitting);
	if (err)
		*err = closest;
	return closest.status;
}

static enum status check_all_of(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	enum status status = STATUS_OK;

	(void)schema;
	if (json_type(keyword) != JSON_ARRAY)
		return schema_broken(keyword, err, "an array of schemas");
	for (size_t i = 0; i < json_count(keyword) && status == STATUS_OK; i++) {
		struct json_at part = json_item(keyword, i);

		status = schema_walk_check(walk, &part, value, err);
	}
	return status;
}

static enum status check_not(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	struct error reason = {0};
	enum status status = schema_walk_check(walk, keyword, value, &reason);

	(void)schema;
	if (status == STATUS_FAILED) {
		*err = reason;
		return status;
	}
	return status == STATUS_OK ? json_error(value, err, "something else here") : STATUS_OK;
}

static enum status check_if(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	struct error reason = {0};
	enum status status = schema_walk_check(walk, keyword, value, &reason);
	struct json_at branch;

	if (status == STATUS_FAILED) {
		*err = reason;
		return status;
	}
	return json_find(schema, status == STATUS_OK ? "then" : "else", &branch)
		       ? schema_walk_check(walk, &branch, value, err)
		       : STATUS_OK;
}

static enum status check_ref(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	struct json_at definitions, target;
	const char *name;

	(void)schema;
	if (json_get_string(keyword, &name, NULL) != STATUS_OK)
		return schema_broken(keyword, err, "a string");
	if (strcmp(name, "#") == 0)
		return schema_walk_check(walk, walk->root, value, err);
	if (!string_starts_with(name, "#/definitions/") ||
		!json_find(walk->root, "definitions", &definitions) ||
		!json_find(&definitions, name + strlen("#/definitions/"), &target))
		return schema_broken(keyword, err, "\"#/definitions/NAME\" that is there");
	return schema_walk_check(walk, &target, value, err);
}

/* What is checked as part of another keyword, or is a note. */
static enum status check_nothing(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	(void)walk, (void)schema, (void)keyword, (void)value, (void)err;
	return STATUS_OK;
}

/* In the order of checking: what kind of thing it is comes first. */
static const struct {
	const char *name;
	schema_keyword *check;
} keywords[] = {
	{"$ref", check_ref},
	{"type", schema_type},
	{"const", schema_const},
	{"enum", schema_enum},
	{"minimum", schema_minimum},
	{"maximum", schema_maximum},
	{"exclusiveMinimum", schema_exclusive_minimum},
	{"exclusiveMaximum", schema_exclusive_maximum},
	{"minLength", schema_min_length},
	{"maxLength", schema_max_length},
	{"pattern", schema_pattern},
	{"required", schema_required},
	{"additionalProperties", schema_additional},
	{"propertyNames", schema_property_names},
	{"minProperties", schema_min_properties},
	{"maxProperties", schema_max_properties},
	{"properties", schema_properties},
	{"patternProperties", schema_pattern_properties},
	{"minItems", schema_min_items},
	{"maxItems", schema_max_items},
	{"uniqueItems", schema_unique_items},
	{"items", schema_items},
	{"allOf", check_all_of},
	{"anyOf", check_any_of},
	{"oneOf", check_one_of},
	{"not", check_not},
	{"if", check_if},
	{"then", check_nothing},
	{"else", check_nothing},
	{"definitions", check_nothing},
	{"$schema", check_nothing},
	{"$id", check_nothing},
	{"$comment", check_nothing},
	{"title", check_nothing},
	{"description", check_nothing},
	{"default", check_nothing},
	{"examples", check_nothing},
};

static enum status check_keywords_known(const struct json_at *schema, struct error *err)
{
	for (size_t i = 0; i < json_count(schema); i++) {
		struct json_at member = json_item(schema, i);
		size_t k = 0;

		while (k < ARRAY_COUNT(keywords) && strcmp(keywords[k].name, member.key) != 0)
			k++;
		if (k == ARRAY_COUNT(keywords))
			return schema_broken(&member, err, "a keyword of schema.h");
	}
	return STATUS_OK;
}

enum status schema_walk_check(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *value, struct error *err)
{
	enum status status = STATUS_OK;
	struct json_at keyword;
	bool anything;

	if (json_type(schema) == JSON_BOOL) {
		json_get_bool(schema, &anything, NULL);
		return anything ? STATUS_OK : json_error(value, err, "nothing here");
	}
	if (json_type(schema) != JSON_OBJECT)
		return schema_broken(schema, err, "a schema: an object or a boolean");
	if (walk->depth >= SCHEMA_DEPTH_MAX)
		return schema_broken(schema, err, "schemas that end (no circle of $ref)");
	walk->depth++;
	status = check_keywords_known(schema, err);
	/* beside a $ref, draft-07 gives no meaning to anything */
	for (size_t i = 0; i < ARRAY_COUNT(keywords) && status == STATUS_OK; i++)
		if (json_find(schema, keywords[i].name, &keyword)) {
			status = keywords[i].check(walk, schema, &keyword, value, err);
			if (i == 0)
				break;
		}
	walk->depth--;
	return status;
}

enum status schema_check(
	const struct json_at *schema, const struct json_at *value, struct error *err)
{
	struct schema_walk walk = {.root = schema};
	struct error nobody;

	return schema_walk_check(&walk, schema, value, err ? err : &nobody);
}
