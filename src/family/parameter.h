/* SPDX-License-Identifier: MIT
 *
 * Parameters and constants of a family.
 */
#ifndef FAMILY_PARAMETER_H
#define FAMILY_PARAMETER_H

#include <stdbool.h>

#include "expr/expression.h"

struct parameter {
	const char *name, *help;
	struct expression *values;        /* over keys and device names */
	struct expression *default_value; /* over these and the parameters before it */
	bool is_argument;                 /* a kernel argument; else a -D */
};

struct constant {
	const char *name;
	struct expression
		*expression; /* over keys, device names, parameters, constants before it */
	bool is_for_model; /* a name for the model's amounts; no define, so no part of the kernel */
};

#endif
