/* SPDX-License-Identifier: MIT
 *
 * A search space: parameters with lists of values, derived constants, constraints.
 *
 * Slots of the name table: first the fixed names (problem keys, device names), then parameters,
 * then derived constants, in the order in which they were added. A constraint is applied as soon
 * as everything that it reads is bound, while variables are being bound, not after the product is
 * built; a derived constant is computed at the same moment.
 *
 *	space_new -> space_add_fixed* -> space_add_parameter* -> space_add_derived* ->
 *	space_add_constraint* -> space_bind(values of the fixed names) -> space_enumerate
 *
 * A configuration is one index into each parameter's list, in the order of the parameters.
 */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include <stdint.h>

#include "base/error.h"
#include "base/random.h"
#include "space/expression.h"

enum {
	SPACE_PARAMETERS_MAX = 48
};

typedef uint16_t choice; /* index into a parameter's list */

struct space;

struct space *space_new(void);
void space_free(struct space *space);

/* All strings are copied. Texts are expressions; where: for messages. */
enum status space_add_fixed(struct space *space, const char *name, struct error *err);
enum status space_add_parameter(struct space *space, const char *name, const char *values,
	const char *where, struct error *err);
enum status space_add_derived(struct space *space, const char *name, const char *expression,
	const char *where, struct error *err);
enum status space_add_constraint(struct space *space, const char *expression, const char *why,
	const char *where, struct error *err);

/* Values of the fixed names in their order: evaluates the lists, orders the constraints. May be
 * called again for another problem. An empty list is no error (the space is empty). */
enum status space_bind(struct space *space, const struct value *fixed, struct error *err);

const struct name_table *space_names(const struct space *space);
size_t space_slot_count(const struct space *space);
size_t space_parameter_count(const struct space *space);
const char *space_parameter_name(const struct space *space, size_t parameter);
int space_parameter_slot(const struct space *space, size_t parameter);
const struct value_list *space_parameter_values(const struct space *space, size_t parameter);
double space_product(const struct space *space); /* size of the raw product */

size_t space_constraint_count(const struct space *space);
const char *space_constraint_text(const struct space *space, size_t constraint);
const char *space_constraint_why(const struct space *space, size_t constraint);

/* What enumeration removed, in units of the raw product. Sums to product - legal. */
struct space_removed {
	double *by_constraint; /* space_constraint_count() of them; caller allocates, zeroed */
	double legal;
};

/* Calls visit for every legal configuration in lexicographic order of the lists; slots holds every
 * value. visit returns false to stop. removed may be NULL. An evaluation error ends it. */
typedef bool space_visit(const choice *configuration, const struct value *slots, void *context);
enum status space_enumerate(struct space *space, space_visit *visit, void *context,
	struct space_removed *removed, struct error *err);

/* All values of a configuration: fixed, parameters, derived. slots: space_slot_count() of them. */
enum status space_values(const struct space *space, const choice *configuration,
	struct value *slots, struct error *err);
/* Index of the first violated constraint, or -1. slots as filled by space_values(). */
enum status space_check(
	const struct space *space, const struct value *slots, int *violated, struct error *err);
/* The index of value in a parameter's list, or -1. */
int space_choice_find(const struct space *space, size_t parameter, struct value value);

#endif
