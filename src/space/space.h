/* SPDX-License-Identifier: MIT
 *
 * A search space: parameters with lists of values, derived constants, constraints.
 *
 * Order of the name table: first the fixed names (problem keys, device names), then parameters,
 * then derived constants, in the order in which they were added. A constraint is applied as soon
 * as everything that it reads is bound, while variables are being bound, not after the product is
 * built; a derived constant is computed at the same moment.
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
	struct value_list values; /* once bound */
	struct value_range range; /* once bound: from the least to the greatest value */
};

/* A derived constant or a constraint. */
struct space_rule {
	const struct expression *expression;
	struct expression *special; /* once bound: with the fixed values put in */
	const char *why;            /* constraints */
	uint64_t parameters;        /* once bound: bit i: depends on parameter i */
};

/* Read-only outside of this folder. Names, expressions and reasons are borrowed. */
struct space {
	const struct name_table *names; /* one per index */
	size_t fixed_count;
	struct space_parameter parameters[SPACE_PARAMETERS_MAX];
	size_t parameter_count;
	struct space_rule *derived;
	size_t derived_count, derived_capacity;
	struct space_rule *constraints;
	size_t constraint_count, constraint_capacity;
	/* once bound */
	bool bound;
	struct value *known; /* by index: fixed values, derived constants that follow from them */
	struct space_action *actions; /* in order of application (space/enumerate.h) */
	size_t action_count;
	/* actions of level L are first_action[L] .. first_action[L+1]-1; level 0 needs no
	 * parameter, level L needs the first L parameters */
	size_t first_action[SPACE_PARAMETERS_MAX + 2];
	double tail[SPACE_PARAMETERS_MAX + 1]; /* product of the lists from parameter i on */
	const volatile int *interrupted;       /* ends an enumeration; NULL: nothing does */
};

/* names: may get further names as long as the space is not bound. */
struct space *space_new(const struct name_table *names, size_t fixed_count);
void space_free(struct space *space);

/* Each stands for the next name of the table: parameters, at most SPACE_PARAMETERS_MAX, then
 * derived constants. A value list reads the fixed names, a derived constant also the parameters and
 * the derived constants before it, a constraint all. */
void space_add_parameter(struct space *space, const struct expression *list);
void space_add_derived(struct space *space, const struct expression *expression);
void space_add_constraint(
	struct space *space, const struct expression *expression, const char *why);

/* Values of the fixed names in their order: evaluates the lists, orders the constraints. May be
 * called again for another problem. An empty list is no error (the space is empty); of values that
 * are equal the first is kept. Strings are borrowed from `fixed` and must outlive the binding;
 * lists are refused. After a failure the space is not bound. */
enum status space_bind(struct space *space, const struct value *fixed, struct error *err);

const char *space_parameter_name(const struct space *space, size_t parameter);
const char *space_constraint_text(const struct space *space, size_t constraint);

/* All values of a configuration: fixed, parameters, derived; one per name. */
enum status space_values(const struct space *space, const choice *configuration,
	struct value *values, struct error *err);
/* The same where values hold those of `before` already (NULL: nothing): only what depends on
 * choices that differ is computed. After an error they hold nothing. */
enum status space_values_after(const struct space *space, const choice *before,
	const choice *configuration, struct value *values, struct error *err);
/* Puts the fixed values into the first ones. */
void space_fixed(const struct space *space, struct value *values);
/* As space_values(), and finds the constraint that removes the configuration in enumeration (its
 * index, or -1), in the order of enumeration: a violated constraint is reported although a derived
 * constant after it could not be computed; derived constants that were not reached are VALUE_NONE
 * then. */
enum status space_examine(const struct space *space, const choice *configuration,
	struct value *values, int *violated, struct error *err);

/* The index of value in a parameter's list, or -1. */
int space_choice_find(const struct space *space, size_t parameter, struct value value);

#endif
