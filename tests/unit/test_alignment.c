/* SPDX-License-Identifier: MIT
 *
 * Counts the cache lines that rows of a tile touch. Lines have 4 elements, and the matrix is 12 or
 * 13 elements wide.
 */

#include "unit/unit.h"
#include "score/traffic.h"

/* Units that `size` bytes from byte `start` touch. */
static uint64_t alignment_units(uint64_t start, uint64_t size, uint64_t unit)
{
	return (start + size - 1) / unit - start / unit + 1;
}

static void check_rows(uint64_t pitch, uint64_t width, const uint64_t expected[4])
{
	uint64_t sum = 0;

	for (uint64_t row = 0; row < 4; row++) {
		assert_int_equal(alignment_units(row * pitch, width, 4), expected[row]);
		sum += expected[row];
	}
	assert_true(alignment_units_mean(pitch, 4, width, 4) == (double)sum / 4);
}

TEST(lines_per_row_depend_on_the_pitch)
{
	check_rows(12, 4, (const uint64_t[]){1, 1, 1, 1});
	check_rows(13, 4, (const uint64_t[]){1, 2, 2, 2});
	check_rows(12, 12, (const uint64_t[]){3, 3, 3, 3});
	check_rows(13, 12, (const uint64_t[]){3, 4, 4, 4});
}

/* A sum over whole periods and a remainder gives the exact mean over all rows. */
TEST(lines_per_row_are_the_exact_mean)
{
	for (uint64_t pitch = 1; pitch < 300; pitch += 7)
		for (uint64_t rows = 1; rows < 200; rows += 13)
			for (uint64_t width = 1; width < 140; width += 11) {
				uint64_t sum = 0;

				for (uint64_t row = 0; row < rows; row++)
					sum += alignment_units(row * pitch, width, 32);
				assert_true(alignment_units_mean(pitch, rows, width, 32) ==
					    (double)sum / (double)rows);
			}
}

/* bf16 with BK=64: each row of 128 bytes is one cache line if the pitch is aligned. */
TEST(lines_follow_from_the_pitch)
{
	struct work_tile tile = {
		.when = true, .rows = 128, .row_bytes = 128, .pitch_bytes = 1792 * 2};
	struct launch_work launch = {.tiles = &tile, .tile_count = 1};
	struct traffic traffic;

	traffic_compute(&launch, &traffic);
	assert_true(traffic.lines_per_row_ratio == 1);
	assert_true(traffic.sectors_per_row_ratio == 1);
	tile.pitch_bytes = 1793 * 2;
	traffic_compute(&launch, &traffic);
	assert_true(traffic.lines_per_row_ratio == (1 + 63 * 2) / 64.0);
	assert_true(traffic.sectors_per_row_ratio == (1 * 4 + 15 * 5) / 64.0);
	launch.units = 10;
	launch.steps_mean = 3;
	launch.per_step[PIPE_L2_READ] = 64;
	launch.epilogue[PIPE_L2_WRITE] = 64;
	traffic_compute(&launch, &traffic);
	assert_true(traffic.l2_bytes == 10 * (3 * 64 + 64) * traffic.sectors_per_row_ratio);
}
