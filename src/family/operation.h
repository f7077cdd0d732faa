/* SPDX-License-Identifier: MIT
 *
 * An operation as loaded from templates/<operation>/operation.json. Strings are borrowed from the
 * JSON tree, which lives as long as the operation.
 */
#ifndef FAMILY_OPERATION_H
#define FAMILY_OPERATION_H

#include "family/advice.h"
#include "family/catalogue.h"
#include "family/key.h"
#include "family/reference.h"
#include "family/tensor.h"

struct operation {
	struct json *tree;
	char *file; /* path of operation.json */
	const char *name, *summary;
	struct key *keys;
	size_t key_count;
	struct name_table key_names;
	size_t *default_order; /* every key, those that a default reads before it */
	struct condition_list constraints;
	struct tensor *tensors;
	size_t tensor_count;
	size_t output; /* the one output tensor */
	struct expression *flop, *min_bytes, *tolerance_abs, *tolerance_rel;
	struct reference reference;
	struct advice_list advice;
};

/* folder: <template folder>/<name>. template_folders: for the reference's includes. */
enum status operation_load(const char *folder, const char *name,
	const char *const *template_folders, struct operation **operation, struct error *err);
/* The same from a tree that is already there, without the reference's source; takes the tree. */
enum status operation_from_json(struct json *tree, const char *file, const char *name,
	struct operation **operation, struct error *err);
void operation_free(struct operation *operation);

/* "keys" with their defaults and the order of evaluating them (operation_keys.c). */
enum status operation_keys_read(
	const struct json_at *root, struct operation *operation, struct error *err);
/* Shapes of "facts" and "rules"; their expressions are compiled for each family. */
enum status operation_notes_check(const struct json_at *root, struct error *err);

/* A problem from some of its values: fills in defaults, checks ranges and constraints.
 * given[i]: values[i] is set. */
enum status problem_complete(const struct operation *operation, const struct value *values,
	const bool *given, struct problem **problem, struct error *err);

#endif
