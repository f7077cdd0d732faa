/* SPDX-License-Identifier: MIT
 *
 * What `validate` tries of families beyond reading them, on the default device: their examples are
 * legal or illegal as they say, and their default configurations and the references compile and
 * take the arguments that they are given.
 */
#ifndef CHECK_FAMILIES_H
#define CHECK_FAMILIES_H

#include "base/text.h"
#include "family/catalogue.h"

/* only: the family's own name, "operation" for the reference alone; NULL: all of them. notices get
 * a line on each thing that could not be tried. Errors: STATUS_BAD_INPUT names file and problem. */
enum status families_check(const struct catalogue *catalogue, const char *only,
	struct text *notices, struct error *err);

#endif
