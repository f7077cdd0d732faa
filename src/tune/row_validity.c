/* SPDX-License-Identifier: MIT */
#include "tune/row_validity.h"

#include <string.h>

#include "engine/row.h"

static bool is_same(const struct evaluation *a, const struct evaluation *b)
{
	/* composite families have one configuration, whatever their steps are: the hash tells */
	return strcmp(a->family, b->family) == 0 &&
	       strcmp(a->configuration, b->configuration) == 0 &&
	       strcmp(a->kernel_hash, b->kernel_hash) == 0;
}

static bool was_tried(const struct row_validity *row_validity, const struct evaluation *row)
{
	for (size_t i = 0; i < row_validity->recorded_count; i++)
		if (is_same(&row_validity->recorded[i], row))
			return true;
	for (size_t i = 0; row_validity->evaluated && i < row_validity->evaluated->count; i++)
		if (is_same(&row_validity->evaluated->items[i].evaluation, row))
			return true;
	return false;
}

bool row_validity_row(const struct tuned_row *row, void *context)
{
	const struct row_validity *row_validity = context;
	struct candidate candidate;
	struct evaluation today = {0};
	bool stands = false;

	/* gone, or not legal any more: it falls */
	if (row_candidate(&row_validity->context->catalogue, row_validity->problem,
		    device_spec(row_validity->context->device), row, &candidate, NULL) != STATUS_OK)
		return false;
	if (candidate_describe(&candidate, &today, NULL) == STATUS_OK)
		stands = strcmp(today.kernel_hash, row->kernel_hash) == 0 &&
			 !was_tried(row_validity, &today);
	evaluation_release(&today);
	candidate_release(&candidate);
	return stands;
}
