/* SPDX-License-Identifier: MIT
 *
 * The values of an operation's facts for one candidate.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/candidate.h"
#include "family/family.h"

enum status candidate_facts(const struct bound_family *bound, const struct value *slots,
	int64_t smem_bytes, int64_t blocks_per_sm, struct fact_list *facts, struct error *err)
{
	const struct family *family = bound->family;
	const struct scope *scope = &family->scope;
	struct value *values =
		memory_zeroed(scope->count + family->named_fact_count + 1, sizeof(*values));
	enum status status = STATUS_OK;

	memcpy(values, slots, scope->count * sizeof(*values));
	values[scope_extra_slot(scope, EXTRA_SMEM_BYTES)] = value_int(smem_bytes);
	values[scope_extra_slot(scope, EXTRA_BLOCKS_PER_SM)] = value_int(blocks_per_sm);
	*facts = (struct fact_list){
		.items = memory_zeroed(family->fact_count + 1, sizeof(*facts->items))};
	for (size_t i = 0; i < family->fact_count && status == STATUS_OK; i++) {
		const struct family_fact *fact = &family->facts[i];
		struct fact *result = &facts->items[facts->count];
		bool holds = fact->expression != NULL;

		if (holds && fact->when)
			status = expression_test(fact->when, values, &holds, err);
		if (status != STATUS_OK || !holds)
			continue;
		result->name = fact->name;
		result->unit = fact->unit;
		result->source = fact->source;
		status = expression_evaluate(
			fact->expression, values, &facts->values, &result->value, err);
		if (fact->slot)
			values[fact->slot] = result->value;
		facts->count++;
	}
	free(values);
	if (status != STATUS_OK)
		fact_list_release(facts);
	return status;
}

void fact_list_release(struct fact_list *facts)
{
	free(facts->items);
	value_arena_release(&facts->values);
	*facts = (struct fact_list){0};
}
