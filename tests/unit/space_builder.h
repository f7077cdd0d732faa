/* SPDX-License-Identifier: MIT
 *
 * Spaces in a few lines, for tests.
 */
#ifndef TESTS_UNIT_SPACE_BUILDER_H
#define TESTS_UNIT_SPACE_BUILDER_H

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "space/space.h"

/* Names and texts alternate; each list ends with NULL and may be left out. */
struct space_description {
	const char *fixed[8];
	const char *parameters[24];
	const char *derived[16];
	const char *constraints[16]; /* texts alone; the reasons are "why 0", "why 1", ... */
};

static enum status space_build(
	const struct space_description *description, struct space **built, struct error *err)
{
	struct space *space = space_new();
	enum status status = STATUS_OK;
	for (size_t i = 0; description->fixed[i] && !status; i++)
		status = space_add_fixed(space, description->fixed[i], err);
	for (size_t i = 0; description->parameters[i] && !status; i += 2)
		status = space_add_parameter(space, description->parameters[i],
			description->parameters[i + 1], "list", err);
	for (size_t i = 0; description->derived[i] && !status; i += 2)
		status = space_add_derived(space, description->derived[i],
			description->derived[i + 1], "derived", err);
	for (size_t i = 0; description->constraints[i] && !status; i++) {
		char why[16];
		snprintf(why, sizeof(why), "why %zu", i);
		status = space_add_constraint(
			space, description->constraints[i], why, "constraint", err);
	}
	*built = space;
	if (status) {
		space_free(space);
		*built = NULL;
	}
	return status;
}

#endif
