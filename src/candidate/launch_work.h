/* SPDX-License-Identifier: MIT
 *
 * A launch's shape and `model` as numbers.
 */
#ifndef CANDIDATE_LAUNCH_WORK_H
#define CANDIDATE_LAUNCH_WORK_H

#include "candidate/bound_family.h"
#include "family/family.h"

/* Errors: a shape beyond the limits of the device (CUDA C++ Programming Guide, technical
 * specifications per compute capability). Registers are not known yet. Changes the value of `lane`
 * and no other. */
enum status launch_shape_evaluate(const struct bound_family *bound, size_t launch,
	struct value *values, struct launch_shape *shape, struct error *err);

/* work: a copy of the bound launch's work, or the result of an evaluation before. changed: names
 * whose values differ since then (computed_bit()); COMPUTED_ALL after a copy. Changes the value of
 * `lane` and no other. */
enum status launch_work_evaluate(const struct bound_family *bound, size_t launch,
	struct value *values, uint64_t changed, struct launch_work *work, struct error *err);

#endif
