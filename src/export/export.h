/* SPDX-License-Identifier: MIT
 *
 * Export formats, made from a tuned file or a journal, for other builds and tools. To add a
 * format, write a file that ends in a `const struct export_format` and add a line to export.c.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/text.h"
#include "compile/compiler.h"
#include "format/journal.h"
#include "format/tuned.h"

/* Either tuned or journal is NULL. */
struct export_source {
	char *name; /* name of the file without line breaks, for headings */
	const struct tuned *tuned;
	const struct tuned_entry **entries; /* the selected entries */
	size_t entry_count;
	const struct journal_record *journal;
	/* Only for formats that compile: */
	const struct catalogue *catalogue;
	struct device_spec *device;
	struct compiler *compiler;
	/* devices to compile bundles for, by their `arch`; the first is `device`;
	 * NULL-terminated */
	struct device_spec **devices;
	enum objective objective;
	struct problem **untuned; /* requested problems that the file lacks */
	size_t untuned_count;
	struct text *notice; /* notices for the user, one per line */
};

struct export_format {
	const char *name; /* the value of --format */
	const char *summary;
	bool compiles;
	bool of_journals; /* whether it reads a journal instead of a tuned file */
	bool builds; /* the reader compiles the current sources, so entries tuned with older ones
			are updated */
	/* Appends the file. NULL for kernels and for rules, which the Python module writes. */
	enum status (*write)(
		const struct export_source *source, struct text *text, struct error *err);
	/* Only for kernels: */
	const char *suffix;      /* file name extension, such as ".cubin" */
	const char *arch_prefix; /* prefix of the architecture for NVRTC: "sm_" or "compute_"; NULL:
				    not compiled */
};
extern const struct export_format *const export_formats[]; /* NULL-terminated */
const struct export_format *export_format_find(const char *name);

/* Selects entries with the source's objective: those of the operation (NULL: all) and of the
 * problems in `texts` (none: all). A text may also name some keys only ("dtype=bf16"). With
 * `predicts`, `untuned` gets problems that the file lacks. The caller owns the problems and both
 * lists. */
enum status export_choose(const struct operation *operation, const char *const *texts, size_t count,
	struct problem_list *problems, bool predicts, struct export_source *source,
	struct error *err);
/* Makes a device for an architecture ("sm_80", "sm_90a", or "compute_80" for PTX): a GPU with this
 * compute capability and the least shared memory of all GPUs that the image runs on. Fails with
 * STATUS_BAD_INPUT if the name is unknown. */
enum status architecture_device(const char *name, const char *const *config_folders,
	struct device_spec **device, struct error *err);

/* ---- helpers for several formats ---- */
/* Appends "gemm M=4096,N=4096,...", and " (best energy)" for that objective. */
void export_name(const struct tuned_entry *entry, struct text *text);
/* Appends how to ask for the first entry: OPERATION, `between`, and KEY=VALUE pairs. */
void export_example(const struct export_source *source, const char *between, const char *separator,
	struct text *text);
/* Appends, for example, "-DBM=128 -DDTYPE_bf16=1". */
void export_defines(const struct tuned_row *row, struct text *text);
/* Appends the dimensions of a grid, block or cluster: "132 1 1". */
void export_dimensions(const uint32_t dimensions[3], const char *separator, struct text *text);
void export_arguments(const struct tuned_launch *launch, const char *separator, struct text *text);
/* Rejects a value that the format cannot express; the message names the entry and value[at]. */
enum status export_refuse(const struct tuned_entry *entry, const char *what, const char *value,
	size_t at, struct error *err);
/* Names of variables contain the hash, so that a build may include several files. */
#define EXPORT_HASH_SIZE 9
void export_hash(const struct text *content, char hash[EXPORT_HASH_SIZE]);
/* Templates in assets/ (base/format_text.h). */
extern const char export_h_in[], export_cmake_in[], export_mk_in[];

#endif
