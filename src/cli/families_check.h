/* SPDX-License-Identifier: MIT
 *
 * What `validate` tries of families beyond reading them.
 */
#ifndef CLI_FAMILIES_CHECK_H
#define CLI_FAMILIES_CHECK_H

#include "family/catalogue.h"

/* Whether a family's own examples are what they say, on the default device (the tests try them on
 * one sheet of every compute capability), and where there is a compiler, whether the reference and
 * the default configuration compile and the kernels take what they are given. only: the family's
 * own name, "operation" for the reference alone; NULL: all of them. */
enum status families_check(const struct catalogue *catalogue, const char *only, struct error *err);

#endif
