/* SPDX-License-Identifier: MIT */
#include "tune/standing.h"

#include <string.h>

#include "tune/single.h"

static bool is_same(const struct evaluation *a, const struct evaluation *b)
{
	/* composite families have one configuration, whatever their steps are: the hash tells */
	return strcmp(a->family, b->family) == 0 &&
	       strcmp(a->configuration, b->configuration) == 0 &&
	       strcmp(a->kernel_hash, b->kernel_hash) == 0;
}

static bool was_tried(const struct standing *standing, const struct evaluation *row)
{
	for (size_t i = 0; i < standing->recorded_count; i++)
		if (is_same(&standing->recorded[i], row))
			return true;
	for (size_t i = 0; standing->evaluated && i < standing->evaluated->count; i++)
		if (is_same(&standing->evaluated->items[i].evaluation, row))
			return true;
	return false;
}

bool standing_row(const struct json_at *row, void *context)
{
	const struct standing *standing = context;
	struct candidates pool;
	struct evaluation today = {0};
	const char *hash = "";
	bool stands = false;

	json_member_string(row, "kernel_hash", &hash, NULL);
	/* gone, or not legal any more: it falls */
	if (single_open(&standing->bench->catalogue, standing->problem,
		    device_spec(standing->bench->device), row, &pool, NULL) != STATUS_OK)
		return false;
	if (single_evaluate(&pool, &today, NULL) == STATUS_OK)
		stands = strcmp(today.kernel_hash, hash) == 0 && !was_tried(standing, &today);
	evaluation_release(&today);
	candidates_release(&pool);
	return stands;
}
