/* SPDX-License-Identifier: MIT
 *
 * The "reference" of an operation, which gives the expected outputs.
 */
#ifndef FAMILY_REFERENCE_H
#define FAMILY_REFERENCE_H

#include "source/source.h"
#include "family/tensor.h"

struct operation;

/* A kernel that computes any subset of units, a file, or a configuration. Exactly one of
 * source_file, file and configuration is set. */
struct reference {
	/* Name of the output. NULL means the only output, or all outputs without another
	 * reference. */
	const char *output;
	const char *source_file;
	char *source_name;
	char *source; /* includes expanded; NULL until loaded */
	const char *entry;
	bool unit_is_row;
	uint32_t units_per_block, block, smem_bytes; /* computed from keys and device names */
	struct computed_list computed;
	struct argument_list arguments;
	const char *file; /* .npy or raw file in the operation's folder */
	/* values of parameters; omitted parameters have their defaults */
	struct json *configuration;
	const char *family; /* family of the configuration; NULL selects the first family that
			       applies */
};
struct reference_list {
	struct reference *items;
	size_t count;
};

RECORD_DECLARE(struct reference, reference_record);

/* Returns the reference that covers an output, or NULL. */
const struct reference *reference_find(const struct operation *operation, size_t tensor);
/* Returns the reference that is a configuration, or NULL. */
const struct reference *reference_trusted(const struct operation *operation);
/* Checks that each reference covers an output, that a kernel or a file covers exactly one, and that
 * a configuration is the only reference. */
enum status references_check(
	const struct json_at *root, const struct operation *operation, struct error *err);
enum status references_load(struct operation *operation, const struct source_place *place,
	const char *const *template_folders, struct error *err);

#endif
