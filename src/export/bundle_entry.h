/* SPDX-License-Identifier: MIT
 *
 * The tables of a bundle that is being written, and functions that add entries to them.
 */
#ifndef EXPORT_BUNDLE_ENTRY_H
#define EXPORT_BUNDLE_ENTRY_H

#include "engine/kernel_store.h"
#include "export/export.h"
#include "export/export_kernel.h"
#include "launch/tiletune_launch.h"

enum {
	BUNDLE_ALIGNMENT = 64, /* alignment of tables and images in bytes */
};

struct bundle {
	const struct export_source *source;
	struct kernel_store **stores; /* one per architecture, with all kernels compiled */
	struct text tables[TTL_TABLE_COUNT];
	size_t defaults, missing; /* default entries; entries without a kernel for an --arch */
	size_t changed;           /* kernels that differ from those that were tuned */
};

uint32_t bundle_count(const struct bundle *bundle, enum ttl_table table);
void bundle_put(struct bundle *bundle, enum ttl_table table, const void *item);
/* The range of the next `count` items to be added to a table. */
struct ttl_range bundle_next(const struct bundle *bundle, enum ttl_table table, size_t count);
/* The range of the items that were added to a table after its first `first` items. */
struct ttl_range bundle_since(const struct bundle *bundle, enum ttl_table table, uint32_t first);
/* Adds a text once; a text that ends another one shares its storage. */
ttl_text bundle_put_text(struct bundle *bundle, const char *string);
/* Returns whether the kernel compiles for the architecture. */
enum status bundle_compiles(struct bundle *bundle, const struct export_kernel *kernel, size_t arch,
	bool *compiles, struct error *err);
/* Returns whether the same kernel is legal on the architecture, and compiles. */
enum status bundle_serves(struct bundle *bundle, const struct tuned_entry *entry,
	const struct export_kernel *kernel, size_t arch, bool *serves, struct error *err);
/* Adds an image of each unit. The kernel must compile for the architecture. */
enum status bundle_put_images(
	struct bundle *bundle, const struct export_kernel *kernel, size_t arch, struct error *err);
/* Adds an entry, after the keys of its operation. With arch 0 this is an entry of the tuned file,
 * which gets an image for each architecture for which serves[] is true; else a default entry. */
enum status bundle_put_entry(struct bundle *bundle, const struct tuned_entry *entry, size_t arch,
	bool *serves, struct error *err);

#endif
