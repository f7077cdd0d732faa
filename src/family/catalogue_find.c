/* SPDX-License-Identifier: MIT
 *
 * Looking things up in a catalogue, and its hash.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/catalogue.h"
#include "family/family.h"

static enum status not_found(
	const char *what, const char *name, const char **names, struct error *err)
{
	const char *nearest = name_nearest(name, names);
	struct text known = {0};

	for (size_t i = 0; names[i]; i++)
		text_appendf(&known, "%s%s", i ? ", " : "", names[i]);
	error_set(err, STATUS_BAD_INPUT, "%s: expected one of %s, found \"%s\"", what,
		known.length ? known.data : "none", name);
	if (nearest)
		error_hint(err, "did you mean \"%s\"?", nearest);
	text_release(&known);
	return STATUS_BAD_INPUT;
}

enum status catalogue_operation(const struct catalogue *catalogue, const char *name,
	const struct operation **operation, struct error *err)
{
	const char **names = memory_zeroed(catalogue->operation_count + 1, sizeof(*names));
	enum status status = STATUS_OK;

	*operation = NULL;
	for (size_t i = 0; i < catalogue->operation_count; i++) {
		names[i] = catalogue->operations[i]->name;
		if (strcmp(names[i], name) == 0)
			*operation = catalogue->operations[i];
	}
	if (!*operation)
		status = not_found("operation", name, names, err);
	free(names);
	return status;
}

enum status catalogue_family(const struct catalogue *catalogue, const struct operation *operation,
	const char *name, const struct family **family, struct error *err)
{
	bool is_full = strchr(name, '/') != NULL || !operation;
	const char **names = memory_zeroed(catalogue->family_count + 1, sizeof(*names));
	size_t count = 0;
	enum status status = STATUS_OK;

	*family = NULL;
	for (size_t i = 0; i < catalogue->family_count; i++) {
		const struct family *one = catalogue->families[i];
		const char *known = is_full ? one->name : strchr(one->name, '/') + 1;

		if (operation && one->operation != operation)
			continue;
		names[count++] = known;
		if (strcmp(known, name) == 0)
			*family = one;
	}
	if (!*family)
		status = not_found("family", name, names, err);
	free(names);
	return status;
}

static void hash_tree(struct hash *hash, const char *name, const struct json *tree)
{
	char *text = json_print(tree, false);

	hash_add_string(hash, name);
	hash_add_string(hash, text);
	free(text);
}

void catalogue_hash(const struct catalogue *catalogue, struct hash *hash)
{
	for (size_t i = 0; i < catalogue->operation_count; i++) {
		const struct operation *operation = catalogue->operations[i];

		hash_tree(hash, operation->name, operation->tree);
		hash_add_string(hash, operation->reference.source);
	}
	for (size_t i = 0; i < catalogue->family_count; i++) {
		const struct family *family = catalogue->families[i];

		hash_tree(hash, family->name, family->tree);
		for (size_t k = 0; k < family->source_count; k++)
			hash_add_string(hash, family->sources[k].text);
	}
}
