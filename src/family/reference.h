/* SPDX-License-Identifier: MIT
 *
 * "reference" of an operation: what its outputs are compared with.
 */
#ifndef FAMILY_REFERENCE_H
#define FAMILY_REFERENCE_H

#include "source/source.h"
#include "family/tensor.h"

struct operation;

/* What outputs are compared with: a kernel that computes expected values of any list of units, a
 * file, or a configuration of a family. One of source_file, file and configuration is there. */
struct reference {
	const char *output;      /* name; NULL: the only one, or all that nothing else serves */
	const char *source_file; /* "reference.cu" */
	char *source_name;       /* "gemm/reference.cu" */
	char *source;            /* includes expanded; NULL until loaded */
	const char *entry;
	bool unit_is_row;
	/* over keys and device names; smem_bytes may be NULL */
	struct expression *units_per_block, *block, *smem_bytes;
	struct argument_list arguments;
	const char *file;           /* .npy or raw, in the operation's folder */
	struct json *configuration; /* names and values; the family's defaults for the others */
	const char *family;         /* of the configuration; NULL: the first that applies */
};
struct reference_list {
	struct reference *items;
	size_t count;
};

RECORD_DECLARE(struct reference, reference_record);

/* The reference that covers an output; NULL: none. */
const struct reference *reference_find(const struct operation *operation, size_t tensor);
/* The one that is a configuration; NULL: there is none. */
const struct reference *reference_trusted(const struct operation *operation);
/* Each reference covers at least one output, a kernel or a file exactly one; at most one reference
 * is a configuration. root: of operation.json. */
enum status references_check(
	const struct json_at *root, const struct operation *operation, struct error *err);
/* The kernels' sources. */
enum status references_load(struct operation *operation, const struct source_place *place,
	const char *const *template_folders, struct error *err);

#endif
