/* SPDX-License-Identifier: MIT
 *
 * Reading "keys" of an operation: names must be free, defaults must not wait for each other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/operation.h"
#include "family/scope.h"

/* Device names and extras are visible beside keys, so that a key must not be called as they are. */
static enum status check_names(
	const struct json_at *keys, const struct operation *operation, struct error *err)
{
	struct scope scope;
	enum status status = STATUS_OK;

	scope_init(&scope, NULL, 0);
	for (size_t i = 0; i < operation->key_count && status == STATUS_OK; i++) {
		const struct key *key = &operation->keys[i];
		struct json_at at = json_item(keys, i);

		if (scope_find(&scope, key->name) >= 0)
			status = json_error(
				&at, err, "a name that is not the device's or the model's");
		for (size_t a = 0; a < key->alias_count && status == STATUS_OK; a++)
			for (size_t p = 0; p < key->aliases[a].parts.count; p++)
				if (name_table_find(&operation->key_names,
					    key->aliases[a].parts.names[p]) != NAME_UNKNOWN)
					status = json_error(&at, err,
						"aliases of names that are no keys themselves");
	}
	scope_release(&scope);
	return status;
}

static enum status read_defaults(
	const struct json_at *keys, struct operation *operation, struct error *err)
{
	for (size_t i = 0; i < operation->key_count; i++) {
		struct json_at at = json_item(keys, i);

		if (expression_json_member_if(&at, "default", &operation->key_names,
			    &operation->keys[i].default_value, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

static bool is_ready(const struct key *key, const bool *placed)
{
	size_t count = 0;
	const int *slots = key->default_value ? expression_slots(key->default_value, &count) : NULL;

	for (size_t i = 0; i < count; i++)
		if (!placed[slots[i]])
			return false;
	return true;
}

/* Keys in an order in which every default finds what it reads. */
static enum status order_defaults(
	const struct json_at *keys, struct operation *operation, struct error *err)
{
	bool *placed = memory_zeroed(operation->key_count + 1, sizeof(*placed));
	size_t count = 0, before;

	operation->default_order =
		memory_zeroed(operation->key_count + 1, sizeof(*operation->default_order));
	do {
		before = count;
		for (size_t i = 0; i < operation->key_count; i++) {
			if (!placed[i] && is_ready(&operation->keys[i], placed)) {
				operation->default_order[count++] = i;
				placed[i] = true;
			}
		}
	} while (count > before);
	for (size_t i = 0; count < operation->key_count && i < operation->key_count; i++) {
		struct json_at at = json_item(keys, i), value;

		if (placed[i])
			continue;
		json_find(&at, "default", &value);
		free(placed);
		return json_error(&value, err, "a default that does not wait for itself");
	}
	free(placed);
	return STATUS_OK;
}

enum status operation_keys_read(
	const struct json_at *root, struct operation *operation, struct error *err)
{
	struct json_at keys;

	if (json_member(root, "keys", &keys, err) != STATUS_OK ||
		json_expect(&keys, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_count(&keys) == 0)
		return json_error(&keys, err, "at least one key");
	operation->key_count = json_count(&keys);
	operation->keys = memory_zeroed(operation->key_count, sizeof(*operation->keys));
	for (size_t i = 0; i < operation->key_count; i++) {
		struct json_at at = json_item(&keys, i);

		if (key_read(&at, &operation->keys[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		name_table_add(&operation->key_names, operation->keys[i].name);
	}
	if (check_names(&keys, operation, err) != STATUS_OK ||
		read_defaults(&keys, operation, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return order_defaults(&keys, operation, err);
}
