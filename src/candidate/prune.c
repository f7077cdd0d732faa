/* SPDX-License-Identifier: MIT
 *
 * Prune rules of a family on a compiled candidate.
 *
 * Registers, shared memory and blocks per SM are those of the first launch, which by convention is
 * the one that does the work; spills and remarks count wherever they are.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "candidate/candidate.h"
#include "family/family.h"

/* Dynamic shared memory of the first active launch. */
static enum status first_smem_bytes(const struct bound_family *bound, const struct value *slots,
	int64_t *smem_bytes, struct error *err)
{
	const struct family *family = bound->family;

	*smem_bytes = 0;
	for (size_t i = 0; i < family->launch_count; i++) {
		const struct launch *launch = &family->launches[i];
		bool is_active;
		enum status status = launch_is_active(launch, slots, &is_active, err);

		if (status != STATUS_OK)
			return status;
		if (is_active)
			return launch->smem_bytes
				       ? expression_int(launch->smem_bytes, slots, smem_bytes, err)
				       : STATUS_OK;
	}
	return STATUS_OK;
}

enum status candidate_prune(const struct bound_family *bound, const struct value *slots,
	const struct kernel_resources *resources, size_t launch_count, int *rule, const char **why,
	struct error *err)
{
	const struct family *family = bound->family;
	const struct scope *scope = &family->scope;
	struct value *values = memory_copy(slots, scope->count * sizeof(*values));
	struct value *extras = &values[scope->extra_at];
	int64_t smem_bytes, spill_bytes = 0;
	uint32_t flags = 0;
	enum status status = first_smem_bytes(bound, slots, &smem_bytes, err);

	*rule = -1;
	for (size_t i = 0; i < launch_count; i++) {
		flags |= resources[i].flags;
		spill_bytes += resources[i].spill_store_bytes + resources[i].spill_load_bytes;
	}
	if (launch_count) {
		smem_bytes += resources[0].smem_static_bytes;
		extras[EXTRA_REGS_PER_THREAD] = value_int(resources[0].regs_per_thread);
		extras[EXTRA_BLOCKS_PER_SM] = value_int(resources[0].blocks_per_sm);
	}
	extras[EXTRA_SMEM_BYTES] = value_int(smem_bytes);
	extras[EXTRA_SPILL_BYTES] = value_int(spill_bytes);
	extras[EXTRA_WGMMA_SERIALIZED] = value_bool(flags & FLAG_MASK(WGMMA_SERIALIZED));
	extras[EXTRA_SETMAXNREG_IGNORED] = value_bool(flags & FLAG_MASK(SETMAXNREG_IGNORED));
	for (size_t i = 0; i < family->prune.count && status == STATUS_OK && *rule < 0; i++) {
		bool holds;

		status = expression_test(family->prune.items[i].expression, values, &holds, err);
		if (status == STATUS_OK && holds) {
			*rule = (int)i;
			*why = family->prune.items[i].why;
		}
	}
	free(values);
	return status;
}
