/* SPDX-License-Identifier: MIT
 *
 * Selects the entries of a tuned file to export.
 */
#include "export/export.h"

#include <string.h>

#include "base/format_text.h"
#include "base/memory.h"

/* Returns whether the text names keys of the operation, but not a whole problem. */
static bool is_part(const struct operation *operation, const char *text)
{
	struct pair pair;

	while (pair_next(&text, &pair)) {
		CLEANUP(memory_free)
		char *name = string_copy_bytes(pair.name, (size_t)pair.name_length);
		size_t i = 0;

		while (i < operation->key_count && strcmp(operation->keys[i].name, name) != 0)
			i++;
		if (i == operation->key_count || pair.value[-1] != '=')
			return false;
	}
	return true;
}

static bool has_part(const char *problem, const char *text)
{
	struct pair wanted, pair;

	while (pair_next(&text, &wanted)) {
		CLEANUP(memory_free)
		char *name = string_copy_bytes(wanted.name, (size_t)wanted.name_length);

		if (!pair_find(problem, name, &pair) || pair.value_length != wanted.value_length ||
			memcmp(pair.value, wanted.value, (size_t)pair.value_length) != 0)
			return false;
	}
	return true;
}

static bool has_parts(const struct tuned_entry *entry, const struct name_set *parts)
{
	CLEANUP(memory_free) char *text = parts->count ? named_values_text(&entry->problem) : NULL;

	for (size_t i = 0; i < parts->count; i++)
		if (has_part(text, parts->items[i]))
			return true;
	return false;
}

static enum status read_problems(const struct operation *operation, const char *const *texts,
	size_t count, struct problem_list *problems, struct name_set *parts, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const enum status status = problem_parse(operation, texts[i], problems, err);

		if (status != STATUS_OK && !is_part(operation, texts[i]))
			return status;
		if (status != STATUS_OK)
			name_set_add(parts, texts[i], strlen(texts[i]));
	}
	return STATUS_OK;
}

enum status export_choose(const struct operation *operation, const char *const *texts, size_t count,
	struct problem_list *problems, bool predicts, struct export_source *source,
	struct error *err)
{
	const struct tuned *tuned = source->tuned;
	CLEANUP(memory_free) bool *wanted = memory_zeroed(tuned->entry_count + 1, sizeof(*wanted));
	CLEANUP(name_set_release) struct name_set parts = {0};

	if (operation)
		TRY(read_problems(operation, texts, count, problems, &parts, err));
	source->entries = memory_zeroed(tuned->entry_count + 1, sizeof(*source->entries));
	source->untuned = memory_zeroed(problems->count + 1, sizeof(*source->untuned));
	for (size_t i = 0; i < problems->count; i++) {
		const struct tuned_entry *entry =
			tuned_find_problem(tuned, problems->items[i], source->objective);

		if (entry)
			wanted[entry - tuned->entries] = true;
		else if (predicts)
			source->untuned[source->untuned_count++] = problems->items[i];
	}
	for (size_t i = 0; i < tuned->entry_count; i++) {
		struct tuned_entry *entry = &tuned->entries[i];

		if (entry->objective != source->objective ||
			(operation && strcmp(entry->operation, operation->name) != 0) ||
			((problems->count || parts.count) && !wanted[i] &&
				!has_parts(entry, &parts)))
			continue;
		source->entries[source->entry_count++] = entry;
	}
	return STATUS_OK;
}
