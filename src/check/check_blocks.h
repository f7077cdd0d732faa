/* SPDX-License-Identifier: MIT
 *
 * The measuring of a check: many short blocks, in each of which every kernel is sampled in turn.
 * What is asked of a check is a few ratios, and soon; blocks give one observation of each.
 */
#ifndef CHECK_CHECK_BLOCKS_H
#define CHECK_CHECK_BLOCKS_H

#include <signal.h>

#include "device/device.h"

/* One kernel. Zeroed but for the handle at the start. */
struct check_series {
	device_handle handle;
	double *block_us; /* its median in each block, warm-up left out; owned */
	size_t blocks, capacity;
	size_t received; /* of blocks, warm-up included */
	enum outcome outcome;
	char *detail; /* owned */
	bool throttled;
	/* merged ones: */
	double *load_us; /* median of each load; owned */
	size_t loads;    /* 0: not merged */
	double load_deviation_us;
};

struct check_blocks_limits {
	double seconds; /* after which no new block is begun */
	size_t warm_up_blocks, blocks_min, blocks_max;
	/* Whether that is enough, asked after each block from blocks_min on. */
	bool (*enough)(const struct check_series *series, size_t count, void *context);
	void *context;
	volatile sig_atomic_t *interrupted;
};

/* Samples all series in turn until the limits say stop. A series that fails (its outcome says how)
 * takes no part in later blocks. Errors: STATUS_NO_DEVICE if the device is lost, and
 * STATUS_INTERRUPTED. */
enum status check_blocks(struct device *device, struct check_series *series, size_t count,
	const struct check_blocks_limits *limits, struct error *err);
/* Per block, the one's time over the other's. ratios: room for as many as either has; returns how
 * many blocks both took part in. */
size_t check_block_ratios(
	const struct check_series *series, const struct check_series *over, double *ratios);
/* Several loads of one kernel as one series: per block the mean over the loads; the first failure
 * is that of all. */
void check_series_merge(
	const struct check_series *loads, size_t count, struct check_series *merged);
void check_series_release(struct check_series *series);

#endif
