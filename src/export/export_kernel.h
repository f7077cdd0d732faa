/* SPDX-License-Identifier: MIT
 *
 * A tuned kernel on its own: compiled or as specialised source, with what is needed to launch it.
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
	struct text *images;              /* one per unit, once made */
	struct kernel_unit *units;        /* one per image; their files are not named yet */
};

/* Errors: as row_candidate(). kernel is zeroed, and released by the caller in any case. */
enum status export_kernel_open(const struct catalogue *catalogue, const struct device_spec *device,
	const struct tuned_entry *entry, struct export_kernel *kernel, struct error *err);
/* Makes the images. compiler: NULL where the format needs none. Errors: it does not compile. */
enum status export_kernel_make(struct export_kernel *kernel, const struct export_format *format,
	struct compiler *compiler, struct error *err);
/* Entries of the source that were tuned with other sources than today's, for builds that compile
 * these: they are made of today's (engine/row.h), their times stay; those of which there is no such
 * kernel any more leave the source. Operations that the catalogue lacks stay as they are.
 * source->notice says what was done. Errors: none is left. */
enum status export_renew(const struct catalogue *catalogue, const struct device_spec *device,
	struct tuned *tuned, struct export_source *source, struct error *err);

void export_kernel_release(struct export_kernel *kernel);

#endif
