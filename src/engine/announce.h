/* SPDX-License-Identifier: MIT
 *
 * Tells the device of a problem: its tensors and, where the device measures, the compiled
 * reference that candidates are compared with.
 */
#ifndef ENGINE_ANNOUNCE_H
#define ENGINE_ANNOUNCE_H

#include "engine/context.h"

/* *number: device_problem()'s. Errors: a reference that does not compile; a lost device. */
enum status problem_announce(
	struct context *bench, const struct problem *problem, uint32_t *number, struct error *err);

#endif
