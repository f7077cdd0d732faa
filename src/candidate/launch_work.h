/* SPDX-License-Identifier: MIT
 *
 * A launch's shape and `model` as numbers.
 */
#ifndef CANDIDATE_LAUNCH_WORK_H
#define CANDIDATE_LAUNCH_WORK_H

#include "candidate/bound_family.h"
#include "family/family.h"

/* What expressions read. Candidates are evaluated in the order of the space, so that most of what
 * one reads is the last one's, and so is the result. */
struct inputs {
	struct value *values;
	const bool *changed; /* by slot; NULL: nothing is left of an evaluation before */
	bool *differs;       /* set where a result is not the last one's; NULL: nobody asks */
};

/* Whether the result is the last one's. NULL: that of no expression. */
bool inputs_known(const struct inputs *inputs, const struct expression *expression);

/* Addresses of shared-memory accesses depend on a few values (a pitch, a swizzle), candidates on
 * many: a small table for each access. */
struct access_memo;
struct access_memo *access_memos_new(const struct bound_family *bound, size_t launch);

/* Of the values that of `lane` is changed. memos: the launch's, or NULL. work: zeroed but for the
 * memory of its lists, which have room for all; where nothing that inputs.changed knows of differs,
 * what the last evaluation left. */
enum status launch_work_evaluate(const struct bound_family *bound, size_t launch,
	const struct inputs *inputs, struct access_memo *memos, struct launch_work *work,
	struct error *err);

#endif
