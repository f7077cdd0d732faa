/* SPDX-License-Identifier: MIT
 *
 * A tuned kernel as a file of its own: compiled, or as specialised source, with all that is
 * needed to launch it.
 */
#ifndef EXPORT_EXPORT_KERNEL_H
#define EXPORT_EXPORT_KERNEL_H

#include "engine/candidates.h"
#include "export/export.h"
#include "format/kernel_json.h"

struct export_kernel {
	struct problem *problem;    /* owned */
	struct candidate candidate; /* the entry's winner */
	struct plan plan;
	struct build build;
	const struct device_spec *device; /* borrowed */
	struct text *images;              /* one per unit after export_kernel_make() */
	struct kernel_unit *units;        /* one per image; file names are not set yet */
};

/* Errors are those of row_candidate(). The kernel is zeroed first; the caller releases it in any
 * case. */
enum status export_kernel_open(const struct catalogue *catalogue, const struct device_spec *device,
	const struct tuned_entry *entry, struct export_kernel *kernel, struct error *err);
/* Makes the images. compiler is NULL if the format compiles nothing. */
enum status export_kernel_make(struct export_kernel *kernel, const struct export_format *format,
	struct compiler *compiler, struct error *err);
/* Updates entries that were tuned with older sources, for builds that compile today's: they keep
 * their times. Entries whose kernel no longer exists are removed from the source; operations that
 * the catalogue lacks do not change. source->notice tells the user. Fails if no entry is left. */
enum status export_rebuild(const struct catalogue *catalogue, const struct device_spec *device,
	struct tuned *tuned, struct export_source *source, struct error *err);

void export_kernel_release(struct export_kernel *kernel);

#endif
