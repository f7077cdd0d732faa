/* SPDX-License-Identifier: MIT
 *
 * The walk over all legal configurations of a bound space.
 *
 * The order in which constraints are applied: by the last parameter that they depend on, directly
 * or through derived constants, then in the order in which they were added. A constraint that
 * depends on fixed names alone is applied first and removes everything or nothing. A derived
 * constant is computed just before the first constraint that reads it, or after all constraints of
 * its level, so that a constraint may keep it from dividing by zero. An error while a constraint or
 * a derived constant is computed is an error of the enumeration.
 */
#ifndef SPACE_ENUMERATE_H
#define SPACE_ENUMERATE_H

#include "space/space.h"

/* What enumeration removed, in units of the raw product. Sums to product - legal (exactly, while
 * the product is below 2^53), unless visit stopped it or it failed. */
struct space_removed {
	double *by_constraint; /* space_constraint_count() of them; caller allocates, zeroed */
	double legal;
};

/* Calls visit for every legal configuration in lexicographic order of the lists; slots holds every
 * value. visit returns false to stop; it may use the space, but not bind it again. visit may be
 * NULL, to count only, which is faster. removed may be NULL. An evaluation error ends it, its hint
 * names the configuration. */
typedef bool space_visit(const choice *configuration, const struct value *slots, void *context);
enum status space_enumerate(struct space *space, space_visit *visit, void *context,
	struct space_removed *removed, struct error *err);

#endif
