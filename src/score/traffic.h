/* SPDX-License-Identifier: MIT
 *
 * Traffic: the bytes of a launch at each level of memory, including bank conflicts and
 * misalignment.
 *
 * Sources: the family's model (amounts per unit of work, DRAM bytes of the whole launch);
 * arithmetic intensity as in S. Williams et al., "Roofline", CACM 52(4), 2009: operations / bytes
 * moved.
 */
#ifndef SCORE_TRAFFIC_H
#define SCORE_TRAFFIC_H

#include "plan/work.h"

/* ---- cache lines and sectors ----
 * Alignment: how many cache lines (128 bytes) or sectors (32 bytes) the rows of a tile touch.
 *
 * Source: arithmetic on addresses. A row that starts at byte s and is n bytes long touches the
 * units floor(s/u) .. floor((s+n-1)/u). When the pitch is a multiple of u every row is like the
 * first; else rows take turns, with a period of u / gcd(pitch, u) rows. All sizes share one unit
 * (bytes here; the golden cases count elements).
 */
enum {
	ALIGNMENT_LINE_BYTES = 128,
	ALIGNMENT_SECTOR_BYTES = 32
};

/* Returns the mean over the rows of a tile whose first row starts at byte 0. rows > 0. */
double alignment_units_mean(uint64_t pitch, uint64_t rows, uint64_t row_size, uint64_t unit);

/* ---- bank conflicts ----
 * Shared memory bank conflicts of one access of a warp, from its lanes' addresses.
 *
 * Shared memory has 32 banks of 4 bytes; in one wavefront each bank serves one word, to any number
 * of lanes (CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later). An
 * access of 4 bytes a lane is served for 32 lanes at once, of 8 bytes for 16, of 16 bytes for 8.
 * Where lanes n and n^1 (all of them), or n and n^2 (all of them), have the same address, twice as
 * many lanes are served at once: 8 or 16 bytes a lane take half of the wavefronts (NVIDIA developer
 * forum, "Unexpected shared memory bank conflict", for 7.0 and later).
 */
enum {
	BANK_LANES = 32,
	BANK_COUNT = 32,
	BANK_WORD_BYTES = 4
};

/* Returns the wavefronts of an access. Addresses are in bytes and multiples of width_bytes (the
 * hardware refuses others). width_bytes per lane is 1, 2, 4, 8 or 16. */
unsigned bank_wavefronts(const uint32_t address[BANK_LANES], unsigned width_bytes);

/* Returns the wavefronts of a conflict-free access in which every lane reads a different word:
 * 32*width/128, at least 1. The access costs bytes * bank_wavefronts() / this number. */
unsigned bank_wavefronts_nominal(unsigned width_bytes);

/* Returns the minimum of wavefronts for the distinct words of this access: ceil(words / 32). */
unsigned bank_wavefronts_least(const uint32_t address[BANK_LANES], unsigned width_bytes);

/* ---- a launch ---- */
struct traffic {
	/* Shared memory traffic per step of the listed accesses, including bank conflicts. */
	double smem_read_bytes, smem_write_bytes;
	double bank_conflict_ratio; /* wavefronts / minimum for the same words */
	/* Units touched / minimum, mean over the rows of all tiles; 1 without tiles. */
	double lines_per_row_ratio, sectors_per_row_ratio;
	/* lines_per_row_ratio of inputs and of outputs */
	double lines_read_ratio, lines_written_ratio;
	double l2_bytes;   /* whole launch, in sectors */
	double dram_bytes; /* whole launch */
	double flop;       /* whole launch, padding included */
};

void traffic_compute(const struct launch_work *launch, struct traffic *traffic);

#endif
