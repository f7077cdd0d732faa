/* SPDX-License-Identifier: MIT
 *
 * A launch of a family: which kernel, how many threads, with what.
 */
#ifndef FAMILY_LAUNCH_H
#define FAMILY_LAUNCH_H

#include "family/argument.h"
#include "family/model.h"

struct launch {
	const char *entry;
	size_t source;           /* of the family's sources */
	struct expression *when; /* NULL: always */
	/* `when` reads what is no -D (sizes, argument parameters): the kernel is in the cubin even
	 * where it is not launched, so that one cubin serves both */
	bool always_built;
	struct expression_list grid, block, cluster; /* cluster may be empty: 1 1 1 */
	struct expression *smem_bytes, *repeat;      /* NULL: 0, 1 */
	struct expression *regs_estimate;
	struct argument_list arguments;
	struct model model;
};

/* The numbers of a launch that score and driver share. */
struct launch_shape {
	uint32_t grid[3], block[3], cluster[3];
	uint32_t smem_dynamic_bytes;
	uint32_t repeat;
};

struct device_spec;

void launch_release(struct launch *launch);
enum status launch_is_active(const struct launch *launch, const struct value *values,
	bool *is_active, struct error *err);
/* Checks the limits that hold on the device (none of registers: they are not known yet). */
enum status launch_shape_evaluate(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err);

#endif
