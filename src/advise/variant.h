/* SPDX-License-Identifier: MIT
 *
 * Makes problems near a given one, as the operation's "advise" member allows: sizes are rounded
 * up or down to multiples, pitches are rounded up.
 */
#ifndef ADVISE_VARIANT_H
#define ADVISE_VARIANT_H

#include "family/catalogue.h"

enum variant_kind {
	VARIANT_PAD,    /* padded with zeros; the output contains the result */
	VARIANT_PITCH,  /* the same work with a larger distance between rows */
	VARIANT_CHOOSE, /* a larger problem, if sizes can be chosen */
	VARIANT_SHRINK, /* a smaller problem */
	VARIANT_KIND_COUNT
};
extern const char *const variant_kind_names[];

enum {
	VARIANT_CHANGES_MAX = 8
};

struct variant_change {
	size_t key;       /* index in the operation */
	const char *name; /* name of the key, borrowed */
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

/* Keys that `text` (the problem as the user wrote it) names stay; others follow the changes, as a
 * packed pitch grows with its row. Fails if the operation has no "advise". */
enum status variants_make(const struct problem *asked, const char *text, struct variant_list *list,
	struct error *err);
void variant_list_release(struct variant_list *list);

/* Appends "N 1793 -> 1800, ldb 1793 -> 1800". */
void variant_describe(const struct variant *variant, struct text *text);

/* The number of factors 2 in the sizes that may change, at most 7 for each size. */
int variant_roundness(const struct problem *problem);
/* Sets given[i] for each key that the text names. */
void variant_find_given(const struct operation *operation, const char *text, bool *given);

#endif
