/* SPDX-License-Identifier: MIT
 *
 * Evaluates the `model` of every active launch.
 */
#ifndef CANDIDATE_CANDIDATE_WORK_H
#define CANDIDATE_CANDIDATE_WORK_H

#include "candidate/candidate.h"
#include "plan/work.h"

/* `values` are the same as for candidate_build(). */
enum status candidate_work(const struct bound_family *bound, const struct value *values,
	struct work *work, struct error *err);

/* Memory and results shared by evaluations in one thread. bound must outlive the context. */
struct work_context;
struct work_context *work_context_new(const struct bound_family *bound);
void work_context_free(struct work_context *context); /* NULL is fine */
/* *work is valid until the next call. */
enum status work_context_evaluate(struct work_context *context, const struct value *values,
	const struct work **work, struct error *err);

#endif
