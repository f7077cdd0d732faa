/* SPDX-License-Identifier: MIT
 *
 * A problem: a value for each of its operation's keys.
 */
#ifndef FAMILY_PROBLEM_H
#define FAMILY_PROBLEM_H

#include "expr/named_values.h"
#include "family/operation.h"

struct problem {
	const struct operation *operation;
	struct value *values; /* one per key, including defaults; strings are borrowed from the
				 operation */
	char *text;  /* canonical: "M=4096,N=4096,..." with every key in the operation's order */
	char *title; /* text for people, which omits keys with default values except the dtype */
};

struct problem_list {
	struct problem **items;
	size_t count, capacity;
};

/* ---- keys: names and valid values of sizes and choices ---- */
RECORD_DECLARE(struct key, key_record);

enum status key_value_parse(
	const struct key *key, const char *text, struct value *value, struct error *err);

/* ---- problems ---- */
/* Completes a problem with defaults and checks ranges and constraints. values[i] is set if given[i]
 * is true. */
enum status problem_complete(const struct operation *operation, const struct value *values,
	const bool *given, struct problem **problem, struct error *err);
struct named_values problem_named_values(const struct problem *problem);
/* Errors: unknown or missing keys, values out of range, violated constraints. */
enum status problem_from_named_values(const struct operation *operation,
	const struct named_values *values, struct problem **problem, struct error *err);
void problem_free(struct problem *problem);
void problem_cleanup(struct problem **problem);
void problem_list_release(struct problem_list *list);
/* Sets *flop to 0 if it is unknown. */
enum status problem_flop(const struct problem *problem, double *flop, struct error *err);
enum status problem_min_bytes(const struct problem *problem, double *bytes, struct error *err);

/* Appends the valid values: "an integer from 1 to 2147483647", "a number", "one of fp16, bf16". */
void key_describe(const struct key *key, struct text *text);

/* ---- text (problem_text.c) ---- */
/* Appends a problem for each combination of values in lists and ranges, at most 100000. A range
 * includes its end; its default step is 1. Errors: unknown or missing keys, values out of range,
 * violated constraints. */
enum status problem_parse(const struct operation *operation, const char *text,
	struct problem_list *list, struct error *err);

/* Adds missing keys to a canonical text from before the operation got more keys. An invalid text
 * stays unchanged. */
void problem_text_complete(const struct operation *operation, char **text);

/* Returns whether two problems differ only in this key, which is not a default in either, and in
 * defaults. */
bool problem_differs_in(const struct problem *a, const struct problem *b, const char *key);

#endif
