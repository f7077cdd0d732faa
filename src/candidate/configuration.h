/* SPDX-License-Identifier: MIT
 *
 * Configurations of a bound family as text, JSON and choices; tests of legality; defaults, and the
 * legal configuration nearest to given values.
 */
#ifndef CANDIDATE_CONFIGURATION_H
#define CANDIDATE_CONFIGURATION_H

#include "candidate/bound_family.h"

/* Appends the canonical text "BM=128,BN=256,..." with every parameter in the family's order. */
void configuration_format(
	const struct bound_family *bound, const choice *configuration, struct text *text);
/* Parses a partial or full configuration. values has one item per parameter; given[i] marks those
 * that the text sets. Numbers need not be in the parameter's list. Errors: unknown names (with the
 * nearest) and strings that are not in the list. */
enum status configuration_parse(const struct bound_family *bound, const char *text,
	struct value *values, bool *given, struct error *err);
struct named_values configuration_named_values(
	const struct bound_family *bound, const choice *configuration);
/* Errors: unknown names, values that are not in the lists, missing parameters. */
enum status configuration_from_named_values(const struct bound_family *bound,
	const struct named_values *values, choice *configuration, struct error *err);
enum status configuration_defaults(
	const struct bound_family *bound, struct value *values, struct error *err);

/* Finds the legal configuration nearest to values. The distance is the sum of |log2(its value / the
 * value)| over the parameters, or 1 for differing names; the first of equals wins. If fixed[i] is
 * true (fixed may be NULL), parameter i must have its value. Sets *found to false if there is none.
 * Walks the whole space unless values are legal. */
enum status configuration_nearest(const struct bound_family *bound, const struct value *values,
	const bool *fixed, choice *configuration, bool *found, struct error *err);

/* Finds the legal configuration nearest to the defaults. */
enum status configuration_default(
	const struct bound_family *bound, choice *configuration, bool *found, struct error *err);

/* Reads the text of a journal (configuration_format()). Text from before a parameter existed is
 * valid if the parameter defines the meaning of its absence. Returns false if a value is not in its
 * list. */
bool configuration_read(const struct bound_family *bound, const char *text, choice *choices);
enum status configuration_is_legal(
	const struct bound_family *bound, const choice *choices, bool *legal, struct error *err);
/* Fails and names the constraint if the configuration is not legal. */
enum status configuration_expect_legal(
	const struct bound_family *bound, const choice *choices, struct error *err);

/* Sets the error for a value that is not in the parameter's list: "BM: expected one of 64, 128,
 * found ...". */
enum status configuration_refuse(
	const struct bound_family *bound, size_t parameter, const char *found, struct error *err);

/* Sets values to the defaults, overridden by an object of parameters, which given[i] marks. Unknown
 * names are errors. Strings are borrowed from the tree. */
enum status configuration_from_json(const struct bound_family *bound, const struct json_at *config,
	struct value *values, bool *given, struct error *err);
/* Checks one value per parameter. If all are in the lists and legal, sets the configuration, and
 * *violated to NULL. Otherwise *violated is the reason, borrowed from the family. */
enum status configuration_examine(const struct bound_family *bound, const struct value *values,
	choice *configuration, const char **violated, struct error *err);

#endif
