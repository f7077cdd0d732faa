/* SPDX-License-Identifier: MIT
 *
 * Configurations as text, JSON and choices; legality; defaults; the nearest legal one.
 */
#ifndef CANDIDATE_CONFIGURATION_H
#define CANDIDATE_CONFIGURATION_H

#include "candidate/bound_family.h"

/* Appends the canonical text "BM=128,BN=256,..." with every parameter in the family's order. */
void configuration_format(
	const struct bound_family *bound, const choice *configuration, struct text *text);
/* values and given have one item per parameter. Numbers need not be in the lists. Errors: unknown
 * names, strings that are not in the list. */
enum status configuration_parse(const struct bound_family *bound, const char *text,
	struct value *values, bool *given, struct error *err);
struct named_values configuration_named_values(
	const struct bound_family *bound, const choice *configuration);
/* Errors: unknown names, values that are not in the lists, missing parameters. */
enum status configuration_from_named_values(const struct bound_family *bound,
	const struct named_values *values, choice *configuration, struct error *err);
enum status configuration_defaults(
	const struct bound_family *bound, struct value *values, struct error *err);

/* The nearest legal configuration by the sum of |log2(its value / the value)|, or 1 for differing
 * names; the first of equals. Parameters with fixed[i] (may be NULL) keep their value. *found:
 * there is one. Walks the space unless values are legal. */
enum status configuration_nearest(const struct bound_family *bound, const struct value *values,
	const bool *fixed, choice *configuration, bool *found, struct error *err);

/* Finds the legal configuration nearest to the defaults. */
enum status configuration_default(
	const struct bound_family *bound, choice *configuration, bool *found, struct error *err);

/* Reads configuration_format()'s text. A parameter may be missing if its absence has a meaning.
 * False: a value is not in its list. */
bool configuration_read(const struct bound_family *bound, const char *text, choice *choices);
enum status configuration_is_legal(
	const struct bound_family *bound, const choice *choices, bool *legal, struct error *err);
/* Fails and names the constraint if the configuration is not legal. */
enum status configuration_expect_legal(
	const struct bound_family *bound, const choice *choices, struct error *err);

/* "BM: expected one of 64, 128, found ..." */
enum status configuration_refuse(
	const struct bound_family *bound, size_t parameter, const char *found, struct error *err);

/* Defaults, overridden by a JSON object, which given[i] marks. Strings are borrowed from the tree.
 */
enum status configuration_from_json(const struct bound_family *bound, const struct json_at *config,
	struct value *values, bool *given, struct error *err);
/* Sets the configuration, and *violated to NULL or the reason, borrowed from the family. */
enum status configuration_examine(const struct bound_family *bound, const struct value *values,
	choice *configuration, const char **violated, struct error *err);

#endif
