/* SPDX-License-Identifier: MIT
 *
 * Shared memory bank conflicts of one access of a warp, from its lanes' addresses.
 *
 * Shared memory has 32 banks of 4 bytes; in one wavefront each bank serves one word, to any number
 * of lanes (CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later). An
 * access of 4 bytes a lane is served for 32 lanes at once, of 8 bytes for 16, of 16 bytes for 8.
 * Where lanes n and n^1 (all of them), or n and n^2 (all of them), have the same address, twice as
 * many lanes are served at once: 8 or 16 bytes a lane take half of the wavefronts (NVIDIA developer
 * forum, "Unexpected shared memory bank conflict", for 7.0 and later).
 */
#ifndef SCORE_BANK_CONFLICT_H
#define SCORE_BANK_CONFLICT_H

#include <stdint.h>

enum {
	BANK_LANES = 32,
	BANK_COUNT = 32,
	BANK_WORD_BYTES = 4
};

/* Wavefronts that the access takes. address: bytes, multiples of width_bytes (the hardware refuses
 * others); width_bytes: 1, 2, 4, 8 or 16 per lane. */
unsigned bank_wavefronts(const uint32_t address[BANK_LANES], unsigned width_bytes);

/* Wavefronts of an access in which every lane reads its own word without conflicts:
 * 32*width/128, at least 1. bytes * bank_wavefronts() / this is what the access costs. */
unsigned bank_wavefronts_nominal(unsigned width_bytes);

/* The fewest wavefronts that could deliver the distinct words of this access: ceil(words / 32). */
unsigned bank_wavefronts_least(const uint32_t address[BANK_LANES], unsigned width_bytes);

#endif
