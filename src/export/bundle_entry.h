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
	size_t missing; /* images of further architectures that did not compile */
	size_t changed; /* kernels that are not those that were tuned */
};

uint32_t bundle_count(const struct bundle *bundle, enum ttl_table table);
void bundle_put(struct bundle *bundle, enum ttl_table table, const void *item);
/* What was put into a table since it had `first` items. */
struct ttl_range bundle_since(const struct bundle *bundle, enum ttl_table table, uint32_t first);
/* Each text once; one may be the end of another. */
ttl_text bundle_put_text(struct bundle *bundle, const char *string);
/* Its operation's keys are the last ones that were put. */
enum status bundle_put_entry(
	struct bundle *bundle, const struct tuned_entry *entry, struct error *err);

#endif
