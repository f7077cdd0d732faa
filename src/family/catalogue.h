/* SPDX-License-Identifier: MIT
 *
 * Loads operations and families from template folders. Expressions are compiled at once, so that an
 * invalid file is reported with its JSON path.
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
	/* families of all operations, sorted by operation, then by name */
	struct family **families;
	size_t family_count;
	bool without_sources; /* sources of kernels and facts of families were not read */
};

/* Loads every <place>/<operation>/operation.json and its families. A place may be an own kernel's
 * file. `only` may be NULL, or restricts loading to one operation, by name or own kernel's file.
 * Errors: an unknown operation or an invalid file. */
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
/* `name` is the name of an operation, or the file of an own kernel. */
enum status catalogue_operation(const struct catalogue *catalogue, const char *name,
	const struct operation **operation, struct error *err);
/* name is "gemm/mma", or "mma" if operation is not NULL. */
enum status catalogue_family(const struct catalogue *catalogue, const struct operation *operation,
	const char *name, const struct family **family, struct error *err);
/* Loads an unlisted family or own kernel for another file's operation. `unused` (may be NULL) gets
 * the names of members without effect. The caller frees *family. */
enum status catalogue_load_outside(const struct catalogue *catalogue, const char *file,
	const struct operation *operation, struct family **family, struct text *unused,
	struct error *err);
/* Refuses names of families that the operation does not have. names is NULL-terminated or NULL. */
enum status catalogue_expect_families(const struct catalogue *catalogue,
	const struct operation *operation, const char *const *names, struct error *err);

#endif
