/* SPDX-License-Identifier: MIT
 *
 * Keywords of a schema that look into arrays and objects.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/schema_check.h"

/* ---- arrays ---- */
enum status schema_items(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	enum status status = STATUS_OK;

	(void)schema;
	if (json_type(keyword) == JSON_ARRAY)
		return schema_broken(keyword, err, "one schema for all items");
	if (json_type(value) != JSON_ARRAY)
		return STATUS_OK;
	for (size_t i = 0; i < json_count(value) && status == STATUS_OK; i++) {
		struct json_at item = json_item(value, i);

		status = schema_walk_check(walk, keyword, &item, err);
	}
	return status;
}

/* Items or members, at least or at most so many. */
static enum status check_count(const struct json_at *keyword, const struct json_at *value,
	enum json_type type, bool upper, struct error *err)
{
	const char *words = type == JSON_ARRAY ? "items" : "members";
	int64_t limit;

	if (json_get_int(keyword, &limit, NULL) != STATUS_OK || limit < 0)
		return schema_broken(keyword, err, "an integer of at least 0");
	if (json_type(value) != type ||
		(upper ? (int64_t)json_count(value) <= limit : (int64_t)json_count(value) >= limit))
		return STATUS_OK;
	return json_error(value, err, "at %s %lld %s (%zu are there)", upper ? "most" : "least",
		(long long)limit, words, json_count(value));
}

#define COUNT(function, type, upper)                                                               \
	enum status function(struct schema_walk *walk, const struct json_at *schema,               \
		const struct json_at *keyword, const struct json_at *value, struct error *err)     \
	{                                                                                          \
		(void)walk, (void)schema;                                                          \
		return check_count(keyword, value, type, upper, err);                              \
	}
COUNT(schema_min_items, JSON_ARRAY, false)
COUNT(schema_max_items, JSON_ARRAY, true)
COUNT(schema_min_properties, JSON_OBJECT, false)
COUNT(schema_max_properties, JSON_OBJECT, true)

enum status schema_unique_items(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	bool unique = false;

	(void)walk, (void)schema;
	if (json_get_bool(keyword, &unique, NULL) != STATUS_OK)
		return schema_broken(keyword, err, "a boolean");
	if (!unique || json_type(value) != JSON_ARRAY)
		return STATUS_OK;
	for (size_t i = 1; i < json_count(value); i++)
		for (size_t k = 0; k < i; k++) {
			struct json_at a = json_item(value, i), b = json_item(value, k);

			if (schema_same(&a, &b))
				return json_error(&a, err, "an item that is not there yet");
		}
	return STATUS_OK;
}

/* ---- objects ---- */
enum status schema_properties(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	enum status status = STATUS_OK;

	(void)schema;
	if (json_type(keyword) != JSON_OBJECT)
		return schema_broken(keyword, err, "an object");
	if (json_type(value) != JSON_OBJECT)
		return STATUS_OK;
	for (size_t i = 0; i < json_count(keyword) && status == STATUS_OK; i++) {
		struct json_at property = json_item(keyword, i), member;

		if (json_find(value, property.key, &member))
			status = schema_walk_check(walk, &property, &member, err);
	}
	return status;
}

enum status schema_required(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	(void)walk, (void)schema;
	if (json_type(keyword) != JSON_ARRAY)
		return schema_broken(keyword, err, "an array of names");
	for (size_t i = 0; json_type(value) == JSON_OBJECT && i < json_count(keyword); i++) {
		struct json_at item = json_item(keyword, i), member;
		const char *name;

		if (json_get_string(&item, &name, NULL) != STATUS_OK)
			return schema_broken(&item, err, "a name");
		if (!json_find(value, name, &member))
			return json_error(value, err, "a member \"%s\"", name);
	}
	return STATUS_OK;
}

/* Whether a pattern of the list (an object of patterns) is for this name. */
static enum status any_pattern(
	const struct json_at *patterns, const char *name, bool *found, struct error *err)
{
	*found = false;
	for (size_t i = 0; i < json_count(patterns) && !*found; i++) {
		struct json_at pattern = json_item(patterns, i);
		bool broken;

		*found = schema_matches(pattern.key, name, &broken);
		if (broken)
			return schema_broken(
				&pattern, err, "a POSIX extended regular expression as its name");
	}
	return STATUS_OK;
}

/* A member that nobody knows, with the nearest of those that are known. */
static enum status unknown_member(
	const struct json_at *member, const struct json_at *properties, struct error *err)
{
	size_t count = properties ? json_count(properties) : 0;
	const char **names = memory_zeroed(count + 1, sizeof(*names));
	const char *nearest;

	for (size_t i = 0; i < count; i++)
		names[i] = json_item(properties, i).key;
	nearest = name_nearest(member->key, names);
	json_error(member, err, "a known member here");
	if (nearest)
		error_hint(err, "did you mean \"%s\"?", nearest);
	free(names);
	return STATUS_BAD_INPUT;
}

enum status schema_additional(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	struct json_at properties, patterns, known;
	bool has_properties = json_find(schema, "properties", &properties);
	bool has_patterns = json_find(schema, "patternProperties", &patterns);
	enum status status = STATUS_OK;

	if (json_type(value) != JSON_OBJECT)
		return STATUS_OK;
	for (size_t i = 0; i < json_count(value) && status == STATUS_OK; i++) {
		struct json_at member = json_item(value, i);
		bool matched = false;

		if (has_properties && json_find(&properties, member.key, &known))
			continue;
		if (has_patterns)
			status = any_pattern(&patterns, member.key, &matched, err);
		if (status != STATUS_OK || matched)
			continue;
		if (json_type(keyword) == JSON_BOOL) {
			bool allowed = false;

			json_get_bool(keyword, &allowed, NULL);
			if (!allowed)
				return unknown_member(
					&member, has_properties ? &properties : NULL, err);
		} else {
			status = schema_walk_check(walk, keyword, &member, err);
		}
	}
	return status;
}

enum status schema_pattern_properties(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	enum status status = STATUS_OK;

	(void)schema;
	if (json_type(keyword) != JSON_OBJECT)
		return schema_broken(keyword, err, "an object");
	if (json_type(value) != JSON_OBJECT)
		return STATUS_OK;
	for (size_t p = 0; p < json_count(keyword); p++) {
		struct json_at pattern = json_item(keyword, p);

		for (size_t i = 0; i < json_count(value) && status == STATUS_OK; i++) {
			struct json_at member = json_item(value, i);
			bool broken;

			if (schema_matches(pattern.key, member.key, &broken))
				status = schema_walk_check(walk, &pattern, &member, err);
			if (broken)
				return schema_broken(&pattern, err,
					"a POSIX extended regular expression as its name");
		}
	}
	return status;
}

enum status schema_property_names(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	enum status status = STATUS_OK;

	(void)schema;
	if (json_type(value) != JSON_OBJECT)
		return STATUS_OK;
	for (size_t i = 0; i < json_count(value) && status == STATUS_OK; i++) {
		struct json_at member = json_item(value, i), name = member;
		struct json *text = json_new_string(member.key);

		name.node = text;
		status = schema_walk_check(walk, keyword, &name, err);
		if (status == STATUS_BAD_INPUT)
			error_context(err, "the name of a member");
		json_free(text);
	}
	return status;
}
