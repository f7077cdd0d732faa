/* SPDX-License-Identifier: MIT
 *
 * Parts of a list of problems for as many processes, on one machine or on many: `--shard 2/8`.
 * Which problem is in which part follows from the list alone; parts take about as long each.
 */
#ifndef TUNE_SHARD_H
#define TUNE_SHARD_H

#include "family/problem.h"

struct shard {
	unsigned number, count; /* number: from 1; count 0: the whole list */
};

/* "2/8". Errors: STATUS_BAD_INPUT. */
enum status shard_parse(const char *text, struct shard *shard, struct error *err);
/* Leaves the problems of this part, in their order; none is possible. */
void shard_keep(const struct shard *shard, struct problem_list *problems);

#endif
