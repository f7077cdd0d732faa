/* SPDX-License-Identifier: MIT
 *
 * What a rule of the operation (family/rule.h) picks.
 */
#ifndef CANDIDATE_RULE_PICK_H
#define CANDIDATE_RULE_PICK_H

#include "candidate/candidate.h"
#include "family/rule.h"

/* What a rule may read of a configuration that is not compiled yet. */
typedef void rule_resources(const struct bound_family *bound, const struct value *slots,
	void *context, int64_t *smem_bytes, int64_t *blocks_per_sm);

/* The configuration that the rule picks. *found false: the rule is not for this family, or nothing
 * that it tries is a legal configuration. resources may be NULL: smem_bytes is the first launch's
 * dynamic shared memory then, blocks_per_sm is 1. */
enum status rule_pick(const struct bound_family *bound, const struct rule *rule,
	rule_resources *resources, void *context, choice *configuration, bool *found,
	struct error *err);

#endif
