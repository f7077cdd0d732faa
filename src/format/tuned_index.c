/* SPDX-License-Identifier: MIT */
#include "format/tuned_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* The same for all orders of the keys. */
static uint64_t hash_of(
	const char *operation, const struct named_values *problem, enum objective objective)
{
	uint64_t hash = hash_bytes(operation, strlen(operation), objective);
	CLEANUP(text_release) struct text item = {0};

	for (size_t i = 0; i < problem->count; i++) {
		text_clear(&item);
		text_appendf(&item, "%s=", problem->items[i].name);
		value_format(problem->items[i].value, &item);
		hash += hash_bytes(item.data, item.length, 0);
	}
	return hash;
}

/* The table is kept at most half full. */
static void add_place(struct tuned_index *index, const struct tuned_entry *entries, size_t number)
{
	const struct tuned_entry *entry = &entries[number];
	size_t at = hash_of(entry->operation, &entry->problem, entry->objective) % index->size;

	while (index->places[at])
		at = (at + 1) % index->size;
	index->places[at] = number + 1;
}

static void catch_up(struct tuned_index *index, const struct tuned_entry *entries, size_t count)
{
	if (index->count > count)
		tuned_index_clear(index);
	if (2 * count >= index->size) {
		tuned_index_clear(index);
		index->size = 4 * count + 15;
		index->places = memory_zeroed(index->size, sizeof(*index->places));
	}
	while (index->count < count)
		add_place(index, entries, index->count++);
}

struct tuned_entry *tuned_index_find(struct tuned_index *index, struct tuned_entry *entries,
	size_t count, const char *operation, const struct named_values *problem,
	enum objective objective)
{
	size_t at;

	catch_up(index, entries, count);
	at = hash_of(operation, problem, objective) % index->size;
	for (; index->places[at]; at = (at + 1) % index->size) {
		struct tuned_entry *entry = &entries[index->places[at] - 1];

		if (entry->objective == objective && strcmp(entry->operation, operation) == 0 &&
			named_values_equal(&entry->problem, problem))
			return entry;
	}
	return NULL;
}

void tuned_index_clear(struct tuned_index *index)
{
	free(index->places);
	*index = (struct tuned_index){0};
}
