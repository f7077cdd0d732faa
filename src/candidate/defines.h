/* SPDX-License-Identifier: MIT
 *
 * The -D list of a candidate: constant keys, constant parameters, constants.
 */
#ifndef CANDIDATE_DEFINES_H
#define CANDIDATE_DEFINES_H

#include "base/error.h"
#include "expr/value.h"

struct define {
	char *name;  /* "BM", or "DTYPE_bf16" for a string */
	char *value; /* as written; "1" for a string */
};

struct define_list {
	struct define *items;
	size_t count, capacity;
};

/* Adds NAME=value (numbers; booleans as 0 or 1) or NAME_value=1 (strings, NAME in upper case). A
 * string must be of letters, digits and _; a list cannot be defined. */
enum status define_list_add(
	struct define_list *list, const char *name, struct value value, struct error *err);
void define_list_sort(struct define_list *list); /* by name */
void define_list_release(struct define_list *list);

struct family;
struct problem;
struct operation;
/* Of an operation's constant keys; values: one per key. */
enum status operation_defines(const struct operation *operation, const struct value *values,
	struct define_list *list, struct error *err);
/* Of a family: slots as of the bound space. Sorted. */
enum status family_defines(const struct family *family, const struct value *slots,
	struct define_list *list, struct error *err);

#endif
