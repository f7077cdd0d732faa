/* SPDX-License-Identifier: MIT
 *
 * The part of a tuned file that a lookup needs: the entries of the problems that are asked for, and
 * where these do not answer, of the operation's entries each that has a row which no earlier one
 * has. Others are told by their text and never parsed.
 *
 *	tuned_load_wanted(path, tuned_part_wants, &part, &tuned, &err)
 */
#ifndef FORMAT_TUNED_PART_H
#define FORMAT_TUNED_PART_H

#include "base/hash.h"
#include "base/json_elements.h"
#include "family/problem.h"
#include "format/tuned_entry.h"

struct tuned_part {
	const char *operation;
	enum objective objective;
	const struct problem_list *problems;
	bool rows; /* also entries that have a new one */
	struct hash_set seen;
};

/* context: a struct tuned_part. What cannot be told is wanted. */
bool tuned_part_wants(const struct json_text *entry, void *context);
static inline void tuned_part_release(struct tuned_part *part)
{
	hash_set_release(&part->seen);
}

#endif
