/* SPDX-License-Identifier: MIT
 *
 * Tries families for `validate` on the default device: their examples must be legal or illegal as
 * they say, and default configurations and references must compile and accept their arguments.
 */
#ifndef CHECK_FAMILIES_H
#define CHECK_FAMILIES_H

#include "base/text.h"
#include "family/catalogue.h"

/* `path` is an operation.json or a family's JSON, whose folder is loaded, or with is_own the file
 * of an own kernel. `templates` is NULL-terminated. form_only compiles nothing. `notices` gets a
 * line for each part that could not be tried and each -D that no source reads. STATUS_BAD_INPUT. */
enum status families_check(const char *path, bool is_own, const char *const *templates,
	bool form_only, struct text *notices, struct error *err);

#endif
