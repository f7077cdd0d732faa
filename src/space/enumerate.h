/* SPDX-License-Identifier: MIT
 *
 * Enumerates all legal configurations of a bound space.
 *
 * Constraints are ordered by the last parameter that they depend on, directly or through derived
 * constants, then by insertion. A constraint that depends only on fixed names is applied first and
 * removes everything or nothing. A derived constant is computed just before the first constraint
 * that reads it, or after all constraints of its level, so that a constraint can protect it from a
 * division by zero. An error in a constraint, or in a derived constant that it reads, ends the
 * enumeration. Errors in other derived constants may appear only in space_values(), because visits
 * receive only choices.
 *
 * In a long walk, expression_range() prunes branches in which a constraint cannot hold for any
 * values of the later parameters. All configurations in the branch count as removed by that
 * constraint, and errors in the branch are not found.
 */
#ifndef SPACE_ENUMERATE_H
#define SPACE_ENUMERATE_H

#include "space/space.h"

/* Numbers of removed raw configurations. They sum to the raw product minus the legal count
 * (exactly, while the product is below 2^53), unless the walk stopped early. */
struct space_removed {
	double *by_constraint; /* one per constraint; the caller allocates and zeroes it */
	double legal;
};

/* Calls visit for every legal configuration in lexicographic order. visit returns false to stop; it
 * may use the space, but must not bind it again. A NULL visit only counts, which is faster. removed
 * may be NULL. An evaluation error ends the walk, and its hint names the configuration. */
typedef bool space_visit(const choice *configuration, void *context);
enum status space_enumerate(struct space *space, space_visit *visit, void *context,
	struct space_removed *removed, struct error *err);

/* Visits only configurations all of whose prefixes `enter` accepts. `enter` gets the first `count`
 * choices, of which the last one is new. Nothing is computed for rejected prefixes. */
typedef bool space_enter(const choice *configuration, size_t count, void *context);
enum status space_enumerate_some(struct space *space, space_enter *enter, space_visit *visit,
	void *context, struct error *err);

/* ---- order of the actions, which binding determines; for space.c ---- */
/* Work to do as soon as the last parameter it depends on is bound. */
struct space_action {
	const struct expression *expression;
	bool derives; /* true computes a derived constant; false applies a constraint */
	bool unread;  /* skipped by the walk, because no constraint needs the result */
	size_t index;
	int name_index;
	/* Cached results, if many configurations share them, at index sum(choice * stride) over the
	 * parameters that the action depends on. NULL: not cached. */
	unsigned char *verdicts; /* constraints: VERDICT_* */
	struct value *results;   /* derived constants; VALUE_NONE: not computed yet */
	size_t own_stride;       /* stride of the last parameter */
	size_t stride_count;     /* number of other parameters */
	struct {
		size_t parameter, stride;
	} strides[SPACE_PARAMETERS_MAX];
};

enum {
	VERDICT_UNKNOWN,
	VERDICT_LEGAL,
	VERDICT_REMOVED
};

void order_build(struct space *space);
void order_release(struct space *space);

/* Sets the hint "this happens at BM=128" with the first `count` choices, unless a hint exists. */
void space_describe(
	const struct space *space, const struct value *values, size_t count, struct error *err);

/* Computes a derived constant into values, or applies a constraint and sets *legal. */
enum status action_run(
	const struct space_action *action, struct value *values, bool *legal, struct error *err);

#endif
