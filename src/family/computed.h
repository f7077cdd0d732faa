/* SPDX-License-Identifier: MIT
 *
 * Computed members: numbers, conditions and enums of a struct that JSON states as expressions.
 *
 * A record's table describes the struct that holds the values (record_from_json_computed()). Where
 * JSON has a number, the value is in the struct from then on. Where JSON has an expression, it is
 * compiled once and added to a list, in the order of the table. To evaluate a candidate, copy the
 * struct and run the list on the copy: it computes the members whose inputs changed since the
 * values that the copy has.
 */
#ifndef FAMILY_COMPUTED_H
#define FAMILY_COMPUTED_H

#include "family/expression_json.h"

/* In a record's table: an expression over the usual names may give the value. */
#define COMPUTED .computed = 1 + SCOPE_PLAIN

enum {
	COMPUTED_DIRECT = -1 /* `list` of a member of the struct itself */
};

struct computed {
	struct expression *expression;
	ptrdiff_t list; /* offset of the pointer to the list whose item has the member */
	size_t offset;  /* in the struct, or behind the first item of the list */
	enum record_kind kind;
	size_t size; /* of the member; integers and enums */
	double low, high;
	const char *const *names; /* of an enum */
	const char *expected;     /* of a value, in messages; NULL: from the range */
	size_t repeat;     /* number of values, one for each lane of a warp; 1 without lanes */
	int64_t scale;     /* the member holds this many times the value */
	bool is_condition; /* `when` of a list's item: the item's other members follow it, and are
			      computed only if it is true */
	bool is_conditional;
	uint64_t reads; /* names that may change, as bits of computed_bit() */
};

struct computed_list {
	struct computed *items;
	size_t count;
};
extern const struct record_custom computed_list_member;
void computed_list_release(struct computed_list *list);

/* The bit of a name in masks; first: index of the first name that may change. Names share bits if
 * there are more than 64: then more is computed than must be. */
static inline uint64_t computed_bit(size_t index, size_t first)
{
	return index < first ? 0 : (uint64_t)1 << ((index - first) % 64);
}
#define COMPUTED_ALL UINT64_MAX /* everything changed */

/* Appends a member and takes its expression. The caller fills in `list` and `offset`. */
struct computed *computed_add(struct computed_list *list, struct expression *expression,
	const struct record_member *member);
/* A copy with expression_specialise(). first: as above. */
struct computed_list computed_specialise(
	const struct computed_list *list, const struct value *values, size_t first);
/* The computed member at this place of the struct, or NULL. */
struct computed *computed_find(const struct computed_list *list, size_t offset);

/* Computes the first `count` members of base. changed: bits of the names whose values differ from
 * those that base was computed with. lane: index of the name `lane`, whose value is changed.
 * After an error base has no meaning. Errors: an expression that fails, a value out of range. */
enum status computed_evaluate(const struct computed_list *list, size_t count, void *base,
	struct value *values, size_t lane, uint64_t changed, struct error *err);

#endif
