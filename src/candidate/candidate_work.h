/* SPDX-License-Identifier: MIT
 *
 * The work of a candidate, what the score reads: every active launch's `model` as numbers.
 */
#ifndef CANDIDATE_CANDIDATE_WORK_H
#define CANDIDATE_CANDIDATE_WORK_H

#include "candidate/candidate.h"
#include "plan/work.h"

/* values: of all names, as candidate_build() takes them. */
enum status candidate_work(const struct bound_family *bound, const struct value *values,
	struct work *work, struct error *err);

/* What evaluating many configurations of a bound family shares: memory, and what does not change
 * from one to the next. One per thread; bound must outlive it. */
struct work_context;
struct work_context *work_context_new(const struct bound_family *bound);
void work_context_free(struct work_context *context); /* NULL is fine */
/* *work is valid until the next call. */
enum status work_context_evaluate(struct work_context *context, const struct value *values,
	const struct work **work, struct error *err);

#endif
