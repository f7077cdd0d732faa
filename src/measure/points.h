/* SPDX-License-Identifier: MIT
 *
 * Which units of an output are compared with the reference: all of a small output; of a large one
 * several points of every patch, the edges, and full rows and columns, so that a wrong tile, a
 * wrong fragment of a tile and a wrong remainder are all hit. Pure functions.
 */
#ifndef MEASURE_POINTS_H
#define MEASURE_POINTS_H

#include <stddef.h>
#include <stdint.h>

enum {
	POINTS_FULL_MAX = 1 << 22, /* output elements that are compared in full */
	POINTS_PATCH = 16,
	POINTS_PER_PATCH = 4,
	POINTS_LINES = 4, /* rows and columns compared in full: first, last, two at random */
};

/* Linear indices over rows x columns (without pitch); caller frees *units; duplicates occur.
 * Deterministic in seed. Returns their number: rows*columns if that is at most POINTS_FULL_MAX,
 * else at most 2*POINTS_FULL_MAX. rows, columns > 0. */
size_t points_choose(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

/* For references whose unit is a row: row indices, so many that at most POINTS_FULL_MAX elements
 * are compared (at least one row): all, or the first and last 16 and one of each stratum. */
size_t points_choose_rows(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

#endif
