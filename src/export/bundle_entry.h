/* SPDX-License-Identifier: MIT
 *
 * The tables of a bundle that is being written; adds entries to them.
 */
#ifndef EXPORT_BUNDLE_ENTRY_H
#define EXPORT_BUNDLE_ENTRY_H

#include "engine/kernel_store.h"
#include "export/export.h"
#include "export/export_kernel.h"
#include "launch/tiletune_launch.h"

enum {
	BUNDLE_ALIGNMENT = 64, /* of tables and of images */
};

struct bundle {
	const struct export_source *source;
	struct kernel_store **stores; /* one per architecture, all that is needed compiled */
	struct text tables[TTL_TABLE_COUNT];
	size_t defaults, missing; /* default entries; entries without a kernel for an --arch */
	size_t changed;           /* kernels that are not those that were tuned */
};

uint32_t bundle_count(const struct bundle *bundle, enum ttl_table table);
void bundle_put(struct bundle *bundle, enum ttl_table table, const void *item);
/* Of the next items that are put into a table. */
struct ttl_range bundle_next(const struct bundle *bundle, enum ttl_table table, size_t count);
/* What was put into a table since it had `first` items. */
struct ttl_range bundle_since(const struct bundle *bundle, enum ttl_table table, uint32_t first);
/* Each text once; one may be the end of another. */
ttl_text bundle_put_text(struct bundle *bundle, const char *string);
/* Whether the kernel compiles for the architecture. */
enum status bundle_compiles(struct bundle *bundle, const struct export_kernel *kernel, size_t arch,
	bool *compiles, struct error *err);
/* Whether the kernel of an entry of the tuned file runs on the architecture: it is the same and
 * legal there, and compiles. */
enum status bundle_serves(struct bundle *bundle, const struct tuned_entry *entry,
	const struct export_kernel *kernel, size_t arch, bool *serves, struct error *err);
/* An image of each unit of the kernel, which compiles for the architecture. */
enum status bundle_put_images(
	struct bundle *bundle, const struct export_kernel *kernel, size_t arch, struct error *err);
/* Its operation's keys are the last ones that were put. arch: 0 for an entry of the tuned file,
 * which gets an image for each architecture that it serves, as `serves` then says; another is a
 * default entry's alone. */
enum status bundle_put_entry(struct bundle *bundle, const struct tuned_entry *entry, size_t arch,
	bool *serves, struct error *err);

#endif
