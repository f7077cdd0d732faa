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

/* The reason begins with this text if a device limit excludes a configuration or a kernel. */
#define GPU_LIMIT "limit of the GPU"

/* Values computed once for all candidates, because they depend only on problem and device. */
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
	struct space *space; /* owned, bound to the problem and the device */
	/* constraints for limits of the device, which the family does not state */
	struct expression_list limits;
	struct bound_model model;
};

/* Sets *applies if all conditions of `requires` hold. why_not (may be NULL) gets the first
 * condition that does not hold. */
enum status family_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *applies, struct text *why_not, struct error *err);

/* Sets *competes if the family takes part in searches that do not name it. */
enum status family_competes(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *competes, struct error *err);

/* Binds the family. `where` has extra constraints (`--where`), one per line, or is NULL. */
enum status family_bind(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct error *err);
/* If the family does not apply, sets *bound to NULL and appends "NAME does not apply: needs ..." to
 * left_out, which may be NULL. */
enum status family_bind_if_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct text *left_out, struct error *err);
/* Works like family_bind(), but fails if the family does not apply. */
enum status family_bind_applicable(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct bound_family **bound, struct error *err);
/* Fails if the tensors do not fit in the memory of the device. */
enum status bound_family_expect_memory(const struct bound_family *bound, struct error *err);
void bound_family_free(struct bound_family *bound); /* NULL is fine */
void bound_family_drop(struct bound_family **bound);

/* Fails at the first example whose legality is not as stated. Skips problems that `requires`
 * excludes. */
enum status family_examples_check(
	const struct family *family, const struct device_spec *device, struct error *err);

#endif
