/* SPDX-License-Identifier: MIT
 *
 * Bytes of a launch at each level of memory. README.md has the formulas and their sources.
 */
#ifndef SCORE_TRAFFIC_H
#define SCORE_TRAFFIC_H

#include "plan/work.h"

/* ---- cache lines and sectors ---- */
enum {
	ALIGNMENT_LINE_BYTES = 128,
	ALIGNMENT_SECTOR_BYTES = 32
};

/* Mean over the rows of a tile from byte 0; rows > 0. All sizes share one unit. */
double alignment_units_mean(uint64_t pitch, uint64_t rows, uint64_t row_size, uint64_t unit);

/* ---- bank conflicts of a warp's access ---- */
enum {
	BANK_LANES = 32,
	BANK_COUNT = 32,
	BANK_WORD_BYTES = 4
};

/* Addresses are multiples of width_bytes, which is 1, 2, 4, 8 or 16 per lane. */
unsigned bank_wavefronts(const uint32_t address[BANK_LANES], unsigned width_bytes);

/* Wavefronts if every lane reads another word. */
unsigned bank_wavefronts_nominal(unsigned width_bytes);

/* Least wavefronts for the distinct words. */
unsigned bank_wavefronts_least(const uint32_t address[BANK_LANES], unsigned width_bytes);

/* ---- a launch ---- */
struct traffic {
	/* per step, with conflicts */
	double smem_read_bytes, smem_write_bytes;
	double bank_conflict_ratio; /* wavefronts / minimum */
	/* touched / minimum, mean over rows; 1 without tiles */
	double lines_per_row_ratio, sectors_per_row_ratio;
	/* of inputs and outputs */
	double lines_read_ratio, lines_written_ratio;
	double l2_bytes;   /* whole launch */
	double dram_bytes; /* whole launch */
	double flop;       /* whole launch, padding included */
};

void traffic_compute(const struct launch_work *launch, struct traffic *traffic);

#endif
