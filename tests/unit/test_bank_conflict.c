/* SPDX-License-Identifier: MIT
 *
 * Wavefronts of warp accesses whose results are well known: strides, broadcasts, wide accesses.
 */

#include "unit/unit.h"
#include "score/traffic.h"

static unsigned wavefronts_of_stride(uint32_t stride_bytes, unsigned width_bytes)
{
	uint32_t address[BANK_LANES];

	for (uint32_t lane = 0; lane < BANK_LANES; lane++)
		address[lane] = lane * stride_bytes;
	return bank_wavefronts(address, width_bytes);
}

TEST(only_even_strides_conflict)
{
	assert_int_equal(wavefronts_of_stride(4, 4), 1);
	assert_int_equal(wavefronts_of_stride(8, 4), 2);
	assert_int_equal(wavefronts_of_stride(12, 4), 1); /* odd strides do not collide */
	assert_int_equal(wavefronts_of_stride(16, 4), 4);
	assert_int_equal(wavefronts_of_stride(128, 4), 32); /* a column of a 32-wide matrix */
	assert_int_equal(wavefronts_of_stride(132, 4), 1);  /* the same column, padded */
	assert_int_equal(wavefronts_of_stride(0, 4), 1);    /* broadcast */
	assert_int_equal(wavefronts_of_stride(2, 2), 1);    /* two lanes share a word */
	assert_int_equal(wavefronts_of_stride(1, 1), 1);
}

TEST(wide_accesses_take_half_or_quarter_warps)
{
	assert_int_equal(wavefronts_of_stride(8, 8), 2); /* two half warps */
	assert_int_equal(wavefronts_of_stride(16, 8), 4);
	assert_int_equal(wavefronts_of_stride(16, 16), 4); /* four quarter warps */
	assert_int_equal(wavefronts_of_stride(32, 16), 8);
	assert_int_equal(
		wavefronts_of_stride(64, 16), 16); /* rows of 64 bytes: 4 per quarter warp */
	assert_int_equal(
		wavefronts_of_stride(128, 16), 32); /* rows of 128 bytes: 8 per quarter warp */
	assert_int_equal(wavefronts_of_stride(144, 16), 4); /* padded by 16 bytes */
}

/* Two lanes with the same address are served together. */
TEST(lanes_with_one_address_are_served_together)
{
	uint32_t address[BANK_LANES];

	assert_int_equal(wavefronts_of_stride(0, 8), 1);
	assert_int_equal(wavefronts_of_stride(0, 16), 2);
	for (uint32_t lane = 0; lane < BANK_LANES; lane++)
		address[lane] = lane / 2 * 16;
	assert_int_equal(bank_wavefronts(address, 16), 2);
	for (uint32_t lane = 0; lane < BANK_LANES; lane++)
		address[lane] = ((lane & 1) | lane >> 2 << 1) * 8;
	assert_int_equal(bank_wavefronts(address, 8), 1); /* lanes n and n^2 share an address */
	for (uint32_t lane = 0; lane < BANK_LANES; lane++)
		address[lane] = lane / 4 * 16; /* groups of four contain pairs */
	assert_int_equal(bank_wavefronts(address, 16), 2);
	for (uint32_t lane = 0; lane < BANK_LANES; lane++)
		address[lane] =
			lane % 8 *
			16; /* the quarters are equal, but no two adjacent lanes share an address */
	assert_int_equal(bank_wavefronts(address, 16), 4);
}

/* ldmatrix over rows of 128 bytes: without a swizzle all eight rows use the same four banks. */
TEST(a_swizzle_avoids_conflicts_of_ldmatrix)
{
	uint32_t plain[BANK_LANES], swizzled[BANK_LANES];

	for (uint32_t lane = 0; lane < BANK_LANES; lane++) {
		const uint32_t row = lane % 16, chunk = lane / 16;

		plain[lane] = row * 128 + chunk * 16;
		swizzled[lane] = row * 128 + (chunk ^ row % 8) * 16;
	}
	assert_int_equal(bank_wavefronts(plain, 16), 32);
	assert_int_equal(bank_wavefronts(swizzled, 16), 4);
	assert_int_equal(bank_wavefronts_least(plain, 16), 4);
	assert_int_equal(bank_wavefronts_nominal(16), 4);
	assert_int_equal(bank_wavefronts_nominal(4), 1);
	assert_int_equal(bank_wavefronts_nominal(2), 1);
}

/* Bank conflicts multiply the bytes of an access in the score's traffic. */
TEST(conflicts_multiply_the_bytes_of_an_access)
{
	struct work_smem_access accesses[2] = {
		{.when = true, .width_bytes = 4, .bytes_per_step = 1000},
		{.when = true, .is_write = true, .width_bytes = 4, .bytes_per_step = 1000},
	};
	struct launch_work launch = {.smem_accesses = accesses, .smem_access_count = 2};
	struct traffic traffic;

	for (uint32_t lane = 0; lane < BANK_LANES; lane++) {
		accesses[0].address[lane] = lane * 4;
		accesses[1].address[lane] = lane * 16; /* 4 wavefronts */
	}
	traffic_compute(&launch, &traffic);
	assert_true(traffic.smem_read_bytes == 1000);
	assert_true(traffic.smem_write_bytes == 4000);
	assert_true(traffic.bank_conflict_ratio == 2.5);
	launch.smem_access_count = 0;
	traffic_compute(&launch, &traffic);
	assert_true(traffic.bank_conflict_ratio == 1);
}
