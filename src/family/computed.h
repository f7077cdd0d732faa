/* SPDX-License-Identifier: MIT
 *
 * Members of a struct that JSON gives as expressions. Numbers in JSON are stored at once; each
 * expression is compiled and appended to a list. To evaluate, run the list on a copy of the struct,
 * which recomputes members whose inputs changed.
 */
#ifndef FAMILY_COMPUTED_H
#define FAMILY_COMPUTED_H

#include "family/expression_json.h"

/* For a record's table: JSON may give the value as an expression that reads names of
 * SCOPE_PLAIN. */
#define COMPUTED .computed = 1 + SCOPE_PLAIN

enum {
	COMPUTED_DIRECT = -1 /* value of `list` for a member of the struct itself */
};

struct computed {
	struct expression *expression;
	ptrdiff_t list; /* offset of the pointer to the list whose item contains the member */
	size_t offset;  /* offset in the struct or from the first item of the list */
	enum record_kind kind;
	size_t size; /* bytes of the member, for integers and enums */
	double low, high;
	const char *const *names;
	const char *expected; /* description of a valid value; NULL: derived from the range */
	size_t repeat;        /* number of values: the lanes of a warp, or 1 */
	int64_t scale;        /* the member stores the value times this factor */
	bool is_condition; /* is the item's `when`, which precedes the members that depend on it */
	bool is_conditional;
	uint64_t reads; /* mask of computed_bit() of the names that the expression reads */
};

struct computed_list {
	struct computed *items;
	size_t count;
};
extern const struct record_custom computed_list_member;
void computed_list_release(struct computed_list *list);

/* Returns a name's bit. `first` is the first name that may change. More than 64 names share
 * bits. */
static inline uint64_t computed_bit(size_t index, size_t first)
{
	return index < first ? 0 : (uint64_t)1 << ((index - first) % 64);
}
#define COMPUTED_ALL UINT64_MAX

/* Appends a member and takes ownership of its expression. The caller sets `list` and `offset`. */
struct computed *computed_add(struct computed_list *list, struct expression *expression,
	const struct record_member *member);
/* Returns a copy specialised by expression_specialise(). `first` has the meaning of
 * computed_bit(). */
struct computed_list computed_specialise(
	const struct computed_list *list, const struct value *values, size_t first);
struct computed *computed_find(const struct computed_list *list, size_t offset);

/* Computes the first `count` members of base. `changed` has the bits of names that changed since
 * base was computed. Overwrites the value with index `lane`. After an error base is invalid. */
enum status computed_evaluate(const struct computed_list *list, size_t count, void *base,
	struct value *values, size_t lane, uint64_t changed, struct error *err);

#endif
