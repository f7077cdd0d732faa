/* SPDX-License-Identifier: MIT
 *
 * A configuration's launch arguments chosen anew for another problem: one binary, started
 * otherwise.
 */
#ifndef ENGINE_REFIT_H
#define ENGINE_REFIT_H

#include "candidate/candidate.h"

/* fitted: choices with other values of those parameters that are arguments, where they are
 * predicted faster by 3% or more, or where choices themselves are not legal; among all their
 * combinations. *found false: none is legal. Errors: expressions that fail. */
enum status refit_arguments(const struct bound_family *bound, const choice *choices, choice *fitted,
	bool *found, struct error *err);

#endif
