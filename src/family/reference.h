/* SPDX-License-Identifier: MIT
 *
 * An operation's reference: the kernel that computes expected values of any list of units.
 */
#ifndef FAMILY_REFERENCE_H
#define FAMILY_REFERENCE_H

#include "family/argument.h"

struct reference {
	char *source_name; /* "gemm/reference.cu" */
	char *source;      /* includes expanded; NULL until loaded */
	const char *entry;
	bool unit_is_row;
	struct name_table names;                                 /* keys, then device names */
	struct expression *units_per_block, *block, *smem_bytes; /* smem_bytes may be NULL */
	struct argument_list arguments;
};

/* at: the member "reference"; tensors: NULL-terminated names. */
enum status reference_read(const struct json_at *at, const struct name_table *key_names,
	const char *const *tensors, struct reference *reference, struct error *err);
void reference_release(struct reference *reference);

#endif
