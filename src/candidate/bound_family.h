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

/* What reasons begin with that no family states: of a constraint, and of a kernel once compiled. */
#define GPU_LIMIT "limit of the GPU"

/* The family's launches and models, with all that follows from problem and device computed
 * beforehand: candidates are scored by the hundred thousand. */
struct bound_model {
	struct launch *launches; /* specialised copies; without arguments */
	size_t launch_count;
	struct expression **workspace_bytes;
	size_t workspace_count;
	struct plan_buffer *tensors; /* the problem's */
	double flop, min_bytes;
};

struct bound_family {
	const struct family *family;
	const struct problem *problem;
	const struct device_spec *device;
	struct space *space;           /* owned, bound to the problem and the device */
	struct expression_list limits; /* the space's constraints that the family does not state */
	struct bound_model model;
};

/* Whether the family's `requires` hold; if not, why (the first false expression) in why_not
 * (may be NULL). */
enum status family_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *applies, struct text *why_not, struct error *err);

/* Whether the family takes part in a search that does not name it. */
enum status family_competes(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *competes, struct error *err);

/* where: extra constraints (`--where`), one a line, or NULL. */
enum status family_bind(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct error *err);
/* As family_bind(), but a family that does not apply is no error: *bound is NULL then, and left_out
 * (may be NULL) gets the line "NAME does not apply: needs ...". */
enum status family_bind_if_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct text *left_out, struct error *err);
/* As family_bind(), but a family that does not apply is an error. */
enum status family_bind_applicable(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct bound_family **bound, struct error *err);
/* Fails if the tensors do not fit in the memory of the device. */
enum status bound_family_expect_memory(const struct bound_family *bound, struct error *err);
void bound_family_free(struct bound_family *bound);  /* NULL is fine */
void bound_family_drop(struct bound_family **bound); /* for CLEANUP() */

/* Checks on a device that each of the family's examples is legal or illegal, as its author says.
 * Examples whose problem `requires` excludes there are skipped. The error names the first wrong
 * one. */
enum status family_examples_check(
	const struct family *family, const struct device_spec *device, struct error *err);

#endif
