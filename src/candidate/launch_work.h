/* SPDX-License-Identifier: MIT
 *
 * Evaluates the shape and the `model` of a launch.
 */
#ifndef CANDIDATE_LAUNCH_WORK_H
#define CANDIDATE_LAUNCH_WORK_H

#include "candidate/bound_family.h"
#include "family/family.h"

/* Fails if the shape exceeds a limit of the device (CUDA C++ Programming Guide, technical
 * specifications). Overwrites the value of `lane`. */
enum status launch_shape_evaluate(const struct bound_family *bound, size_t launch,
	struct value *values, struct launch_shape *shape, struct error *err);

/* `work` is a copy of the bound launch's work, or an earlier result. `changed` has the
 * computed_bit() of names that changed since then, or is COMPUTED_ALL. Overwrites the value of
 * `lane`. */
enum status launch_work_evaluate(const struct bound_family *bound, size_t launch,
	struct value *values, uint64_t changed, struct launch_work *work, struct error *err);

#endif
