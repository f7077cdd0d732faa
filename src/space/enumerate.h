/* SPDX-License-Identifier: MIT
 *
 * The walk over all legal configurations of a bound space.
 *
 * The order in which constraints are applied: by the last parameter that they depend on, directly
 * or through derived constants, then in the order in which they were added. A constraint that
 * depends on fixed names alone is applied first and removes everything or nothing. A derived
 * constant is computed just before the first constraint that reads it, or after all constraints of
 * its level, so that a constraint may keep it from dividing by zero. An error while a constraint or
 * a derived constant that it reads is computed is an error of the enumeration; one that no
 * constraint reads may be left to space_values(): visits see choices alone.
 *
 * In a long walk, a branch in which a constraint cannot hold for any value of the parameters that
 * follow is cut at once (expression_range()). What such a constraint would have removed later
 * counts as removed by it, and errors in such a branch are not found.
 */
#ifndef SPACE_ENUMERATE_H
#define SPACE_ENUMERATE_H

#include "space/space.h"

/* What enumeration removed, in units of the raw product. Sums to product - legal (exactly, while
 * the product is below 2^53), unless visit stopped it or it failed. */
struct space_removed {
	double *by_constraint; /* ()->constraint_count of them; caller allocates, zeroed */
	double legal;
};

/* Calls visit for every legal configuration in lexicographic order of the lists. visit returns
 * false to stop; it may use the space, but not bind it again. visit may be NULL, to count only,
 * which is faster. removed may be NULL. An evaluation error ends it, its hint names the
 * configuration. */
typedef bool space_visit(const choice *configuration, void *context);
enum status space_enumerate(struct space *space, space_visit *visit, void *context,
	struct space_removed *removed, struct error *err);

/* Visits only configurations all of whose prefixes `enter` accepts: it is asked of the first
 * `count` choices, of which the last is new. Nothing is computed for the others. */
typedef bool space_enter(const choice *configuration, size_t count, void *context);
enum status space_enumerate_some(struct space *space, space_enter *enter, space_visit *visit,
	void *context, struct error *err);

/* ---- the order that binding arranged: for space.c ---- */
/* What is done when the last of its parameters has got a value. */
struct space_action {
	const struct expression *expression;
	bool derives;   /* computes a derived constant; else applies a constraint */
	bool unread;    /* by the walk */
	size_t index;   /* of the derived constant or the constraint */
	int name_index; /* of the derived constant */
	/* Results remembered by the choices of the parameters that it depends on, where
	 * configurations share them: at sum(choice * stride). NULL: not worth it. */
	unsigned char *verdicts; /* constraints: VERDICT_* */
	struct value *results;   /* derived constants: VALUE_NONE: not computed yet */
	size_t own_stride;       /* of the last parameter */
	size_t stride_count;     /* of the others */
	struct {
		size_t parameter, stride;
	} strides[SPACE_PARAMETERS_MAX];
};

enum {
	VERDICT_UNKNOWN,
	VERDICT_LEGAL,
	VERDICT_REMOVED
};

/* Arranges the actions of a space whose lists and rules are ready. */
void order_build(struct space *space);
void order_release(struct space *space);

/* Names the first `count` choices in the hint, unless there is one: "this happens at BM=128". */
void space_describe(
	const struct space *space, const struct value *values, size_t count, struct error *err);

/* Computes a derived constant (into values) or applies a constraint (into *legal). */
enum status action_run(
	const struct space_action *action, struct value *values, bool *legal, struct error *err);

#endif
