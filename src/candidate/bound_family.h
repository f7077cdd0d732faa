/* SPDX-License-Identifier: MIT
 *
 * A family bound to a problem on a device.
 */
#ifndef CANDIDATE_BOUND_FAMILY_H
#define CANDIDATE_BOUND_FAMILY_H

#include "family/catalogue.h"
#include "family/family.h"
#include "family/launch.h"
#include "plan/plan.h"
#include "space/space.h"
#include "spec/device_spec.h"

/* Begins reasons of limit constraints and compiled kernels. */
#define GPU_LIMIT "limit of the GPU"

/* What depends only on problem and device, computed once for all candidates. */
struct bound_model {
	struct launch *launches; /* specialised copies without arguments */
	size_t launch_count;
	struct plan_buffer *tensors;
	double flop, min_bytes;
};

struct bound_family {
	const struct family *family;
	const struct problem *problem;
	const struct device_spec *device;
	struct space *space;           /* owned, bound to the problem and the device */
	struct expression_list limits; /* constraints of the space that the family does not state */
	struct bound_model model;
};

/* Whether all of `requires` hold; why_not (may be NULL) gets the first that does not. */
enum status family_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *applies, struct text *why_not, struct error *err);

/* Sets *competes if the family takes part in searches that do not name it. */
enum status family_competes(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *competes, struct error *err);

/* `where` has extra constraints (`--where`), one per line, or is NULL. */
enum status family_bind(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct error *err);
/* *bound is NULL for a family that does not apply; left_out (may be NULL) gets "NAME does not
 * apply: needs ...". */
enum status family_bind_if_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct text *left_out, struct error *err);
/* Fails for a family that does not apply. */
enum status family_bind_applicable(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct bound_family **bound, struct error *err);
/* Fails if the tensors do not fit in the memory of the device. */
enum status bound_family_expect_memory(const struct bound_family *bound, struct error *err);
void bound_family_free(struct bound_family *bound); /* NULL is fine */
void bound_family_drop(struct bound_family **bound);

/* Fails at the first example that is not legal or illegal as stated. Skips problems that `requires`
 * excludes. */
enum status family_examples_check(
	const struct family *family, const struct device_spec *device, struct error *err);

#endif
