/* SPDX-License-Identifier: MIT
 *
 * Describes how to launch a standalone kernel (tiletune.kernel/1).
 */
#ifndef FORMAT_KERNEL_JSON_H
#define FORMAT_KERNEL_JSON_H

#include "candidate/candidate.h"

/* resources as the compiler reports them */
struct kernel_usage {
	char *name;
	int32_t regs_per_thread, smem_static_bytes, spill_bytes;
};

struct kernel_unit {
	const char *name, *file; /* name of the unit ("gemm/mma.cu"); file name without folders */
	char **options, **entries;
	size_t option_count, entry_count;
	struct kernel_usage *resources; /* per kernel; NULL: not known */
	size_t resource_count;
};

/* A document for writing owns only `units` and `resources`. */
struct kernel_document {
	int kind; /* "cubin", "ptx", "source" */
	const char *operation, *family;
	struct named_values problem, configuration;
	const char *arch, *compiler; /* compiler NULL: not compiled */
	char kernel_hash[HASH_SIZE];
	struct kernel_unit *units;
	size_t unit_count;
	struct plan plan;
};
RECORD_DECLARE(struct kernel_document, kernel_document_record);

/* Returns the build's units without files and resources. They borrow from the build. */
struct kernel_unit *kernel_units(const struct build *build);
/* `files` has one file per unit; compiler NULL: not compiled. */
struct json *kernel_json(const char *kind, const struct candidate *candidate,
	const struct build *build, const struct plan *plan, struct kernel_unit *units,
	char *const *files, const char *arch, const char *compiler);

#endif
