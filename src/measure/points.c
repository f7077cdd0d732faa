/* SPDX-License-Identifier: MIT */
#include "measure/points.h"

#include "base/memory.h"
#include "base/random.h"

struct points {
	int64_t *units;
	size_t count, capacity;
	uint64_t columns;
	struct random_state random;
};

static void add(struct points *points, uint64_t row, uint64_t column)
{
	ARRAY_GROW(points->units, points->count, points->capacity);
	points->units[points->count++] = (int64_t)(row * points->columns + column);
}

static size_t add_all(uint64_t count, int64_t **units)
{
	*units = memory_zeroed((size_t)count, sizeof(**units));
	for (uint64_t i = 0; i < count; i++)
		(*units)[i] = (int64_t)i;
	return (size_t)count;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* One number of each of `strata` equal parts of 0..count-1, the first and the last included. */
static uint64_t stratum_pick(
	struct points *points, uint64_t count, uint64_t strata, uint64_t stratum)
{
	/* count < 2^62 and strata <= 2^22: split so that the product cannot overflow */
	uint64_t low = count / strata * stratum + count % strata * stratum / strata;
	uint64_t high = count / strata * (stratum + 1) + count % strata * (stratum + 1) / strata;

	if (stratum == 0)
		return 0;
	if (stratum == strata - 1)
		return count - 1;
	return low + random_below(&points->random, high - low);
}

static void add_row(struct points *points, uint64_t row, uint64_t budget)
{
	uint64_t strata = points->columns < budget ? points->columns : budget;

	for (uint64_t i = 0; i < strata; i++)
		add(points, row, stratum_pick(points, points->columns, strata, i));
}

static void add_column(struct points *points, uint64_t rows, uint64_t column, uint64_t budget)
{
	uint64_t strata = rows < budget ? rows : budget;

	for (uint64_t i = 0; i < strata; i++)
		add(points, stratum_pick(points, rows, strata, i), column);
}

/* First, last, and others at random. */
static uint64_t line(struct points *points, uint64_t count, unsigned index)
{
	if (index == 0)
		return 0;
	if (index == 1)
		return count - 1;
	return random_below(&points->random, count);
}

static void add_patches(struct points *points, uint64_t rows)
{
	uint64_t height = POINTS_PATCH, width = POINTS_PATCH;

	/* Patches grow where 16x16 ones would be too many. */
	while (ceil_div(rows, height) * ceil_div(points->columns, width) * POINTS_PER_PATCH >
		POINTS_FULL_MAX) {
		height *= 2;
		width *= 2;
	}
	for (uint64_t top = 0; top < rows; top += height)
		for (uint64_t left = 0; left < points->columns; left += width) {
			uint64_t tall = rows - top < height ? rows - top : height;
			uint64_t wide =
				points->columns - left < width ? points->columns - left : width;

			for (unsigned i = 0; i < POINTS_PER_PATCH; i++)
				add(points, top + random_below(&points->random, tall),
					left + random_below(&points->random, wide));
		}
}

size_t points_choose(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units)
{
	const uint64_t budget = POINTS_FULL_MAX / (2 * POINTS_LINES);
	struct points points = {.columns = columns};

	if (rows <= POINTS_FULL_MAX && columns <= POINTS_FULL_MAX &&
		rows * columns <= POINTS_FULL_MAX)
		return add_all(rows * columns, units);
	random_seed(&points.random, seed);
	for (unsigned i = 0; i < POINTS_LINES; i++) {
		add_row(&points, line(&points, rows, i), budget);
		add_column(&points, rows, line(&points, columns, i), budget);
	}
	add_patches(&points, rows);
	*units = points.units;
	return points.count;
}

size_t points_choose_rows(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units)
{
	struct points points = {.columns = 1};
	uint64_t most = POINTS_FULL_MAX / columns;

	if (most < 1)
		most = 1;
	if (rows <= most)
		return add_all(rows, units);
	random_seed(&points.random, seed);
	/* Rows at both ends, where remainders of tiles lie. */
	for (uint64_t i = 0; most >= 4 * POINTS_PATCH && i < POINTS_PATCH; i++) {
		add(&points, i, 0);
		add(&points, rows - 1 - i, 0);
		most -= 2;
	}
	for (uint64_t i = 0; i < most; i++)
		add(&points, stratum_pick(&points, rows, most, i), 0);
	*units = points.units;
	return points.count;
}
