/* SPDX-License-Identifier: MIT
 *
 * Members of a struct (numbers, conditions, enums) that JSON gives as expressions.
 *
 * A record's table describes the struct that holds the values (record_from_json_computed()). A
 * number in JSON is stored in the struct at once. An expression is compiled once and added to a
 * list, in the order of the table. To evaluate a candidate, copy the struct and run the list on the
 * copy, which recomputes only members whose inputs changed.
 */
#ifndef FAMILY_COMPUTED_H
#define FAMILY_COMPUTED_H

#include "family/expression_json.h"

/* For a record's table: an expression over the plain names may give the value. */
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
	size_t repeat;        /* number of values: one per lane of a warp, else 1 */
	int64_t scale;        /* the member stores the value times this factor */
	bool is_condition; /* the item's `when`, which precedes the other members of the item; they
			      are computed only if it is true */
	bool is_conditional;
	uint64_t reads; /* mask of computed_bit() of the variable names that it reads */
};

struct computed_list {
	struct computed *items;
	size_t count;
};
extern const struct record_custom computed_list_member;
void computed_list_release(struct computed_list *list);

/* Returns the bit of a name in masks. `first` is the index of the first name that may change. More
 * than 64 names share bits, which may cause unneeded evaluations. */
static inline uint64_t computed_bit(size_t index, size_t first)
{
	return index < first ? 0 : (uint64_t)1 << ((index - first) % 64);
}
#define COMPUTED_ALL UINT64_MAX

/* Appends a member and takes ownership of its expression. The caller sets `list` and `offset`. */
struct computed *computed_add(struct computed_list *list, struct expression *expression,
	const struct record_member *member);
/* Returns a copy specialised by expression_specialise(). first as for computed_bit(). */
struct computed_list computed_specialise(
	const struct computed_list *list, const struct value *values, size_t first);
struct computed *computed_find(const struct computed_list *list, size_t offset);

/* Computes the first `count` members of base. `changed` has the bits of names whose values differ
 * from those that base was computed with. lane is the index of the name `lane`, whose value the
 * function overwrites. After an error base is invalid. Errors: an expression fails, or a value is
 * out of range. */
enum status computed_evaluate(const struct computed_list *list, size_t count, void *base,
	struct value *values, size_t lane, uint64_t changed, struct error *err);

#endif
