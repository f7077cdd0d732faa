/* SPDX-License-Identifier: MIT
 *
 * Configurations with values that need not be in the lists: defaults, and what is nearest to them.
 */
#ifndef CANDIDATE_CONFIGURATION_H
#define CANDIDATE_CONFIGURATION_H

#include "candidate/candidate.h"

/* The family's defaults, one value per parameter. */
enum status configuration_defaults(
	const struct bound_family *bound, struct value *values, struct error *err);

/* The legal configuration nearest to values: that itself, or the one with the smallest sum over
 * parameters of |log2(its value / the value)| (1 for names that differ), the first of equals.
 * fixed[i] (may be NULL): parameter i must have its value. *found false: there is none. Walks the
 * whole space unless values are legal themselves. */
enum status configuration_nearest(const struct bound_family *bound, const struct value *values,
	const bool *fixed, choice *configuration, bool *found, struct error *err);

/* The value of parameter `parameter` from text: an integer, a number, or a string of its list. */
enum status configuration_value_parse(const struct bound_family *bound, size_t parameter,
	const char *text, struct value *value, struct error *err);

/* All slots of a configuration that is given as a journal has it ("BM=128,BN=256,..."). *legal
 * false: it is none of the family's for this problem (anymore); slots are of no use then. Errors:
 * expressions that fail. */
enum status configuration_values(const struct bound_family *bound, const char *text,
	struct value *slots, bool *legal, struct error *err);

/* Choices of a text in canonical form (configuration_format()), as journals have it; false if a
 * value is not in its list here. */
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

/* A value from JSON: a number, a boolean or a string. */
enum status configuration_value_json(
	const struct json_at *at, struct value *value, struct error *err);

#endif
