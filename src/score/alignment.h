/* SPDX-License-Identifier: MIT
 *
 * Alignment: how many cache lines (128 bytes) or sectors (32 bytes) the rows of a tile touch.
 *
 * Source: arithmetic on addresses. A row that starts at byte s and is n bytes long touches the
 * units floor(s/u) .. floor((s+n-1)/u). When the pitch is a multiple of u every row is like the
 * first; else rows take turns, with a period of u / gcd(pitch, u) rows. All sizes share one unit
 * (bytes here; the golden cases count elements).
 */
#ifndef SCORE_ALIGNMENT_H
#define SCORE_ALIGNMENT_H

#include <stdint.h>

enum {
	ALIGNMENT_LINE_BYTES = 128,
	ALIGNMENT_SECTOR_BYTES = 32
};

/* Units touched by `size` bytes from byte `start` on. size and unit > 0. */
uint64_t alignment_units(uint64_t start, uint64_t size, uint64_t unit);

/* Fewest units that can hold `size` bytes: ceil(size / unit). */
uint64_t alignment_units_least(uint64_t size, uint64_t unit);

/* Mean over the rows of a tile whose first row starts at byte 0. rows > 0. */
double alignment_units_mean(uint64_t pitch, uint64_t rows, uint64_t row_size, uint64_t unit);

#endif
