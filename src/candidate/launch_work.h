/* SPDX-License-Identifier: MIT
 *
 * Evaluates a launch's shape and `model`.
 */
#ifndef CANDIDATE_LAUNCH_WORK_H
#define CANDIDATE_LAUNCH_WORK_H

#include "candidate/bound_family.h"
#include "family/family.h"

/* Fails if the shape exceeds limits of the device (CUDA C++ Programming Guide, technical
 * specifications per compute capability). Registers are not known yet. Overwrites only the value of
 * `lane`. */
enum status launch_shape_evaluate(const struct bound_family *bound, size_t launch,
	struct value *values, struct launch_shape *shape, struct error *err);

/* work is a copy of the bound launch's work, or the result of an earlier evaluation. `changed`
 * marks names whose values differ since then (computed_bit()); it is COMPUTED_ALL after a copy.
 * Overwrites only the value of `lane`. */
enum status launch_work_evaluate(const struct bound_family *bound, size_t launch,
	struct value *values, uint64_t changed, struct launch_work *work, struct error *err);

#endif
