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
	struct value *values; /* one per key, canonical (defaults filled in); strings borrowed from
			       * the operation */
	char *text;  /* "M=4096,N=4096,...": canonical, every key in the operation's order */
	char *title; /* for people: without keys that have their defaults, but for the dtype */
};

struct problem_list {
	struct problem **items;
	size_t count, capacity;
};

/* ---- keys: what sizes and choices are called and which values they take ---- */
RECORD_DECLARE(struct key, key_record);

/* A value from text: the enum's own string, an integer in the key's range, or a real number. */
enum status key_value_parse(
	const struct key *key, const char *text, struct value *value, struct error *err);

/* ---- problems ---- */
/* From some of its values: fills in defaults, checks ranges and constraints. given[i]: values[i] is
 * set. */
enum status problem_complete(const struct operation *operation, const struct value *values,
	const bool *given, struct problem **problem, struct error *err);
struct named_values problem_named_values(const struct problem *problem);
/* Errors: unknown keys, missing keys, values out of range, violated constraints. */
enum status problem_from_named_values(const struct operation *operation,
	const struct named_values *values, struct problem **problem, struct error *err);
void problem_free(struct problem *problem);
void problem_cleanup(struct problem **problem);       /* for CLEANUP() */
void problem_list_release(struct problem_list *list); /* frees the problems too */
/* 0: not known. */
enum status problem_flop(const struct problem *problem, double *flop, struct error *err);
enum status problem_min_bytes(const struct problem *problem, double *bytes, struct error *err);

/* What its values are: "an integer from 1 to 2147483647", "a number" or "one of fp16, bf16". */
void key_describe(const struct key *key, struct text *text);

/* ---- text (problem_text.c) ---- */
/* Appends the product of all lists and ranges (at most 100000; ranges are inclusive, step 1 if left
 * out) to list. Refuses unknown keys (nearest name), missing keys, values out of range, violated
 * constraints (with their reason). */
enum status problem_parse(const struct operation *operation, const char *text,
	struct problem_list *list, struct error *err);

/* A canonical text from before the operation got further keys becomes that of today; one that is no
 * problem of today's stays. */
void problem_text_complete(const struct operation *operation, char **text);

/* Whether both are of one operation and differ in this key alone, or in keys whose defaults follow
 * from it; false where a title lacks the key. */
bool problem_differs_in(const struct problem *a, const struct problem *b, const char *key);

#endif
