/* SPDX-License-Identifier: MIT
 *
 * A source of the templates built as it stands, without a family: the helper kernels.
 */
#ifndef CANDIDATE_PLAIN_BUILD_H
#define CANDIDATE_PLAIN_BUILD_H

#include "base/error.h"
#include "candidate/build.h"

/* name: relative to one of the template folders (NULL-terminated), "common/helpers.cu"; the first
 * folder that has it wins. One unit without entries. Errors: not found (and where it was looked
 * for), includes that do not expand. */
enum status plain_build(const char *const *template_folders, const char *name, struct build *build,
	struct error *err);

#endif
