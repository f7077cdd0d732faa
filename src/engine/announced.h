/* SPDX-License-Identifier: MIT
 *
 * What a device is told of a problem: its tensors and, where the device measures, the compiled
 * reference that candidates are compared with.
 */
#ifndef ENGINE_ANNOUNCED_H
#define ENGINE_ANNOUNCED_H

#include "engine/context.h"

struct announced {
	const struct problem *problem; /* borrowed */
	struct build build;            /* of the reference */
	struct reference_plan reference;
	struct text *cubins; /* borrowed from the store */
	struct device_problem told;
};

/* Waits for the compiler. Errors: a reference that does not compile, or gets what it does not take.
 */
enum status announced_make(struct context *context, const struct problem *problem,
	struct announced **announced, struct error *err);
void announced_free(struct announced *announced);

#endif
