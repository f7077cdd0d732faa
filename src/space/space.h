/* SPDX-License-Identifier: MIT
 *
 * A search space: parameters with lists of values, derived constants, constraints.
 *
 * The name table lists first the fixed names (problem keys, device names), then parameters,
 * then derived constants, in the order in which they were added. Constraints are applied, and
 * derived constants computed, as soon as their inputs are bound; the full product is never built.
 *
 *	space_new -> space_add_parameter* -> space_add_derived* -> space_add_constraint* ->
 *	space_bind(values of the fixed names) -> space_enumerate
 *
 * A configuration is one index into each parameter's list, in the order of the parameters.
 */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include <stdint.h>

#include "base/error.h"
#include "expr/expression.h"

enum {
	SPACE_PARAMETERS_MAX = 48
};

typedef uint16_t choice; /* index into a parameter's list */

struct space_parameter {
	const struct expression *list;
	struct value_list values;
	struct value_range range; /* once bound: the smallest and greatest value */
};

struct space_rule {
	const struct expression *expression;
	struct expression *special; /* once bound: specialised for the fixed values */
	const char *why;
	uint64_t parameters; /* once bound: bit i is set if the rule depends on parameter i */
};

/* Other folders only read it. Names, expressions and reasons are borrowed. */
struct space {
	const struct name_table *names; /* one per index */
	size_t fixed_count;
	struct space_parameter parameters[SPACE_PARAMETERS_MAX];
	size_t parameter_count;
	struct space_rule *derived;
	size_t derived_count, derived_capacity;
	struct space_rule *constraints;
	size_t constraint_count, constraint_capacity;
	/* The members below are valid if bound. */
	bool bound;
	struct value *known; /* by name index: fixed values and derived constants that depend only
				on them */
	struct space_action *actions; /* in order of application (space/enumerate.h) */
	size_t action_count;
	/* actions of level L are first_action[L] .. first_action[L+1]-1; level 0 needs no
	 * parameter, level L needs the first L parameters */
	size_t first_action[SPACE_PARAMETERS_MAX + 2];
	double tail[SPACE_PARAMETERS_MAX + 1]; /* product of the list lengths from parameter i on */
	const volatile int *interrupted;       /* nonzero ends an enumeration; may be NULL */
};

/* More names may be added to `names` until the space is bound. */
struct space *space_new(const struct name_table *names, size_t fixed_count);
void space_free(struct space *space);

/* These assign the next names of the table: at most SPACE_PARAMETERS_MAX parameters, then derived
 * constants. Value lists may read fixed names; derived constants also parameters and earlier
 * derived constants; constraints may read all names. */
void space_add_parameter(struct space *space, const struct expression *list);
void space_add_derived(struct space *space, const struct expression *expression);
void space_add_constraint(
	struct space *space, const struct expression *expression, const char *why);

/* Binds the fixed names, evaluates the lists and orders the constraints. May be called again for
 * another problem. An empty list makes an empty space, not an error; duplicate values are dropped.
 * Strings are borrowed from `fixed`, which must outlive the binding; values that are lists are
 * refused. After a failure the space is unbound. */
enum status space_bind(struct space *space, const struct value *fixed, struct error *err);

const char *space_parameter_name(const struct space *space, size_t parameter);
const char *space_constraint_text(const struct space *space, size_t constraint);

/* Computes all values of a configuration (fixed, parameters, derived), one per name. */
enum status space_values(const struct space *space, const choice *configuration,
	struct value *values, struct error *err);
/* Updates values that belong to the configuration `before`: computes only those that depend on
 * changed choices, or all if `before` is NULL. After an error the values are invalid. */
enum status space_values_after(const struct space *space, const choice *before,
	const choice *configuration, struct value *values, struct error *err);
void space_fixed(const struct space *space, struct value *values);
/* Works like space_values(), and sets *violated to the index of the first constraint, in the order
 * of enumeration, that removes the configuration, or to -1. A violated constraint is reported even
 * if a later derived constant would fail. Derived constants that were not reached are VALUE_NONE.
 */
enum status space_examine(const struct space *space, const choice *configuration,
	struct value *values, int *violated, struct error *err);

int space_choice_find(const struct space *space, size_t parameter, struct value value);

#endif
