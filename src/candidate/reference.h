/* SPDX-License-Identifier: MIT
 *
 * The reference of a problem: what to compile and how to launch it.
 */
#ifndef CANDIDATE_REFERENCE_H
#define CANDIDATE_REFERENCE_H

#include "candidate/build.h"
#include "family/catalogue.h"
#include "family/plan.h"
#include "spec/device_spec.h"

enum status problem_reference(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, struct build *build, struct reference_plan *reference,
	struct error *err);

#endif
