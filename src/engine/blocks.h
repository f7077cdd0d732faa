/* SPDX-License-Identifier: MIT
 *
 * Many short blocks, in each of which every kernel is sampled in turn. Where what is asked is a
 * few ratios, and soon, blocks give one observation of each.
 */
#ifndef ENGINE_BLOCKS_H
#define ENGINE_BLOCKS_H

#include "engine/evaluator.h"

/* One kernel. Zeroed but for the trial at the start. */
struct block_series {
	struct trial *trial; /* loaded; borrowed */
	double *block_us;    /* its median in each block, warm-up left out; owned */
	size_t blocks, capacity;
	size_t warm_up;  /* blocks still to leave out */
	size_t received; /* of blocks, warm-up included */
	enum outcome outcome;
	char *detail; /* owned */
	bool throttled;
	/* merged ones: */
	double *load_us; /* median of each load; owned */
	size_t loads;    /* 0: not merged */
	double load_deviation_us;
};

struct block_limits {
	double seconds; /* after which no new block is begun */
	size_t warm_up_blocks, blocks_min, blocks_max;
	/* Whether that is enough, asked after each block from blocks_min on. NULL: never. */
	bool (*enough)(const struct block_series *series, size_t count, void *context);
	void *context;
};

/* Samples all series in turn until the limits say stop. A series that fails (its outcome says how)
 * takes no part in later blocks. Errors: STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status blocks_run(struct evaluator *evaluator, struct block_series *series, size_t count,
	const struct block_limits *limits, struct error *err);
/* What the device says of a block. */
void block_series_take(struct block_series *series, const struct device_event *event);
/* Per block, the one's time over the other's. ratios: room for as many as either has; returns how
 * many blocks both took part in. */
size_t block_ratios(
	const struct block_series *series, const struct block_series *over, double *ratios);
/* Several loads of one kernel as one series: per block the mean over the loads; the first failure
 * is that of all. */
void block_series_merge(
	const struct block_series *loads, size_t count, struct block_series *merged);
void block_series_release(struct block_series *series);

#endif
