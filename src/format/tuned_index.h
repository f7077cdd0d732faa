/* SPDX-License-Identifier: MIT
 *
 * Where the entries of a tuned file stand, by what they are of: operation, problem, objective.
 */
#ifndef FORMAT_TUNED_INDEX_H
#define FORMAT_TUNED_INDEX_H

#include "format/tuned_entry.h"

/* A table with open addressing; entries that were appended are added when something is looked for.
 * Where one got another problem, or went, it is to be cleared. */
struct tuned_index {
	size_t *places; /* 1 + number of the entry; 0: free */
	size_t size, count;
};

/* The first of the entries with this problem, in any order of its keys, and objective, or NULL. */
struct tuned_entry *tuned_index_find(struct tuned_index *index, struct tuned_entry *entries,
	size_t count, const char *operation, const struct named_values *problem,
	enum objective objective);
void tuned_index_clear(struct tuned_index *index);

#endif
