/* SPDX-License-Identifier: MIT
 *
 * A family bound to a problem on a device.
 *
 * A composite family (`steps`) has one configuration, the empty one; what it builds and launches
 * follows from what its steps are served by (candidate/composite.h).
 */
#ifndef CANDIDATE_BOUND_FAMILY_H
#define CANDIDATE_BOUND_FAMILY_H

#include "family/catalogue.h"
#include "family/plan.h"
#include "space/space.h"
#include "spec/device_spec.h"

struct bound_model; /* candidate/bound_model.h */
struct composite;   /* candidate/composite.h */

struct bound_family {
	const struct family *family;
	const struct problem *problem;
	const struct device_spec *device;
	struct space *space;         /* owned, bound to the problem and the device */
	struct bound_model *model;   /* owned */
	struct composite *composite; /* owned; of a composite family: composite_open() */
};

/* Whether the family's `requires` hold; if not, why (the first false expression) in why_not
 * (may be NULL). */
enum status family_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *applies, struct text *why_not, struct error *err);

/* where: an extra constraint (`--where`), or NULL. */
enum status family_bind(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct error *err);
/* The same of a family that may not apply: *bound is NULL then, and left_out (may be NULL) gets the
 * line "NAME does not apply: needs ...". */
enum status family_bind_if_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct text *left_out, struct error *err);
/* The same; that it does not apply is an error. */
enum status family_bind_applicable(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct bound_family **bound, struct error *err);
void bound_family_free(struct bound_family *bound);

#endif
