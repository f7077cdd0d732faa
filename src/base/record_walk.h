/* SPDX-License-Identifier: MIT
 *
 * Inside base/record*.c only: how a struct is walked by its table.
 */
#ifndef BASE_RECORD_WALK_H
#define BASE_RECORD_WALK_H

#include "base/record.h"

/* The members of one JSON object: those of flattened records among them. */
struct record_slot {
	const struct record *record; /* that the member stands in */
	const struct record_member *member;
	size_t base; /* offset of that record's struct */
};

struct record_slots {
	struct record_slot items[RECORD_MEMBERS_MAX];
	size_t count;
};

void record_slots_fill(const struct record *record, struct record_slots *slots);

/* Whether JSON has the member, by its own name. */
bool record_is_json(const struct record_member *member);

struct record_span {
	char *data;
	size_t count;
};

/* The items of a member in the struct at base. */
struct record_span record_span(const struct record_member *member, const void *base);
/* Makes room for so many items in a list or behind a pointer, zeroed; NULL if an inline array has
 * another length, or if another list that shares the count has. */
char *record_room(
	const struct record *record, const struct record_member *member, void *base, size_t count);
bool record_is_absent(const struct record_member *member, const void *base);
bool record_item_is_absent(const struct record_member *member, const void *item);
void record_set_absent(const struct record_member *member, void *base);
void record_set_present(const struct record_member *member, void *base);
void record_item_release(const struct record_member *member, void *item);

/* Integers, enums and bools as 64 bits; size: of the item. */
int64_t record_load(const struct record_member *member, const void *item);
void record_store(const struct record_member *member, void *item, int64_t value);
double record_load_real(const struct record_member *member, const void *item);
void record_store_real(const struct record_member *member, void *item, double value);

size_t record_name_count(const char *const *names);
bool record_has_range(const struct record_member *member);
/* Whether the value is one that the member may have. */
bool record_allows(const struct record_member *member, int64_t value);
bool record_allows_real(const struct record_member *member, double value);

#endif
