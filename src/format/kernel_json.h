/* SPDX-License-Identifier: MIT
 *
 * A kernel on its own, in the folder of its files: what is needed to launch it, as
 * tiletune.kernel/1.
 */
#ifndef FORMAT_KERNEL_JSON_H
#define FORMAT_KERNEL_JSON_H

#include "candidate/candidate.h"
#include "plan/reference_plan.h"

/* What the compiler says of a kernel, without a GPU. */
struct kernel_usage {
	char *name; /* of the kernel */
	int32_t regs_per_thread, smem_static_bytes, spill_bytes;
};

struct kernel_unit {
	const char *name, *file; /* "gemm/mma.cu"; a name without folders */
	char **options, **entries;
	size_t option_count, entry_count;
	struct kernel_usage *resources; /* of each kernel; none where they are not known */
	size_t resource_count;
};

/* Strings and lists are borrowed where it is written, `units` and `resources` excepted. */
struct kernel_document {
	const char *kind; /* "cubin", "ptx", "source" */
	const char *operation, *family;
	struct named_values problem, configuration;
	const char *arch, *compiler; /* compiler NULL: not compiled */
	char kernel_hash[HASH_SIZE];
	struct kernel_unit *units;
	size_t unit_count;
	struct plan plan;
};
RECORD_DECLARE(struct kernel_document, kernel_document_record);

/* The units of a build, which they borrow from; files and resources are not known yet. */
struct kernel_unit *kernel_units(const struct build *build);
/* The document of a candidate; files: a path for each unit. compiler: NULL: not compiled. */
struct json *kernel_json(const char *kind, const struct candidate *candidate,
	const struct build *build, const struct plan *plan, struct kernel_unit *units,
	char *const *files, const char *arch, const char *compiler);

#endif
