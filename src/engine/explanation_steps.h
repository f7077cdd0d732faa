/* SPDX-License-Identifier: MIT
 *
 * What the model would serve the steps of a composite family with.
 */
#ifndef ENGINE_EXPLANATION_STEPS_H
#define ENGINE_EXPLANATION_STEPS_H

#include "engine/context.h"

struct bound_family;

/* For each step the candidate with the shortest predicted time, of all plain families that apply.
 * *found is false where none does; why (may be NULL) says for which step. Opens the composite. */
enum status explanation_choose_steps(struct context *bench, struct bound_family *bound, bool *found,
	struct text *why, struct error *err);

#endif
