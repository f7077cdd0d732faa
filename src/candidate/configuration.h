/* SPDX-License-Identifier: MIT
 *
 * Converts configurations between text, JSON and choices, tests legality, and finds the nearest
 * legal one.
 */
#ifndef CANDIDATE_CONFIGURATION_H
#define CANDIDATE_CONFIGURATION_H

#include "candidate/bound_family.h"

/* Appends the canonical text "BM=128,BN=256,..." with every parameter in the family's order. */
void configuration_format(
	const struct bound_family *bound, const choice *configuration, struct text *text);
/* `values` and `given` have one item per parameter. A number need not be in the parameter's list.
 * Errors: unknown names, and strings that are not in the list. */
enum status configuration_parse(const struct bound_family *bound, const char *text,
	struct value *values, bool *given, struct error *err);
struct named_values configuration_named_values(
	const struct bound_family *bound, const choice *configuration);
/* Errors: unknown names, values that are not in the lists, missing parameters. */
enum status configuration_from_named_values(const struct bound_family *bound,
	const struct named_values *values, choice *configuration, struct error *err);
enum status configuration_defaults(
	const struct bound_family *bound, struct value *values, struct error *err);

/* Finds the first of the nearest legal configurations, and sets *found if there is one. The
 * distance is the sum of |log2(its value / the value)| over the parameters; different strings add
 * 1. Parameters with fixed[i] (may be NULL) retain their values. Walks the space unless the values
 * are legal. */
enum status configuration_nearest(const struct bound_family *bound, const struct value *values,
	const bool *fixed, choice *configuration, bool *found, struct error *err);

/* Finds the legal configuration nearest to the defaults. */
enum status configuration_default(
	const struct bound_family *bound, choice *configuration, bool *found, struct error *err);

/* Reads the text of configuration_format(). A parameter with an "absent" value may be missing.
 * Returns false if a value is not in its list. */
bool configuration_read(const struct bound_family *bound, const char *text, choice *choices);
enum status configuration_is_legal(
	const struct bound_family *bound, const choice *choices, bool *legal, struct error *err);
/* Fails and names the constraint if the configuration is not legal. */
enum status configuration_expect_legal(
	const struct bound_family *bound, const choice *choices, struct error *err);

/* Sets the error "BM: expected one of 64, 128, found ...". */
enum status configuration_refuse(
	const struct bound_family *bound, size_t parameter, const char *found, struct error *err);

/* Sets values to defaults, overridden by members of a JSON object, for which given[i] is set.
 * Strings are borrowed from the tree. */
enum status configuration_from_json(const struct bound_family *bound, const struct json_at *config,
	struct value *values, bool *given, struct error *err);
/* Sets the configuration, and *violated to NULL or to the reason why it is illegal, borrowed from
 * the family. */
enum status configuration_examine(const struct bound_family *bound, const struct value *values,
	choice *configuration, const char **violated, struct error *err);

#endif
