/* SPDX-License-Identifier: MIT
 *
 * The description of a standalone kernel, stored next to its files: all that is needed to launch
 * it. The format is tiletune.kernel/1.
 */
#ifndef FORMAT_KERNEL_JSON_H
#define FORMAT_KERNEL_JSON_H

#include "candidate/candidate.h"
#include "plan/reference_plan.h"

/* Resources of a kernel that the compiler reports, without a GPU. */
struct kernel_usage {
	char *name; /* the kernel's name */
	int32_t regs_per_thread, smem_static_bytes, spill_bytes;
};

struct kernel_unit {
	const char *name, *file; /* the unit ("gemm/mma.cu"), and a file name without folders */
	char **options, **entries;
	size_t option_count, entry_count;
	struct kernel_usage *resources; /* one per kernel; NULL if not known */
	size_t resource_count;
};

/* A document that is to be written borrows its strings and lists, except `units` and
 * `resources`. */
struct kernel_document {
	const char *kind; /* "cubin", "ptx", "source" */
	const char *operation, *family;
	struct named_values problem, configuration;
	const char *arch, *compiler; /* compiler is NULL if the kernel is not compiled */
	char kernel_hash[HASH_SIZE];
	struct kernel_unit *units;
	size_t unit_count;
	struct plan plan;
};
RECORD_DECLARE(struct kernel_document, kernel_document_record);

/* The units of a build, which must outlive them. Files and resources are not filled in. */
struct kernel_unit *kernel_units(const struct build *build);
/* The document of a candidate. `files` has one path per unit; compiler is NULL if nothing was
 * compiled. */
struct json *kernel_json(const char *kind, const struct candidate *candidate,
	const struct build *build, const struct plan *plan, struct kernel_unit *units,
	char *const *files, const char *arch, const char *compiler);

#endif
