/* SPDX-License-Identifier: MIT
 *
 * Which tile shapes have a legal configuration at all: asks the templates, where there are some
 * and they describe the space that the run searched.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/candidate.h"
#include "report/tile_grid.h"

struct marking {
	const struct tile_grid *grid;
	bool *legal;                /* per cell */
	size_t *row_of, *column_of; /* per choice of the parameter; SIZE_MAX: not on the axis */
	int row, column;            /* parameters; row -1: none */
	double count;
};

static int parameter_find(const struct space *space, const char *name)
{
	for (size_t i = 0; name && i < space_parameter_count(space); i++)
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
	list = space_parameter_values(space, (size_t)parameter);
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
		struct json_at line, families;

		if (!problem)
			continue;
		line = json_root(problem->line, "journal");
		if (!json_find(&line, "families", &families))
			return 0;
		for (size_t k = 0; k < json_count(&families); k++) {
			struct json_at item = json_item(&families, k);
			const char *name = "";
			double legal = 0;

			json_member_string(&item, "name", &name, NULL);
			if (strcmp(name, family) == 0 &&
				json_member_double(&item, "legal", &legal, NULL) == STATUS_OK)
				return legal;
		}
	}
	return 0;
}

static void apply(struct tile_grid *grid, const struct marking *marking)
{
	grid->legality_known = true;
	for (size_t i = 0; i < grid->row_count * grid->column_count; i++)
		if (!marking->legal[i] && grid->cells[i].state == TILE_UNTRIED)
			grid->cells[i].state = TILE_ILLEGAL;
}

static void enumerate(struct bound_family *bound, struct tile_grid *grid, double recorded)
{
	struct marking marking = {.grid = grid,
		.row = parameter_find(bound->space, grid->row_name),
		.column = parameter_find(bound->space, grid->column_name)};
	struct error ignored = {0};

	if (marking.column < 0 || (grid->row_name && marking.row < 0))
		return;
	marking.legal = memory_zeroed(grid->row_count * grid->column_count, sizeof(bool));
	marking.row_of = places(bound->space, marking.row, grid, tile_grid_row);
	marking.column_of = places(bound->space, marking.column, grid, tile_grid_column);
	/* a count that differs comes from other templates: what they forbid says nothing here */
	if (space_enumerate(bound->space, mark, &marking, NULL, &ignored) == STATUS_OK &&
		fabs(marking.count - recorded) < 0.5)
		apply(grid, &marking);
	free(marking.legal);
	free(marking.row_of);
	free(marking.column_of);
}

void tile_grid_mark_illegal(
	const struct report *report, const struct report_entry *entry, struct tile_grid *grid)
{
	const char *name = entry->family_names[grid->family];
	double recorded = recorded_legal(entry, name);
	const struct operation *operation;
	const struct family *family;
	struct problem_list problems = {0};
	struct bound_family *bound = NULL;
	struct error ignored = {0};

	if (!report->has_catalogue || !entry->spec || recorded <= 0 ||
		catalogue_operation(&report->catalogue, entry->operation, &operation, &ignored) !=
			STATUS_OK ||
		catalogue_family(&report->catalogue, operation, name, &family, &ignored) !=
			STATUS_OK)
		return;
	if (problem_parse(operation, entry->problem, &problems, &ignored) == STATUS_OK &&
		problems.count == 1 &&
		family_bind(family, problems.items[0], entry->spec, entry->where, &bound,
			&ignored) == STATUS_OK)
		enumerate(bound, grid, recorded);
	bound_family_free(bound);
	problem_list_release(&problems);
}
