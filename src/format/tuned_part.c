/* SPDX-License-Identifier: MIT */
#include "format/tuned_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- problems ---- */
/* Whether the texts are of different values; numbers have many forms. */
static bool differs(const struct json_text *text, const struct value *value)
{
	const size_t length = (size_t)(text->end - text->at);

	if (value->type == VALUE_STRING)
		return *text->at == '"' && !json_text_is(text, value->string);
	return value->type == VALUE_INT && length < 18 &&
	       strspn(text->at, "0123456789") == length &&
	       strtoll(text->at, NULL, 10) != value->integer;
}

/* Keys that the entry lacks may have their defaults. */
static bool may_be(struct json_text entry, const struct problem *problem)
{
	const struct operation *operation = problem->operation;
	struct json_text key, value;

	while (json_text_next(&entry, &key, &value))
		for (size_t i = 0; i < operation->key_count; i++)
			if (json_text_is(&key, operation->keys[i].name) &&
				differs(&value, &problem->values[i]))
				return false;
	return true;
}

static bool is_asked(const struct json_text *problem, const struct tuned_part *part)
{
	for (size_t i = 0; i < part->problems->count; i++)
		if (may_be(*problem, part->problems->items[i]))
			return true;
	return false;
}

/* ---- rows ---- */
/* What tuned_choice_record reads of a row is new. */
static bool add_row(struct tuned_part *part, struct json_text row)
{
	struct json_text key, value;
	uint64_t hash = 1;

	while (json_text_next(&row, &key, &value))
		if (json_text_is(&key, "family") || json_text_is(&key, "configuration"))
			hash = hash_bytes(value.at, (size_t)(value.end - value.at), hash);
	return hash_set_add(&part->seen, hash);
}

/* One row, or a list of them. */
static bool add_rows(struct tuned_part *part, struct json_text rows)
{
	struct json_text none, row;
	bool added = false;

	if (*rows.at != '[')
		return add_row(part, rows);
	while (json_text_next(&rows, &none, &row))
		added |= add_row(part, row);
	return added;
}

/* ---- entries ---- */
bool tuned_part_wants(const struct json_text *entry, void *context)
{
	struct tuned_part *part = context;
	const char *wanted = objective_names[part->objective];
	struct json_text rest = *entry, rows[3], key, value;
	bool right = part->objective == OBJECTIVE_TIME, asked = true, has_new = false;
	size_t count = 0;

	if (memchr(entry->at, '\\', (size_t)(entry->end - entry->at)))
		return true; /* a name may be spelt in other ways */
	while (json_text_next(&rest, &key, &value)) {
		if (json_text_is(&key, "operation") && !json_text_is(&value, part->operation))
			return false;
		if (json_text_is(&key, "objective"))
			right = json_text_is(&value, wanted);
		if (json_text_is(&key, "problem"))
			asked = is_asked(&value, part);
		if (!asked && !part->rows)
			return false;
		if (json_text_is(&key, "winner") || json_text_is(&key, "families") ||
			json_text_is(&key, "tied")) {
			if (count == ARRAY_COUNT(rows))
				return true; /* refused */
			rows[count++] = value;
		}
	}
	for (size_t i = 0; i < count && right && part->rows; i++)
		has_new |= add_rows(part, rows[i]);
	return right && (asked || has_new);
}
