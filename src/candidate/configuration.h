/* SPDX-License-Identifier: MIT
 *
 * Configurations of a bound family as text, JSON and choices; whether they are legal; defaults, and
 * what is legal and nearest to given values.
 */
#ifndef CANDIDATE_CONFIGURATION_H
#define CANDIDATE_CONFIGURATION_H

#include "candidate/bound_family.h"

/* "BM=128,BN=256,...": canonical, every parameter in the family's order. */
void configuration_format(
	const struct bound_family *bound, const choice *configuration, struct text *text);
/* Partial or full: values (one per parameter) gets the values of the parameters that are named,
 * given[i] says which they are. Numbers need not be in the lists. Errors: unknown names (nearest
 * offered), strings that are not in the list. */
enum status configuration_parse(const struct bound_family *bound, const char *text,
	struct value *values, bool *given, struct error *err);
struct named_values configuration_named_values(
	const struct bound_family *bound, const choice *configuration);
/* Errors: names or values that are not the family's, parameters that have none. */
enum status configuration_from_named_values(const struct bound_family *bound,
	const struct named_values *values, choice *configuration, struct error *err);
/* The family's defaults, one value per parameter. */
enum status configuration_defaults(
	const struct bound_family *bound, struct value *values, struct error *err);

/* The legal configuration nearest to values: that itself, or the one with the smallest sum over
 * parameters of |log2(its value / the value)| (1 for names that differ), the first of equals.
 * fixed[i] (may be NULL): parameter i must have its value. *found false: there is none. Walks the
 * whole space unless values are legal themselves. */
enum status configuration_nearest(const struct bound_family *bound, const struct value *values,
	const bool *fixed, choice *configuration, bool *found, struct error *err);

/* That nearest to the family's defaults. */
enum status configuration_default(
	const struct bound_family *bound, choice *configuration, bool *found, struct error *err);

/* Choices of a text as journals have it (configuration_format()), also of one that was written
 * before a parameter existed that says what its absence means; false if a value is not in its list.
 */
bool configuration_read(const struct bound_family *bound, const char *text, choice *choices);
/* Errors: expressions that fail. */
enum status configuration_is_legal(
	const struct bound_family *bound, const choice *choices, bool *legal, struct error *err);
/* The same; a violated constraint is an error that names it. */
enum status configuration_expect_legal(
	const struct bound_family *bound, const choice *choices, struct error *err);

/* The error about a value that is not in the parameter's list: "BM: expected one of 64, 128, found
 * ...". */
enum status configuration_refuse(
	const struct bound_family *bound, size_t parameter, const char *found, struct error *err);

/* The family's defaults, and what an object of parameters says in their place: given[i]. Errors:
 * names that are no parameters. Strings are borrowed from the tree. */
enum status configuration_from_json(const struct bound_family *bound, const struct json_at *config,
	struct value *values, bool *given, struct error *err);
/* Whether one value per parameter is in the lists and legal: *violated is why not (borrowed from
 * the family), or NULL, and configuration is set then. */
enum status configuration_examine(const struct bound_family *bound, const struct value *values,
	choice *configuration, const char **violated, struct error *err);

#endif
