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

/* path: an operation.json or a family's JSON: its folder is loaded as the catalogue loads it, other
 * families too; or, is_own, an own kernel's file, which is operation and family. templates:
 * folders, NULL-terminated. form_only: read, not tried. notices get a line on each thing that could
 * not be tried, and on each -D that no source reads. Errors: STATUS_BAD_INPUT names file and
 * problem. */
enum status families_check(const char *path, bool is_own, const char *const *templates,
	bool form_only, struct text *notices, struct error *err);

#endif
