/* SPDX-License-Identifier: MIT
 *
 * A composite family bound to a problem: for each step the problem that it poses, and, once chosen,
 * the candidate that serves it. candidate_plan(), candidate_build() and candidate_work() of the
 * whole are then the steps', one after the other: a tensor of a step is the tensor or the
 * workspace that the family's "tensors" names (every tensor must be named); workspaces and tensor
 * maps of step i are called step<i>_NAME, from 1.
 *
 *	family_bind -> composite_choose (each step) -> candidate_plan ...
 */
#ifndef CANDIDATE_COMPOSITE_H
#define CANDIDATE_COMPOSITE_H

#include "candidate/candidate.h"

struct work;

struct composite_step {
	struct problem *problem;    /* owned */
	struct candidate candidate; /* owned; without bound: not chosen yet */
	struct value *values;       /* owned */
};

struct composite {
	struct composite_step *steps;
	size_t step_count;
};

/* Poses the steps' problems: a part of family_bind(). On failure bound->composite is to be freed.
 */
enum status composite_open(struct bound_family *bound, struct error *err);
void composite_free(struct composite *composite); /* NULL is fine */

/* What serves a step, by names as a tuned file has them; replaces an earlier choice. Errors: an
 * unknown or composite family, one that does not apply, a configuration that is not legal here. */
enum status composite_choose(const struct catalogue *catalogue, struct bound_family *bound,
	size_t step, const char *family, const struct named_values *configuration,
	struct error *err);

/* ---- parts of candidate_*(), once every step is chosen ---- */
/* plan holds the family's own buffers. */
enum status composite_plan(const struct bound_family *bound, struct plan *plan, struct error *err);
enum status composite_build(
	const struct bound_family *bound, struct build *build, struct error *err);
/* An intermediate that fits in half of the L2 cache is counted as never reaching DRAM, as operands
 * of that size are in the families' models. work holds the family's own workspaces. */
enum status composite_work(const struct bound_family *bound, struct work *work, struct error *err);

#endif
