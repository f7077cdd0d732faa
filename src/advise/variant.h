/* SPDX-License-Identifier: MIT
 *
 * Problems near an asked one, by the operation's "advise" (family/operation.h): sizes rounded up or
 * down to multiples, pitches rounded up.
 */
#ifndef ADVISE_VARIANT_H
#define ADVISE_VARIANT_H

#include "family/catalogue.h"

enum variant_kind {
	VARIANT_PAD,    /* filled up with zeros; holds the asked result */
	VARIANT_PITCH,  /* the same work, rows further apart */
	VARIANT_CHOOSE, /* another, larger problem: if the model's size is free */
	VARIANT_SHRINK, /* another, smaller problem */
	VARIANT_KIND_COUNT
};
extern const char *const variant_kind_names[];

enum {
	VARIANT_CHANGES_MAX = 8
};

struct variant_change {
	size_t key;       /* of the operation */
	const char *name; /* its name, borrowed */
	int64_t from, to;
};

struct variant {
	enum variant_kind kind;
	struct variant_change changes[VARIANT_CHANGES_MAX];
	size_t change_count;
	struct problem *problem; /* owned */
};

struct variant_list {
	struct variant *items;
	size_t count, capacity;
};

/* text: how the problem was asked for ("M=1024,N=1793,..."): a key that it leaves out follows the
 * changes (a packed pitch grows with its row), one that it names stays. Errors: an operation
 * without "advise". */
enum status variants_make(const struct problem *asked, const char *text, struct variant_list *list,
	struct error *err);
void variant_list_release(struct variant_list *list);

/* "N 1793 -> 1800, ldb 1793 -> 1800" */
void variant_describe(const struct variant *variant, struct text *text);

/* How often two divides the sizes that may change, a cache line of bytes and more not counted. */
int variant_roundness(const struct problem *problem);
/* given[i] is set for each key that the text of a problem names. */
void variant_find_given(const struct operation *operation, const char *text, bool *given);

#endif
