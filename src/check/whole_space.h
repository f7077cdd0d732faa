/* SPDX-License-Identifier: MIT
 *
 * What `tune` would meet in the whole space of an own kernel, without timing anything.
 */
#ifndef CHECK_WHOLE_SPACE_H
#define CHECK_WHOLE_SPACE_H

#include "candidate/bound_family.h"
#include "engine/evaluator.h"

/* Works out the launches of all legal configurations (of the first 100,000; of none if the product
 * of the lists exceeds 10 million), and compiles their kernels if they are at most 16, else one
 * with each value of each parameter that is compiled in.
 * notices get a line on what limits of the GPU remove and one on what does not compile. Errors: a
 * launch that cannot be worked out, as a grid that is no integer. */
enum status whole_space_check(struct bound_family *bound, struct context *context,
	struct text *notices, struct error *err);

#endif
