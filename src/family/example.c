/* SPDX-License-Identifier: MIT
 *
 * Examples of a family: configurations that its author says are legal, or not.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "family/family.h"

static enum status read_examples(const struct json_at *examples, const char *key, bool is_legal,
	struct family *family, struct error *err)
{
	static const char *const keys[] = {"problem", "config", "why", NULL};
	struct json_at list;

	if (!json_find(examples, key, &list))
		return STATUS_OK;
	if (json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	family->examples = memory_resize(family->examples,
		family->example_count + json_count(&list) + 1, sizeof(*family->examples));
	for (size_t i = 0; i < json_count(&list); i++) {
		struct json_at at = json_item(&list, i), config;
		struct example *example = &family->examples[family->example_count++];
		const char *why;

		*example = (struct example){.is_legal = is_legal, .index = i};
		if (json_expect_keys(&at, keys, err) != STATUS_OK ||
			json_member_string(&at, "problem", &example->problem, err) != STATUS_OK ||
			json_member(&at, "config", &config, err) != STATUS_OK ||
			json_expect(&config, JSON_OBJECT, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		if (!is_legal && json_member_string(&at, "why", &why, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

enum status family_examples_read(
	const struct json_at *root, struct family *family, struct error *err)
{
	static const char *const keys[] = {"legal", "illegal", NULL};
	struct json_at examples;

	if (!json_find(root, "examples", &examples))
		return STATUS_OK;
	if (json_expect_keys(&examples, keys, err) != STATUS_OK ||
		read_examples(&examples, "legal", true, family, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return read_examples(&examples, "illegal", false, family, err);
}
