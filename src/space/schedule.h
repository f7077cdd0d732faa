/* SPDX-License-Identifier: MIT
 *
 * The inside of a space: its parts, and the schedule in which binding arranged them. Only the files
 * of struct space include it.
 */
#ifndef SPACE_SCHEDULE_H
#define SPACE_SCHEDULE_H

#include "space/space.h"

struct space_parameter {
	struct expression *list;
	struct value_list values; /* once bound */
};

/* A derived constant or a constraint. */
struct space_rule {
	struct expression *expression;
	struct expression *special; /* once bound: with the fixed values put in */
	char *why;                  /* constraints */
	uint64_t parameters;        /* once bound: bit i: depends on parameter i */
};

/* What is done when the last of its parameters has got a value. */
struct step {
	const struct expression *expression;
	bool derives; /* computes a derived constant; else applies a constraint */
	size_t index; /* of the derived constant or the constraint */
	int slot;     /* of the derived constant */
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

struct space {
	struct name_table names; /* owns its strings */
	size_t fixed_count;
	struct space_parameter parameters[SPACE_PARAMETERS_MAX];
	size_t parameter_count;
	struct space_rule *derived;
	size_t derived_count, derived_capacity;
	struct space_rule *constraints;
	size_t constraint_count, constraint_capacity;
	/* once bound */
	bool bound;
	struct value
		*known; /* one per slot: fixed values, derived constants that follow from them */
	struct step *steps; /* in order of application */
	size_t step_count;
	/* steps of level L are first_step[L] .. first_step[L+1]-1; level 0 needs no parameter,
	 * level L needs the first L parameters */
	size_t first_step[SPACE_PARAMETERS_MAX + 2];
	double tail[SPACE_PARAMETERS_MAX + 1]; /* product of the lists from parameter i on */
};

/* Arranges the steps of a space whose lists and rules are ready. */
void schedule_build(struct space *space);
void schedule_release(struct space *space);

/* Computes a derived constant (into slots) or applies a constraint (into *legal). */
enum status step_run(const struct step *step, struct value *slots, bool *legal, struct error *err);

#endif
