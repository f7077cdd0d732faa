/* SPDX-License-Identifier: MIT */
#include "report/tile_grid.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/candidate.h"
#include "report/format.h"
#include "report/report_candidate.h"
#include "space/enumerate.h"

enum {
	NAME_SIZE = 64,
	AXIS_MAX = 24 /* rows or columns; neighbours share one where there are more values */
};

struct value_set {
	int64_t *items;
	size_t count, capacity;
};

static void set_add(struct value_set *set, int64_t value)
{
	size_t at = 0;

	while (at < set->count && set->items[at] < value)
		at++;
	if (at < set->count && set->items[at] == value)
		return;
	ARRAY_GROW(set->items, set->count, set->capacity);
	memmove(set->items + at + 1, set->items + at, (set->count - at) * sizeof(*set->items));
	set->items[at] = value;
	set->count++;
}

static bool is_of(const struct report_entry *entry, size_t candidate, size_t family)
{
	return entry->candidates[candidate].family == family;
}

/* The values that a parameter took; false if one of them is no integer. */
static bool values_of(
	const struct report_entry *entry, size_t family, const char *name, struct value_set *set)
{
	for (size_t i = 0; i < entry->candidate_count; i++) {
		int64_t value;

		if (!is_of(entry, i, family))
			continue;
		if (!report_parameter(entry->candidates[i].evaluation->configuration, name, &value))
			return false;
		set_add(set, value);
	}
	return set->count > 0;
}

static void value_set_release(struct value_set *set)
{
	free(set->items);
}

/* Names by which families call their tile; else the two parameters that took most values. */
static bool choose_axes(const struct report_entry *entry, size_t family, const char *example,
	char row[NAME_SIZE], char column[NAME_SIZE])
{
	static const char *const usual[][2] = {
		{"BM", "BN"}, {"TILE_M", "TILE_N"}, {"BLOCK_M", "BLOCK_N"}, {"BLOCK_Q", "BLOCK_K"}};
	size_t most[2] = {0, 0};
	char name[NAME_SIZE];
	struct pair pair;

	for (size_t i = 0; i < ARRAY_COUNT(usual); i++) {
		CLEANUP(value_set_release) struct value_set rows = {0}, columns = {0};

		if (!values_of(entry, family, usual[i][0], &rows) ||
			!values_of(entry, family, usual[i][1], &columns))
			continue;
		string_put(row, NAME_SIZE, usual[i][0]);
		string_put(column, NAME_SIZE, usual[i][1]);
		return true;
	}
	row[0] = column[0] = '\0';
	while (pair_next(&example, &pair)) {
		CLEANUP(value_set_release) struct value_set set = {0};

		snprintf(name, sizeof(name), "%.*s", pair.name_length, pair.name);
		if (!values_of(entry, family, name, &set))
			continue;
		if (set.count > most[0]) {
			string_put(row, NAME_SIZE, column);
			string_put(column, NAME_SIZE, name);
			most[1] = most[0];
			most[0] = set.count;
		} else if (set.count > most[1]) {
			string_put(row, NAME_SIZE, name);
			most[1] = set.count;
		}
	}
	return column[0] != '\0';
}

static int64_t floor_to(int64_t value, int64_t step)
{
	int64_t rest = value % step;

	return value - (rest < 0 ? rest + step : rest);
}

/* Lets neighbouring values share a row where there are too many. */
static int64_t thin_out(struct value_set *set)
{
	int64_t step = 1;
	size_t kept = 0;

	if (set->count > AXIS_MAX)
		while ((set->items[set->count - 1] - set->items[0]) / step >= AXIS_MAX)
			step *= 2;
	for (size_t i = 0; i < set->count; i++) {
		int64_t value = floor_to(set->items[i], step);

		if (!kept || set->items[kept - 1] != value)
			set->items[kept++] = value;
	}
	set->count = kept;
	return step;
}

static size_t index_of(const int64_t *values, size_t count, int64_t value)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] == value)
			return i;
	return SIZE_MAX;
}

size_t tile_grid_row(const struct tile_grid *grid, int64_t value)
{
	return index_of(grid->rows, grid->row_count, floor_to(value, grid->row_step));
}

size_t tile_grid_column(const struct tile_grid *grid, int64_t value)
{
	return index_of(grid->columns, grid->column_count, floor_to(value, grid->column_step));
}

static void fill(const struct report_entry *entry, struct tile_grid *grid)
{
	for (size_t i = 0; i < entry->candidate_count; i++) {
		const char *configuration = entry->candidates[i].evaluation->configuration;
		double time_us = report_time_us(&entry->candidates[i]);
		int64_t row = 0, column = 0;
		struct tile_cell *cell;

		if (!is_of(entry, i, grid->family))
			continue;
		report_parameter(configuration, grid->column_name, &column);
		if (grid->row_name)
			report_parameter(configuration, grid->row_name, &row);
		cell = &grid->cells[tile_grid_row(grid, row) * grid->column_count +
				    tile_grid_column(grid, column)];
		grid->tried_cells += !cell->tried;
		cell->tried++;
		if (isfinite(time_us))
			cell->state = TILE_OK;
		else if (cell->state != TILE_OK)
			cell->state = TILE_FAILED;
		if (time_us < cell->time_us || cell->tried == 1) {
			cell->candidate = i;
			cell->time_us = time_us;
		}
		if (time_us < grid->best_us)
			grid->best_us = time_us;
	}
}

