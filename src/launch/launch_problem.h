/* SPDX-License-Identifier: MIT
 *
 * Implements tiletune_launch.h: finding the entry for a problem.
 */
#ifndef TILETUNE_LAUNCH_PROBLEM_H
#define TILETUNE_LAUNCH_PROBLEM_H

#include "launch_bundle.h"

struct ttl_problem {
	const char *values[TTL_KEYS_MAX]; /* NULL: not named */
	size_t lengths[TTL_KEYS_MAX];
	int64_t numbers[TTL_KEYS_MAX];
};

static enum ttl_status ttl_parse(const struct ttl_bundle *b, const struct ttl_operation *operation,
	const char *text, struct ttl_problem *problem, struct ttl_error *err)
{
	memset(problem, 0, sizeof(*problem));
	while (*text) {
		const size_t length = strcspn(text, ","), name = strcspn(text, "=,");
		const char *value = text + name + 1;
		uint32_t k = 0;
		char *end;

		while (k < operation->keys.count) {
			const char *key = b->texts + b->keys[operation->keys.first + k].name;

			if (strlen(key) == name && memcmp(key, text, name) == 0)
				break;
			k++;
		}
		if (k == operation->keys.count || name == length)
			return ttl_fail(err, TTL_BAD_ARGUMENT, "%s: expected KEY=VALUE, found %.*s",
				b->texts + operation->name, (int)length, text);
		problem->values[k] = value;
		problem->lengths[k] = length - name - 1;
		if (!b->keys[operation->keys.first + k].is_text) {
			problem->numbers[k] = strtoll(value, &end, 10);
			if (end == value || end != text + length)
				return ttl_fail(err, TTL_BAD_ARGUMENT,
					"%s: expected an integer, found %.*s",
					b->texts + operation->name, (int)length, text);
		}
		text += length + (text[length] == ',');
	}
	return TTL_OK;
}

static int ttl_match(const struct ttl_bundle *b, const struct ttl_operation *operation,
	const struct ttl_entry *entry, const struct ttl_problem *problem)
{
	for (uint32_t k = 0; k < operation->keys.count; k++) {
		const struct ttl_size *size = &b->sizes[entry->sizes.first + k];

		if (!problem->values[k]) {
			if (!size->is_default)
				return 0;
		} else if (b->keys[operation->keys.first + k].is_text) {
			const char *text = b->texts + size->value;

			if (strlen(text) != problem->lengths[k] ||
				memcmp(text, problem->values[k], problem->lengths[k]) != 0)
				return 0;
		} else if (problem->numbers[k] != size->value) {
			return 0;
		}
	}
	return 1;
}

enum ttl_status ttl_find(const struct ttl_bundle *bundle, const char *operation,
	const char *problem, const struct ttl_entry **entry, struct ttl_error *err)
{
	const struct ttl_operation *at = bundle->operations;
	const struct ttl_operation *end = at + bundle->operations_count;
	struct ttl_problem wanted;

	*entry = NULL;
	while (at < end && strcmp(bundle->texts + at->name, operation) != 0)
		at++;
	if (at == end)
		return ttl_fail(
			err, TTL_BAD_ARGUMENT, "%s: the bundle has no such operation", operation);
	TTL_TRY(ttl_parse(bundle, at, problem, &wanted, err));
	for (uint32_t i = 0; i < at->entries.count && !*entry; i++) {
		const struct ttl_entry *candidate = &bundle->entries[at->entries.first + i];

		if (!candidate->is_default && ttl_match(bundle, at, candidate, &wanted))
			*entry = candidate;
	}
	return *entry ? TTL_OK
		      : ttl_fail(err, TTL_NOT_FOUND, "%s %s: the bundle has no entry for it",
				operation, problem);
}

#endif
