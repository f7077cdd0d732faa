/* SPDX-License-Identifier: MIT
 *
 * Operations, families and problems: everything that templates/ describes, loaded.
 *
 * The structures are read-only for other modules; expressions are compiled when the files are
 * loaded, so that a broken file is reported at once with file and JSON path.
 */
#ifndef FAMILY_CATALOGUE_H
#define FAMILY_CATALOGUE_H

#include "base/hash.h"
#include "family/family.h"
#include "family/own_kernel.h"
#include "family/problem.h"

struct catalogue {
	char **template_folders; /* NULL-terminated, in order of search; first wins */
	struct own_kernel *own;  /* files among the places to search */
	size_t own_count;
	struct operation **operations;
	size_t operation_count;
	struct family **families; /* of all operations, ordered by operation, then by name */
	size_t family_count;
};

/* Loads every <place>/<operation>/operation.json and its families; a place may also be the file of
 * an own kernel (family/own_kernel.h). `only` (may be NULL) limits it to one operation: its
 * name, or an own kernel's file. Errors: STATUS_BAD_INPUT,
 * nearest name for an unknown operation, file and JSON path for broken ones, folders searched. */
enum status catalogue_load(const char *const *places, const char *only, struct catalogue *catalogue,
	struct error *err);
void catalogue_release(struct catalogue *catalogue);
/* Titles of problems that are made from now on name every key, or leave defaults out. */
void catalogue_show_defaults(const struct catalogue *catalogue, bool shows_defaults);
/* Adds the content of every loaded file and every source to a hash: what a run depends on. */
void catalogue_hash(const struct catalogue *catalogue, struct hash *hash);
/* name: the operation's, or the file of an own kernel. */
enum status catalogue_operation(const struct catalogue *catalogue, const char *name,
	const struct operation **operation, struct error *err);
/* name: "gemm/mma", or "mma" with the operation given (else NULL). */
enum status catalogue_family(const struct catalogue *catalogue, const struct operation *operation,
	const char *name, const struct family **family, struct error *err);
/* Refuses a family (names: NULL-terminated, may be NULL) that the operation does not have. */
enum status catalogue_expect_families(const struct catalogue *catalogue,
	const struct operation *operation, const char *const *names, struct error *err);

#endif
