/* SPDX-License-Identifier: MIT
 *
 * Computes the bytes that a launch moves at each level of memory. README.md has the formulas and
 * their sources.
 */
#ifndef SCORE_TRAFFIC_H
#define SCORE_TRAFFIC_H

#include "plan/work.h"

/* ---- cache lines and sectors ---- */
enum {
	ALIGNMENT_LINE_BYTES = 128,
	ALIGNMENT_SECTOR_BYTES = 32
};

/* Returns the mean number of units (lines or sectors) that a row of a tile at byte 0 touches. Sizes
 * are in bytes; rows > 0. */
double alignment_units_mean(uint64_t pitch, uint64_t rows, uint64_t row_size, uint64_t unit);

/* ---- bank conflicts of a warp's access ---- */
enum {
	BANK_LANES = 32,
	BANK_COUNT = 32,
	BANK_WORD_BYTES = 4
};

/* Returns the wavefronts of a warp's access of width_bytes (1, 2, 4, 8 or 16) per lane. Addresses
 * must be multiples of width_bytes. */
unsigned bank_wavefronts(const uint32_t address[BANK_LANES], unsigned width_bytes);

/* Returns the wavefronts without conflicts if all lanes read different words. */
unsigned bank_wavefronts_nominal(unsigned width_bytes);

/* Returns the minimum number of wavefronts for the distinct words. */
unsigned bank_wavefronts_least(const uint32_t address[BANK_LANES], unsigned width_bytes);

/* ---- a launch ---- */
struct traffic {
	/* bytes per step, including the cost of bank conflicts */
	double smem_read_bytes, smem_write_bytes;
	double bank_conflict_ratio; /* wavefronts / minimum */
	/* lines or sectors touched per row / minimum, averaged over rows; 1 without tiles */
	double lines_per_row_ratio, sectors_per_row_ratio;
	/* lines_per_row_ratio of inputs and of outputs */
	double lines_read_ratio, lines_written_ratio;
	double l2_bytes;   /* whole launch */
	double dram_bytes; /* whole launch */
	double flop;       /* whole launch, including padding */
};

void traffic_compute(const struct launch_work *launch, struct traffic *traffic);

#endif
