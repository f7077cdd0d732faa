/* SPDX-License-Identifier: MIT
 *
 * Rules of an operation, compiled for a family: published heuristics that choose a tile, e.g. "the
 * largest square tile whose shared memory fits". A rule tries the values of a list in order; `set`
 * says which parameters they become; of those for which `where` holds the first is preferred, or
 * the one with the largest `expression` (the first of equals). Picked is the most preferred one
 * with a legal configuration; parameters that the rule does not set keep their defaults there, or
 * come as near to them as the constraints allow.
 */
#ifndef FAMILY_RULE_H
#define FAMILY_RULE_H

#include "family/expression_json.h"

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

struct family;
struct operation;
size_t operation_rule_count(const struct operation *operation);
const char *operation_rule_name(const struct operation *operation, size_t rule);
size_t family_rule_count(const struct family *family);
const struct rule *family_rule(const struct family *family, size_t rule);
void rule_release(struct rule *rule);

#endif