bool tile_grid_make(const struct report_entry *entry, size_t family, struct tile_grid *grid)
{
	char row[NAME_SIZE], column[NAME_SIZE];
	struct value_set rows = {0}, columns = {0};
	size_t example = 0;

	*grid = (struct tile_grid){.family = family, .best_us = INFINITY};
	while (example < entry->candidate_count && !is_of(entry, example, family))
		example++;
	if (example == entry->candidate_count ||
		!choose_axes(entry, family, entry->candidates[example].evaluation->configuration,
			row, column))
		return false;
	values_of(entry, family, column, &columns);
	grid->column_name = string_copy(column);
	if (row[0]) {
		values_of(entry, family, row, &rows);
		grid->row_name = string_copy(row);
	} else {
		set_add(&rows, 0);
	}
	grid->row_step = thin_out(&rows);
	grid->column_step = thin_out(&columns);
	grid->rows = rows.items;
	grid->row_count = rows.count;
	grid->columns = columns.items;
	grid->column_count = columns.count;
	grid->cells = memory_zeroed(rows.count * columns.count, sizeof(*grid->cells));
	for (size_t i = 0; i < rows.count * columns.count; i++)
		grid->cells[i].time_us = INFINITY;
	fill(entry, grid);
	return true;
}

void tile_grid_release(struct tile_grid *grid)
{
	free(grid->row_name);
	free(grid->column_name);
	free(grid->rows);
	free(grid->columns);
	free(grid->cells);
	*grid = (struct tile_grid){0};
}

/* ---- which shapes have a legal configuration at all: asks the templates, where there are some and
 * they describe the space that the run searched ---- */
struct marking {
	const struct tile_grid *grid;
	bool *legal;                /* per cell */
	size_t *row_of, *column_of; /* per choice of the parameter; SIZE_MAX: not on the axis */
	int row, column;            /* parameters; row -1: none */
	double count;
};

static int parameter_find(const struct space *space, const char *name)
{
	for (size_t i = 0; name && i < space->parameter_count; i++)
		if (strcmp(space_parameter_name(space, i), name) == 0)
			return (int)i;
	return -1;
}

/* The row or column of each choice of a parameter. */
static size_t *places(const struct space *space, int parameter, const struct tile_grid *grid,
	size_t (*place)(const struct tile_grid *grid, int64_t value))
{
	const struct value_list *list;
	size_t *of;

	if (parameter < 0)
		return NULL;
	list = &space->parameters[(size_t)parameter].values;
	of = memory_zeroed(list->count + 1, sizeof(*of));
	for (size_t i = 0; i < list->count; i++) {
		int64_t value;

		of[i] = value_as_int(list->items[i], &value) ? place(grid, value) : SIZE_MAX;
	}
	return of;
}

static bool mark(const choice *configuration, const struct value *slots, void *context)
{
	struct marking *marking = context;
	size_t row = marking->row < 0 ? 0 : marking->row_of[configuration[marking->row]];
	size_t column = marking->column_of[configuration[marking->column]];

	(void)slots;
	marking->count++;
	if (row != SIZE_MAX && column != SIZE_MAX)
		marking->legal[row * marking->grid->column_count + column] = true;
	return true;
}

/* The count of legal configurations that the run saw in this family; 0: not known. */
static double recorded_legal(const struct report_entry *entry, const char *family)
{
	const struct journal_record *journal = &entry->source->journal;

	for (size_t i = journal->run_count; i-- > 0;) {
		const struct journal_problem *problem =
			journal_problem_find(&journal->runs[i], entry->operation, entry->problem);

		if (!problem)
			continue;
		for (size_t k = 0; k < problem->family_count; k++)
			if (strcmp(problem->families[k].name, family) == 0)
				return (double)problem->families[k].legal;
	}
	return 0;
}

static void enumerate(struct bound_family *bound, struct tile_grid *grid, double recorded)
{
	struct marking marking = {.grid = grid,
		.row = parameter_find(bound->space, grid->row_name),
		.column = parameter_find(bound->space, grid->column_name)};
	const size_t cells = grid->row_count * grid->column_count;

	if (marking.column < 0 || (grid->row_name && marking.row < 0))
		return;
	marking.legal = memory_zeroed(cells, sizeof(bool));
	marking.row_of = places(bound->space, marking.row, grid, tile_grid_row);
	marking.column_of = places(bound->space, marking.column, grid, tile_grid_column);
	/* a count that differs comes from other templates: what they forbid says nothing here */
	grid->legality_known =
		space_enumerate(bound->space, mark, &marking, NULL, NULL) == STATUS_OK &&
		fabs(marking.count - recorded) < 0.5;
	for (size_t i = 0; grid->legality_known && i < cells; i++)
		if (!marking.legal[i] && grid->cells[i].state == TILE_UNTRIED)
			grid->cells[i].state = TILE_ILLEGAL;
	free(marking.legal);
	free(marking.row_of);
	free(marking.column_of);
}

void tile_grid_mark_illegal(
	const struct report *report, const struct report_entry *entry, struct tile_grid *grid)
{
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	const char *name = entry->family_names[grid->family];
	double recorded = recorded_legal(entry, name);
	const struct operation *operation;
	const struct family *family;
	struct bound_family *bound = NULL;

	if (!report->has_catalogue || !entry->spec || recorded <= 0 ||
		catalogue_operation(&report->catalogue, entry->operation, &operation, NULL) ||
		catalogue_family(&report->catalogue, operation, name, &family, NULL) ||
		problem_parse(operation, entry->problem, &problems, NULL) || problems.count != 1)
		return;
	if (family_bind(family, problems.items[0], entry->spec, entry->where, &bound, NULL) ==
		STATUS_OK)
		enumerate(bound, grid, recorded);
	bound_family_free(bound);
}
