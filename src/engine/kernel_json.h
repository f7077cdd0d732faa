/* SPDX-License-Identifier: MIT
 *
 * A kernel on its own, beside its files: what is needed to launch it, as tiletune.kernel/1.
 */
#ifndef ENGINE_KERNEL_JSON_H
#define ENGINE_KERNEL_JSON_H

#include "base/json.h"
#include "candidate/build.h"
#include "expr/named_values.h"
#include "expr/named_values.h"
#include "family/plan.h"

#define KERNEL_FORMAT "tiletune.kernel/1"

struct kernel_description {
	const char *kind; /* "cubin", "ptx", "source" */
	const char *operation, *family;
	const struct named_values *problem, *configuration;
	const char *arch, *compiler; /* NULL: not compiled */
	const struct build *build;
	const struct plan *plan;
	char *const *files;           /* of the units, names without folders */
	const struct json *resources; /* per unit [{"name", "regs_per_thread", ...}]; may be NULL */
};

struct json *kernel_to_json(const struct kernel_description *description);

#endif
