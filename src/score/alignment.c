/* SPDX-License-Identifier: MIT */
#include "score/alignment.h"

uint64_t alignment_units(uint64_t start, uint64_t size, uint64_t unit)
{
	return (start + size - 1) / unit - start / unit + 1;
}

uint64_t alignment_units_least(uint64_t size, uint64_t unit)
{
	return (size + unit - 1) / unit;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* What all rows of a tile have in common: where they start within a unit decides the rest. */
struct row {
	uint64_t whole; /* units that every row touches */
	uint64_t late;  /* rows that start here or later in a unit touch one more */
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
	/* over a period, rows start once at every multiple of `step` within a unit */
	step = greatest_common_divisor(shift, unit);
	period = unit / step;
	sum = rows / period * (period * row.whole + period - (row.late + step - 1) / step);
	sum += units_of_rows(&row, shift, rows % period, unit);
	return (double)sum / (double)rows;
}
