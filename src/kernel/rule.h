/* SPDX-License-Identifier: MIT
 *
 * Rules of an operation, compiled for a family: published heuristics that choose a tile, e.g. "the
 * largest square tile whose shared memory fits". A rule tries the values of a list in order; `set`
 * says which parameters they become; of those for which `where` holds the first is preferred, or
 * the one with the largest `expression` (the first of equals). Picked is the most preferred one
 * with a legal configuration; parameters that the rule does not set keep their defaults there, or
 * come as near to them as the constraints allow.
 */
#ifndef KERNEL_RULE_H
#define KERNEL_RULE_H

#include "kernel/candidate.h"

struct rule_assignment {
	size_t parameter; /* of the family */
	struct expression *value;
};

struct rule {
	const char *name;
	bool applies;            /* false: it names what the family lacks */
	struct expression *over; /* a list */
	struct rule_assignment *assignments;
	size_t assignment_count;
	struct expression *where;      /* NULL: all */
	bool is_argmax;                /* else the first */
	struct expression *expression; /* of argmax */
};

size_t family_rule_count(const struct family *family);
const struct rule *family_rule(const struct family *family, size_t rule);
void rule_release(struct rule *rule);

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
