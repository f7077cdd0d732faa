/* SPDX-License-Identifier: MIT
 *
 * The space of one family seen as a grid of tile shapes: for each pair of the two tile parameters
 * the best candidate over all other parameters, and why there is none where there is none.
 */
#ifndef REPORT_TILE_GRID_H
#define REPORT_TILE_GRID_H

#include "report/report.h"

enum tile_state {
	TILE_UNTRIED, /* legal, or not known */
	TILE_ILLEGAL, /* no legal configuration in the space that was searched */
	TILE_FAILED,  /* tried, and nothing came out */
	TILE_OK,
};

struct tile_cell {
	enum tile_state state;
	size_t tried;
	size_t candidate; /* the fastest, or one that failed */
	double time_us;   /* of the fastest; infinite: none */
};

struct tile_grid {
	size_t family;                /* of the entry's names */
	char *row_name, *column_name; /* row_name NULL: one row */
	int64_t *rows, *columns;      /* ascending; the least of their step's values */
	size_t row_count, column_count;
	int64_t row_step, column_step; /* 1: a row is one value; 16: neighbouring values share it */
	struct tile_cell *cells;       /* row_count x column_count */
	bool legality_known;
	size_t tried_cells;
	double best_us;
};

/* False: this family has no candidate, or no parameter that is a number. */
bool tile_grid_make(const struct report_entry *entry, size_t family, struct tile_grid *grid);
void tile_grid_release(struct tile_grid *grid);

/* The row or column of a value; SIZE_MAX if it has none. */
size_t tile_grid_row(const struct tile_grid *grid, int64_t value);
size_t tile_grid_column(const struct tile_grid *grid, int64_t value);

/* Marks what has no legal configuration, where the templates are those of the run. Enumerates
 * the space: up to a second. */
void tile_grid_mark_illegal(
	const struct report *report, const struct report_entry *entry, struct tile_grid *grid);

#endif
