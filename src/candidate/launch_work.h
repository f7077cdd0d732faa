/* SPDX-License-Identifier: MIT
 *
 * Evaluates a launch's shape and `model`.
 */
#ifndef CANDIDATE_LAUNCH_WORK_H
#define CANDIDATE_LAUNCH_WORK_H

#include "candidate/bound_family.h"
#include "family/family.h"

/* Fails beyond limits of the device (CUDA C++ Programming Guide, technical specifications).
 * Overwrites the value of `lane`. */
enum status launch_shape_evaluate(const struct bound_family *bound, size_t launch,
	struct value *values, struct launch_shape *shape, struct error *err);

/* work: a copy of the bound launch's, or an earlier result. changed: names that differ since then
 * (computed_bit()), or COMPUTED_ALL. Overwrites the value of `lane`. */
enum status launch_work_evaluate(const struct bound_family *bound, size_t launch,
	struct value *values, uint64_t changed, struct launch_work *work, struct error *err);

#endif
