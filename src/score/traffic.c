/* SPDX-License-Identifier: MIT */
#include "score/traffic.h"

#include "score/alignment.h"
#include "score/bank_conflict.h"

static void traffic_smem(const struct launch_work *launch, struct traffic *traffic)
{
	double needed = 0, least = 0;

	for (size_t i = 0; i < launch->smem_access_count; i++) {
		const struct work_smem_access *access = &launch->smem_accesses[i];
		const double nominal = bank_wavefronts_nominal(access->width_bytes);
		const double wavefronts = bank_wavefronts(access->address, access->width_bytes);
		const double possible = bank_wavefronts_least(access->address, access->width_bytes);
		const double bytes = access->bytes_per_step * wavefronts / nominal;

		if (access->pipe == PIPE_SMEM_WRITE)
			traffic->smem_write_bytes += bytes;
		else
			traffic->smem_read_bytes += bytes;
		needed += bytes;
		least += access->bytes_per_step * possible / nominal;
	}
	traffic->bank_conflict_ratio = least > 0 ? needed / least : 1;
}

/* Lines or sectors of rows. */
struct row_units {
	double touched, least;
};

static double row_units_ratio(const struct row_units *units)
{
	return units->least > 0 ? units->touched / units->least : 1;
}

static void row_units_add(struct row_units *sum, const struct work_tile *tile, uint64_t unit)
{
	sum->touched += tile->rows *
			alignment_units_mean(tile->pitch_bytes, tile->rows, tile->row_bytes, unit);
	sum->least += tile->rows * (double)alignment_units_least(tile->row_bytes, unit);
}

static void traffic_rows(const struct launch_work *launch, struct traffic *traffic)
{
	struct row_units lines = {0}, sectors = {0}, by_role[2] = {{0}};

	for (size_t i = 0; i < launch->tile_count; i++) {
		const struct work_tile *tile = &launch->tiles[i];

		if (tile->rows == 0 || tile->row_bytes == 0)
			continue;
		row_units_add(&lines, tile, ALIGNMENT_LINE_BYTES);
		row_units_add(&sectors, tile, ALIGNMENT_SECTOR_BYTES);
		row_units_add(&by_role[tile->is_output], tile, ALIGNMENT_LINE_BYTES);
	}
	traffic->lines_per_row_ratio = row_units_ratio(&lines);
	traffic->sectors_per_row_ratio = row_units_ratio(&sectors);
	traffic->lines_read_ratio = row_units_ratio(&by_role[false]);
	traffic->lines_written_ratio = row_units_ratio(&by_role[true]);
}

/* Of one unit of work: prologue, all steps, epilogue. */
static double per_unit(const struct launch_work *launch, enum pipe pipe)
{
	return launch->prologue[pipe] + launch->steps_mean * launch->per_step[pipe] +
	       launch->epilogue[pipe];
}

void traffic_compute(const struct launch_work *launch, struct traffic *traffic)
{
	*traffic = (struct traffic){0};
	traffic_smem(launch, traffic);
	traffic_rows(launch, traffic);
	traffic->l2_bytes = launch->units * traffic->sectors_per_row_ratio *
			    (per_unit(launch, PIPE_L2_READ) + per_unit(launch, PIPE_L2_WRITE));
	traffic->dram_bytes = launch->dram_read_bytes + launch->dram_write_bytes;
	traffic->flop = launch->units *
			(per_unit(launch, PIPE_TENSOR_MMA) + per_unit(launch, PIPE_TENSOR_WGMMA) +
				per_unit(launch, PIPE_FP32));
}

double traffic_intensity(double flop, double bytes)
{
	return bytes > 0 ? flop / bytes : 0;
}
