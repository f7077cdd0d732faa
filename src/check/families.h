/* SPDX-License-Identifier: MIT
 *
 * The part of `validate` that tries families on the default device. The examples must be legal
 * or illegal as they say, and the default configurations and references must compile and accept
 * their arguments.
 */
#ifndef CHECK_FAMILIES_H
#define CHECK_FAMILIES_H

#include "base/text.h"
#include "family/catalogue.h"

/* Checks a file. `path` is an operation.json or a family's JSON, whose whole folder is loaded as
 * the catalogue does; or, with is_own, the file of an own kernel, which is both operation and
 * family. `templates` is a NULL-terminated list of folders. form_only reads the files but
 * compiles nothing. `notices` gets a line for each part that could not be tried and for each -D
 * that no source reads. Errors are STATUS_BAD_INPUT and name the file and the problem. */
enum status families_check(const char *path, bool is_own, const char *const *templates,
	bool form_only, struct text *notices, struct error *err);

#endif
