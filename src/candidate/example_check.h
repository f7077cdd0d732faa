/* SPDX-License-Identifier: MIT
 *
 * Are a family's examples as legal as their author says?
 */
#ifndef CANDIDATE_EXAMPLE_CHECK_H
#define CANDIDATE_EXAMPLE_CHECK_H

#include "family/family.h"

/* Compares every example with what the constraints say on a device; examples for problems that the
 * family's `requires` exclude there are passed over. The first that is wrong is the error. */
enum status family_examples_check(
	const struct family *family, const struct device_spec *device, struct error *err);

#endif
