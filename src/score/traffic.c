/* SPDX-License-Identifier: MIT */
#include "score/traffic.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- cache lines and sectors ---- */
static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Units of a row. Rows differ only in their offsets within the first unit. */
struct row {
	uint64_t whole; /* units that every row touches */
	uint64_t late;  /* a row that starts at this offset or later touches one more unit */
};

static uint64_t units_of_rows(const struct row *row, uint64_t shift, uint64_t rows, uint64_t unit)
{
	uint64_t start = 0, sum = rows * row->whole;

	for (uint64_t i = 0; i < rows; i++) {
		sum += start >= row->late;
		start += shift;
		if (start >= unit)
			start -= unit;
	}
	return sum;
}

double alignment_units_mean(uint64_t pitch, uint64_t rows, uint64_t row_size, uint64_t unit)
{
	const struct row row = {(row_size - 1) / unit + 1, unit - (row_size - 1) % unit};
	const uint64_t shift = pitch % unit;
	uint64_t step, period, sum;

	if (shift == 0)
		return (double)row.whole;
	/* In a period, rows start at all multiples of `step`. */
	step = greatest_common_divisor(shift, unit);
	period = unit / step;
	sum = rows / period * (period * row.whole + period - (row.late + step - 1) / step);
	sum += units_of_rows(&row, shift, rows % period, unit);
	return (double)sum / (double)rows;
}

unsigned bank_wavefronts_nominal(unsigned width_bytes)
{
	return width_bytes > BANK_WORD_BYTES ? width_bytes / BANK_WORD_BYTES : 1;
}

static bool lanes_pair(const uint32_t address[BANK_LANES], unsigned distance)
{
	for (unsigned lane = 0; lane < BANK_LANES; lane++)
		if (address[lane] != address[lane ^ distance])
			return false;
	return true;
}

/* Number of distinct items that lanes access. An item is the aligned data of one lane. */
struct demand {
	unsigned worst; /* most items in one bank */
	unsigned all;
};

static struct demand lanes_demand(const uint32_t *address, unsigned lanes, unsigned words)
{
	const unsigned places = BANK_COUNT / words;
	const int shift = __builtin_ctz(words * BANK_WORD_BYTES);
	uint32_t seen[BANK_COUNT][BANK_LANES];
	unsigned char count[BANK_COUNT] = {0};
	struct demand demand = {0};

	for (unsigned lane = 0; lane < lanes; lane++) {
		const uint32_t thing = address[lane] >> shift;
		const unsigned place = thing & (places - 1);
		unsigned known = 0;

		while (known < count[place] && seen[place][known] != thing)
			known++;
		if (known < count[place])
			continue;
		seen[place][known] = thing;
		count[place]++;
		demand.all++;
		if (count[place] > demand.worst)
			demand.worst = count[place];
	}
	return demand;
}

unsigned bank_wavefronts(const uint32_t address[BANK_LANES], unsigned width_bytes)
{
	const unsigned words = bank_wavefronts_nominal(width_bytes);
	unsigned lanes = BANK_LANES / words;
	unsigned wavefronts = 0;

	if (words > 1 && (lanes_pair(address, 1) || lanes_pair(address, 2)))
		lanes *= 2;
	for (unsigned first = 0; first < BANK_LANES; first += lanes)
		wavefronts += lanes_demand(address + first, lanes, words).worst;
	return wavefronts;
}

unsigned bank_wavefronts_least(const uint32_t address[BANK_LANES], unsigned width_bytes)
{
	const unsigned words = bank_wavefronts_nominal(width_bytes);
	const struct demand demand = lanes_demand(address, BANK_LANES, words);

	return (demand.all * words + BANK_COUNT - 1) / BANK_COUNT;
}

static void traffic_smem(const struct launch_work *launch, struct traffic *traffic)
{
	double needed = 0, least = 0;

	for (size_t i = 0; i < launch->smem_access_count; i++) {
		const struct work_smem_access *access = &launch->smem_accesses[i];
		double nominal, possible, bytes;

		if (!access->when)
			continue;
		nominal = bank_wavefronts_nominal(access->width_bytes);
		possible = bank_wavefronts_least(access->address, access->width_bytes);
		bytes = access->bytes_per_step *
			bank_wavefronts(access->address, access->width_bytes) / nominal;
		if (access->is_write)
			traffic->smem_write_bytes += bytes;
		else
			traffic->smem_read_bytes += bytes;
		needed += bytes;
		least += access->bytes_per_step * possible / nominal;
	}
	traffic->bank_conflict_ratio = least > 0 ? needed / least : 1;
}

struct row_units {
	double touched, least;
};

static double row_units_ratio(const struct row_units *units)
{
	return units->least > 0 ? units->touched / units->least : 1;
}

static struct row_units row_units_of(const struct work_tile *tile, uint64_t unit)
{
	const uint64_t least = (tile->row_bytes + unit - 1) / unit;

	return (struct row_units){tile->rows * alignment_units_mean(tile->pitch_bytes, tile->rows,
						       tile->row_bytes, unit),
		tile->rows * (double)least};
}

static void row_units_add(struct row_units *sum, struct row_units units)
{
	sum->touched += units.touched;
	sum->least += units.least;
}

static void traffic_rows(const struct launch_work *launch, struct traffic *traffic)
{
	struct row_units lines = {0}, sectors = {0}, by_role[2] = {{0}};

	for (size_t i = 0; i < launch->tile_count; i++) {
		const struct work_tile *tile = &launch->tiles[i];
		struct row_units of_tile;

		if (!tile->when || tile->rows == 0 || tile->row_bytes == 0)
			continue;
		of_tile = row_units_of(tile, ALIGNMENT_LINE_BYTES);
		row_units_add(&lines, of_tile);
		row_units_add(&by_role[tile->is_output], of_tile);
		row_units_add(&sectors, row_units_of(tile, ALIGNMENT_SECTOR_BYTES));
	}
	traffic->lines_per_row_ratio = row_units_ratio(&lines);
	traffic->sectors_per_row_ratio = row_units_ratio(&sectors);
	traffic->lines_read_ratio = row_units_ratio(&by_role[false]);
	traffic->lines_written_ratio = row_units_ratio(&by_role[true]);
}

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
