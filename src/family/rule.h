/* SPDX-License-Identifier: MIT
 *
 * An operation's facts and rules, compiled for a family.
 *
 * Facts are formulas about a candidate. Rules are published heuristics that choose a tile, e.g.
 * "the largest square tile whose shared memory fits". A rule tries the values of a list in order;
 * `set` says which parameters they become; of those for which `where` holds the first is preferred,
 * or the one with the largest `expression` (the first of equals). Picked is the most preferred one
 * with a legal configuration; parameters that the rule does not set keep their defaults there, or
 * come as near to them as the constraints allow.
 */
#ifndef FAMILY_RULE_H
#define FAMILY_RULE_H

#include "family/expression_json.h"

/* expression NULL: it names what the family lacks. */
struct family_fact {
	const char *name, *unit, *source;
	struct expression *expression, *when;
	size_t slot; /* where later facts read it; 0: it has no name of its own */
};

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
enum status family_facts_compile(struct family *family, struct error *err);
void family_facts_free(struct family *family);
enum status family_rules_compile(struct family *family, struct error *err);
void family_rules_free(struct family *family);

#endif
