/* SPDX-License-Identifier: MIT
 *
 * What other builds and tools read, made from a tuned file or a journal. A format is one file that
 * ends in a `const struct export_format` and one line in export.c.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/text.h"
#include "compile/compiler.h"
#include "format/journal.h"
#include "format/tuned.h"

/* What is exported: entries of a tuned file, or a journal (the other is NULL). */
struct export_source {
	const char *name; /* of the file, for headings */
	const struct tuned *tuned;
	const struct tuned_entry **entries; /* those selected */
	size_t entry_count;
	const struct journal_record *journal;
	/* formats that compile: */
	const struct catalogue *catalogue;
	const struct device_spec *device;
	struct compiler *compiler;
	/* that bundles are compiled for, by their `arch`; the first is `device`; NULL-ended */
	const struct device_spec *const *devices;
	enum objective objective;
	struct problem **untuned; /* asked for, not in the file */
	size_t untuned_count;
	struct text *notice; /* what the user should know, in lines */
};

struct export_format {
	const char *name; /* as --format has it */
	const char *summary;
	bool compiles;
	bool of_journals; /* reads a journal instead of a tuned file */
	bool builds;      /* who reads it compiles the sources that lie here */
	/* NULL: a kernel, or a rule, which the Python module writes */
	enum status (*write)(
		const struct export_source *source, struct text *text, struct error *err);
	/* of a kernel: */
	const char *suffix;      /* of its files: ".cubin" */
	const char *arch_prefix; /* what NVRTC is asked for: "sm_", "compute_"; NULL: nothing */
};
extern const struct export_format *const export_formats[]; /* NULL-terminated */
const struct export_format *export_format_find(const char *name);

/* Entries of the source's tuned file and objective: the operation's (NULL: all), and of
 * them the entries of the problems in `texts` (none: all), or which have the keys that a text names
 * that is no whole problem ("dtype=bf16"). predicts: what the file lacks becomes `untuned`. The
 * problems and both lists are the caller's. */
enum status export_choose(const struct operation *operation, const char *const *texts, size_t count,
	struct problem_list *problems, bool predicts, struct export_source *source,
	struct error *err);
/* What a kernel for an architecture ("sm_80", "sm_90a", "compute_80" for PTX) may use: the figures
 * of a GPU of this compute capability, with the least shared memory of all GPUs that the image runs
 * on; its `arch` is the name. Errors: STATUS_BAD_INPUT, the name. */
enum status architecture_device(const char *name, const char *const *config_folders,
	struct device_spec **device, struct error *err);

/* ---- pieces that several formats share ---- */
/* What names an entry in lists of benchmarks: "gemm M=4096,N=4096,...", with " (best energy)" if
 * that is its objective. */
void export_name(const struct tuned_entry *entry, struct text *text);
/* The first entry as one asks for it: OPERATION, between, KEY=VALUE... */
void export_example(const struct export_source *source, const char *between, const char *separator,
	struct text *text);
/* "-DBM=128 -DDTYPE_bf16=1". */
void export_defines(const struct tuned_row *row, struct text *text);
/* "132 1 1" of a launch's grid, block or cluster. */
void export_dimensions(const uint32_t dimensions[3], const char *separator, struct text *text);
void export_arguments(const struct tuned_launch *launch, const char *separator, struct text *text);
/* Refuses a value that the format cannot hold: the entry and value[at] are named. */
enum status export_refuse(const struct tuned_entry *entry, const char *what, const char *value,
	size_t at, struct error *err);
/* Names of variables hold a hash of the file's content, so that one build may include several. */
#define EXPORT_HASH_SIZE 9
void export_hash(const struct text *content, char hash[EXPORT_HASH_SIZE]);
/* The forms of assets/ (base/format_text.h). */
extern const char export_h_in[], export_cmake_in[], export_mk_in[];

#endif
