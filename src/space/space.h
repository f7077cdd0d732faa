/* SPDX-License-Identifier: MIT
 *
 * A search space. Names are fixed names, parameters, then derived constants, in order. Constraints
 * and constants are applied once their inputs are bound.
 *
 *	space_new -> space_add_parameter* -> space_add_derived* -> space_add_constraint* ->
 *	space_bind -> space_enumerate
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
	struct value_range range; /* range of values, once bound */
};

struct space_rule {
	const struct expression *expression;
	struct expression *special; /* copy for the fixed values, once bound */
	const char *why;
	uint64_t parameters; /* mask of the parameters that it reads, once bound */
};

/* Read-only for other folders. Names, expressions and reasons are borrowed. */
struct space {
	const struct name_table *names; /* names by index */
	size_t fixed_count;
	struct space_parameter parameters[SPACE_PARAMETERS_MAX];
	size_t parameter_count;
	struct space_rule *derived;
	size_t derived_count, derived_capacity;
	struct space_rule *constraints;
	size_t constraint_count, constraint_capacity;
	/* the following members are valid once the space is bound */
	bool bound;
	struct value *known; /* fixed values, and constants that depend only on them */
	struct space_action
		*actions; /* actions in the order of their application (space/enumerate.h) */
	size_t action_count;
	/* first_action[L] begins level L, whose actions need the first L parameters */
	size_t first_action[SPACE_PARAMETERS_MAX + 2];
	double tail[SPACE_PARAMETERS_MAX + 1];
	const volatile int *interrupted; /* may be NULL */
};

struct space *space_new(const struct name_table *names, size_t fixed_count);
void space_free(struct space *space);

/* At most SPACE_PARAMETERS_MAX parameters, whose lists read fixed names. Derived constants also
 * read parameters and earlier constants; constraints read all. */
void space_add_parameter(struct space *space, const struct expression *list);
void space_add_derived(struct space *space, const struct expression *expression);
void space_add_constraint(
	struct space *space, const struct expression *expression, const char *why);

/* Evaluates lists and orders constraints; may be repeated. Duplicate values are dropped, and an
 * empty list is no error. Strings are borrowed from `fixed`, which has no lists. After a failure
 * the space is unbound. */
enum status space_bind(struct space *space, const struct value *fixed, struct error *err);

const char *space_parameter_name(const struct space *space, size_t parameter);
const char *space_constraint_text(const struct space *space, size_t constraint);

enum status space_values(const struct space *space, const choice *configuration,
	struct value *values, struct error *err);
/* Updates the values of configuration `before`, or computes all values if `before` is NULL. After
 * an error the values are invalid. */
enum status space_values_after(const struct space *space, const choice *before,
	const choice *configuration, struct value *values, struct error *err);
void space_fixed(const struct space *space, struct value *values);
/* Like space_values(), but sets *violated to the first constraint that removes the configuration,
 * or to -1. Constants after this constraint stay VALUE_NONE. */
enum status space_examine(const struct space *space, const choice *configuration,
	struct value *values, int *violated, struct error *err);

int space_choice_find(const struct space *space, size_t parameter, struct value value);

#endif
