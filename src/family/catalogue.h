/* SPDX-License-Identifier: MIT
 *
 * Operations, families and problems: everything that templates/ describes, loaded.
 *
 * The structures are read-only for other modules; expressions are compiled when the files are
 * loaded, so that a broken file is reported at once with file and JSON path.
 */
#ifndef FAMILY_CATALOGUE_H
#define FAMILY_CATALOGUE_H

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "expr/expression.h"
#include "expr/named_values.h"

struct operation; /* family/operation.h */
struct family;    /* family/family.h */

struct catalogue {
	char **template_folders; /* NULL-terminated, in order of search; first wins */
	struct operation **operations;
	size_t operation_count;
	struct family **families; /* of all operations, ordered by operation, then by name */
	size_t family_count;
};

/* Loads every <folder>/<operation>/operation.json and its families. `only` (may be NULL) limits
 * it to one operation (and those that its composite families name). Errors: STATUS_BAD_INPUT,
 * nearest name for an unknown operation, file and JSON path for broken ones, folders searched. */
enum status catalogue_load(const char *const *template_folders, const char *only,
	struct catalogue *catalogue, struct error *err);
void catalogue_release(struct catalogue *catalogue);
/* Adds the content of every loaded file and every source to a hash: what a run depends on. */
void catalogue_hash(const struct catalogue *catalogue, struct hash *hash);
enum status catalogue_operation(const struct catalogue *catalogue, const char *name,
	const struct operation **operation, struct error *err);
/* name: "gemm/mma", or "mma" with the operation given (else NULL). */
enum status catalogue_family(const struct catalogue *catalogue, const struct operation *operation,
	const char *name, const struct family **family, struct error *err);

const char *operation_name(const struct operation *operation);
const char *operation_summary(const struct operation *operation);
size_t operation_key_count(const struct operation *operation);
const char *operation_key_name(const struct operation *operation, size_t key);
const char *family_name(const struct family *family); /* "gemm/mma" */
const char *family_summary(const struct family *family);
const struct operation *family_operation(const struct family *family);
bool family_is_composite(const struct family *family);

/* ---- problems ---- */
struct problem {
	const struct operation *operation;
	struct value *values; /* one per key, canonical (defaults filled in); strings borrowed from
			       * the operation */
	char *text; /* "M=4096,N=4096,...": canonical, every key in the operation's order */
};

struct problem_list {
	struct problem **items;
	size_t count, capacity;
};

/* Parses "M=1,16,128,N=4096,K=1024:4096:1024,dtype=bf16": lists and inclusive ranges per key
 * (step 1 if left out; also "M=N=K=1024:4096:32" for keys that move together), aliases, defaults;
 * appends the product of all (at most 100000) to list. Refuses unknown keys (nearest name),
 * missing keys, values out of range, violated constraints (with their reason). */
enum status problem_parse(const struct operation *operation, const char *text,
	struct problem_list *list, struct error *err);
enum status problem_from_json(const struct operation *operation, const struct json_at *object,
	struct problem **problem, struct error *err);
struct json *problem_to_json(const struct problem *problem); /* {"M": 4096, ...} */
struct named_values problem_named_values(const struct problem *problem);
/* Errors: unknown keys, missing keys, values out of range, violated constraints. */
enum status problem_from_named_values(const struct operation *operation,
	const struct named_values *values, struct problem **problem, struct error *err);
void problem_free(struct problem *problem);
void problem_list_release(struct problem_list *list); /* frees the problems too */
enum status problem_flop(const struct problem *problem, double *flop, struct error *err);
enum status problem_min_bytes(const struct problem *problem, double *bytes, struct error *err);

#endif
