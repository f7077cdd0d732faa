/* SPDX-License-Identifier: MIT
 *
 * Loads operations and families from template folders.
 *
 * Other modules only read the structures. Expressions are compiled at load time, so that an invalid
 * file is reported at once with file and JSON path.
 */
#ifndef FAMILY_CATALOGUE_H
#define FAMILY_CATALOGUE_H

#include "base/hash.h"
#include "family/family.h"
#include "family/own_kernel.h"
#include "family/problem.h"

struct catalogue {
	char **template_folders; /* NULL-terminated, in search order; the first match wins */
	struct own_kernel *own;
	size_t own_count;
	struct operation **operations;
	size_t operation_count;
	struct family **families; /* of all operations, sorted by operation, then name */
	size_t family_count;
	bool without_sources; /* neither sources of kernels nor facts of families were read */
};

/* Loads every <place>/<operation>/operation.json and its families. A place may also be the file of
 * an own kernel (family/own_kernel.h). `only` limits loading to one operation, by name or own
 * kernel's file; NULL loads all. Errors are STATUS_BAD_INPUT: an unknown operation (with the
 * nearest name and the folders searched) or an invalid file (with file and JSON path). */
enum status catalogue_load(const char *const *places, const char *only, struct catalogue *catalogue,
	struct error *err);
/* Works like catalogue_load(), but reads neither sources of kernels nor facts. */
enum status catalogue_list(const char *const *places, const char *only, struct catalogue *catalogue,
	struct error *err);
void catalogue_release(struct catalogue *catalogue);
/* Sets whether titles of new problems name every key or omit defaults. */
void catalogue_show_defaults(const struct catalogue *catalogue, bool shows_defaults);
/* Adds the content of every loaded file and source to a hash. */
void catalogue_hash(const struct catalogue *catalogue, struct hash *hash);
/* name is that of the operation, or the file of an own kernel. */
enum status catalogue_operation(const struct catalogue *catalogue, const char *name,
	const struct operation **operation, struct error *err);
/* name is "gemm/mma", or "mma" if operation is not NULL. */
enum status catalogue_family(const struct catalogue *catalogue, const struct operation *operation,
	const char *name, const struct family **family, struct error *err);
/* Loads a family for an operation that another file defines. The file is an own kernel's or a
 * family's. Members of an own kernel's file that define its operation do not count; `unused` (may
 * be NULL) gets their names. The catalogue does not list the family, so it serves no reference. The
 * caller frees *family. */
enum status catalogue_load_outside(const struct catalogue *catalogue, const char *file,
	const struct operation *operation, struct family **family, struct text *unused,
	struct error *err);
/* Refuses names of families that the operation does not have. names is NULL-terminated or NULL. */
enum status catalogue_expect_families(const struct catalogue *catalogue,
	const struct operation *operation, const char *const *names, struct error *err);

#endif
