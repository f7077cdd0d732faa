/* SPDX-License-Identifier: MIT
 *
 * Addresses of shared-memory accesses depend on a few values (a pitch, a swizzle), candidates on
 * many: a small direct-mapped table.
 */
#include <string.h>

#include "candidate/bound_model.h"

void access_memo_init(struct access_memo *memo, const struct expression *address, size_t lane_slot)
{
	size_t count;
	const int *slots = expression_slots(address, &count);

	memo->usable = count <= MEMO_SLOTS_MAX + 1;
	for (size_t i = 0; i < count && memo->usable; i++) {
		if ((size_t)slots[i] == lane_slot)
			continue;
		memo->usable = memo->slot_count < MEMO_SLOTS_MAX;
		if (memo->usable)
			memo->slots[memo->slot_count++] = slots[i];
	}
}

struct memo_entry *access_memo_find(struct access_memo *memo, const struct value *values)
{
	int64_t key[MEMO_SLOTS_MAX] = {0};
	uint64_t mixed = 0;
	struct memo_entry *entry;

	if (!memo->usable)
		return NULL;
	for (size_t i = 0; i < memo->slot_count; i++) {
		const struct value *value = &values[memo->slots[i]];

		if (value->type != VALUE_INT && value->type != VALUE_BOOL)
			return NULL;
		key[i] = value->type == VALUE_INT ? value->integer : value->boolean;
		mixed = (mixed ^ (uint64_t)key[i]) * 0x9e3779b97f4a7c15u;
		mixed ^= mixed >> 29;
	}
	entry = &memo->entries[mixed % MEMO_ENTRIES];
	if (entry->used && memcmp(entry->key, key, sizeof(key)) == 0)
		return entry;
	entry->used = false;
	memcpy(entry->key, key, sizeof(key));
	return entry;
}
