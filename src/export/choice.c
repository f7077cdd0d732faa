/* SPDX-License-Identifier: MIT */
#include "export/choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A problem that was asked for. */
struct wanted {
	const char *text; /* canonical */
	bool tuned;       /* the file has it */
};

static int compare_wanted(const void *a, const void *b)
{
	return strcmp(((const struct wanted *)a)->text, ((const struct wanted *)b)->text);
}

static struct wanted *wanted_find(struct wanted *wanted, size_t count, const char *text)
{
	return bsearch(
		&(struct wanted){.text = text}, wanted, count, sizeof(*wanted), compare_wanted);
}

/* "M=4096,dtype=bf16": the next item, its key and its value; false: there is none, or it is no key
 * with a value. */
static bool next_item(char **rest, const char **key, const char **value)
{
	char *item = strsep(rest, ","), *equals = item ? strchr(item, '=') : NULL;

	if (!equals)
		return false;
	*equals = '\0';
	*key = item;
	*value = equals + 1;
	return true;
}

/* Whether the text names keys of the operation, if not all that a problem has. */
static bool is_part(const struct operation *operation, const char *text)
{
	CLEANUP(memory_free) char *copy = string_copy(text);
	const char *key, *value;

	for (char *rest = copy; rest;) {
		size_t i = 0;

		if (!next_item(&rest, &key, &value))
			return false;
		while (i < operation->key_count && strcmp(operation->keys[i].name, key) != 0)
			i++;
		if (i == operation->key_count)
			return false;
	}
	return true;
}

static bool has_part(const struct tuned_entry *entry, const char *text)
{
	CLEANUP(memory_free) char *copy = string_copy(text);
	CLEANUP(text_release) struct text printed = {0};
	const char *key, *wanted;
	char *rest = copy;

	while (rest && next_item(&rest, &key, &wanted)) {
		const struct value *value = named_values_find(&entry->problem, key);

		text_clear(&printed);
		if (value)
			value_format(*value, &printed);
		if (strcmp(text_string(&printed), wanted) != 0)
			return false;
	}
	return true;
}

/* Of an operation's entries those of the problems, which are sorted, and those with the keys of a
 * part; all if there is neither. */
static bool is_wanted(const struct tuned_entry *entry, struct wanted *wanted, size_t count,
	const struct name_set *parts)
{
	CLEANUP(memory_free) char *text = NULL;
	struct wanted *found;

	if (!count && !parts->count)
		return true;
	for (size_t i = 0; i < parts->count; i++)
		if (has_part(entry, parts->items[i]))
			return true;
	text = named_values_text(&entry->problem);
	found = wanted_find(wanted, count, text);
	if (found)
		found->tuned = true;
	return found;
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
	CLEANUP(memory_free) struct wanted *wanted = NULL;
	CLEANUP(name_set_release) struct name_set parts = {0};

	if (operation)
		TRY(read_problems(operation, texts, count, problems, &parts, err));
	wanted = memory_zeroed(problems->count + 1, sizeof(*wanted));
	for (size_t i = 0; i < problems->count; i++)
		wanted[i].text = problems->items[i]->text;
	qsort(wanted, problems->count, sizeof(*wanted), compare_wanted);
	source->entries = memory_zeroed(tuned->entry_count + 1, sizeof(*source->entries));
	for (size_t i = 0; i < tuned->entry_count; i++) {
		const struct tuned_entry *entry = &tuned->entries[i];

		if (entry->objective == source->objective &&
			(!operation || strcmp(entry->operation, operation->name) == 0) &&
			is_wanted(entry, wanted, problems->count, &parts))
			source->entries[source->entry_count++] = entry;
	}
	source->untuned = memory_zeroed(problems->count + 1, sizeof(*source->untuned));
	for (size_t i = 0; predicts && i < problems->count; i++)
		if (!wanted_find(wanted, problems->count, problems->items[i]->text)->tuned)
			source->untuned[source->untuned_count++] = problems->items[i];
	return STATUS_OK;
}
