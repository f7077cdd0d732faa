/* SPDX-License-Identifier: MIT
 *
 * A launch's shape and `model` as numbers.
 */
#ifndef CANDIDATE_LAUNCH_WORK_H
#define CANDIDATE_LAUNCH_WORK_H

#include "candidate/bound_family.h"
#include "family/family.h"

/* Blocks along x, y, z that a grid may have. */
extern const uint32_t launch_grid_max[3];

/* Within the limits of the device (CUDA C++ Programming Guide, technical specifications per compute
 * capability); none of registers: they are not known yet. */
enum status launch_shape_evaluate(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err);

/* Changes the value of `lane` and no other. changed: by name, whether its value is another one than
 * that which work holds the result of; what reads none of these is left as it is. NULL: everything
 * is evaluated; work is zeroed, or of another evaluation, whose memory for lists is used again. */
enum status launch_work_evaluate(const struct bound_family *bound, size_t launch,
	struct value *values, const bool *changed, struct launch_work *work, struct error *err);

#endif
