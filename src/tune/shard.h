/* SPDX-License-Identifier: MIT
 *
 * Splits a list of problems for several processes: `--shard 2/8`, or `2/8,1/4` for a part of a
 * part. The split depends only on the list and the GPU model, and all parts take about the same
 * time.
 */
#ifndef TUNE_SHARD_H
#define TUNE_SHARD_H

#include "family/problem.h"
#include "spec/device_spec.h"

enum {
	SHARD_DEPTH_MAX = 2
};

struct shard {
	struct shard_part {
		unsigned number, count; /* number: from 1 */
	} parts[SHARD_DEPTH_MAX];
	size_t depth; /* 0: the whole list */
};

enum status shard_parse(const char *text, struct shard *shard, struct error *err);
/* The part may be empty. */
void shard_keep(
	const struct shard *shard, const struct device_spec *device, struct problem_list *problems);

#endif
