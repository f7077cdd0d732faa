/* SPDX-License-Identifier: MIT
 *
 * Heat map: tile M x tile N, best over the other parameters; one part per family, the winner's
 * first.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "figure/figure.h"
#include "report/tile_grid.h"
#include "report/format.h"

enum {
	CELL_HEIGHT = 28,
	LEFT = 58,
	TOP = 34,
	LEGEND_LEFT = 12,
	STEPS = 7
};

/* Shares of the best speed from which a cell has colour 1, 2, ... */
static const double steps[STEPS - 1] = {0.4, 0.6, 0.75, 0.85, 0.92, 0.98};

static int step_of(double share)
{
	int step = 0;

	while (step < STEPS - 1 && share >= steps[step])
		step++;
	return step;
}

/* The part-th family: the winner's, then the others in order. */
static bool family_of(const struct report_entry *entry, size_t part, size_t *family)
{
	size_t first = entry->has_winner ? report_family(entry, entry->winner.family) : SIZE_MAX;

	*family = part;
	if (first != SIZE_MAX && part <= first)
		*family = part ? part - 1 : first;
	return *family < entry->family_name_count;
}

struct place {
	double cell_width, x, y;
};

static struct place place_of(double cell_width, size_t row, size_t column)
{
	return (struct place){.cell_width = cell_width,
		.x = LEFT + cell_width * (double)column,
		.y = TOP + CELL_HEIGHT * (double)row};
}

static void cell_title(struct figure_part *part, const struct tile_grid *grid,
	const struct tile_cell *cell, int64_t row, int64_t column)
{
	const struct evaluation *evaluation = part->entry->candidates[cell->candidate].evaluation;
	struct text *body = &part->canvas.body;

	text_append(body, "<title>");
	if (grid->row_name)
		format_put(body, format_xml, "%s=%" PRId64 " ", grid->row_name, row);
	format_put(body, format_xml, "%s=%" PRId64 ": %s, best of %zu tried: %s</title>",
		grid->column_name, column,
		cell->state == TILE_OK ? format_time(cell->time_us).text
				       : outcome_name(evaluation->outcome),
		cell->tried, evaluation->configuration);
}

static void draw_value(struct figure_part *part, const struct tile_cell *cell, double best_us,
	const struct place *place)
{
	const double flop = part->entry->flop;
	struct format_text label =
		format_number(flop > 0 ? flop / cell->time_us * 1e-6 : cell->time_us);
	char class[24];

	/* three digits fit */
	if (strlen(label.text) > 4)
		label.text[label.text[3] == '.' ? 3 : 4] = '\0';
	snprintf(class, sizeof(class), "v c k%d", step_of(best_us / cell->time_us));
	canvas_text(&part->canvas, class, place->x + place->cell_width / 2, place->y + 18, "%s",
		label.text);
}

static void draw_cell(struct figure_part *part, const struct tile_grid *grid, size_t row,
	size_t column, double cell_width)
{
	const struct tile_cell *cell = &grid->cells[row * grid->column_count + column];
	struct place place = place_of(cell_width, row, column);
	struct text *body = &part->canvas.body;
	char class[16] = "failed";

	if (!cell->tried)
		return;
	if (cell->state == TILE_OK)
		snprintf(class, sizeof(class), "q%d", step_of(grid->best_us / cell->time_us));
	text_appendf(body, "<g class=\"cell\" data-row=\"%zu\" data-n=\"%zu\">", cell->candidate,
		cell->tried);
	if (part->canvas.standalone)
		cell_title(part, grid, cell, grid->rows[row], grid->columns[column]);
	canvas_rect(
		&part->canvas, class, place.x + 1, place.y + 1, cell_width - 2, CELL_HEIGHT - 2);
	if (cell->state == TILE_OK)
		draw_value(part, cell, grid->best_us, &place);
	else
		canvas_text(&part->canvas, "v c bad", place.x + cell_width / 2, place.y + 19, "×");
	text_append(body, "</g>");
}

/* All cells that were not tried, in one path. */
static void draw_empty(struct figure_part *part, const struct tile_grid *grid,
	enum tile_state state, const char *class, double cell_width)
{
	bool open = false;

	for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
		struct place place =
			place_of(cell_width, i / grid->column_count, i % grid->column_count);

		if (grid->cells[i].state != state)
			continue;
		if (!open)
			canvas_path_open(&part->canvas, class);
		open = true;
		canvas_path_to(&part->canvas, true, place.x + 1, place.y + 1);
		text_appendf(&part->canvas.body, "h%.3gv%dh%.3gz", cell_width - 2, CELL_HEIGHT - 2,
			2 - cell_width);
	}
	if (open)
		canvas_path_close(&part->canvas);
}

/* The cell of the winner, if it is of this family. */
static void draw_winner(struct figure_part *part, const struct tile_grid *grid, double cell_width)
{
	const struct report_entry *entry = part->entry;
	const char *configuration = entry->winner.configuration;
	int64_t row = 0, column = 0;
	struct place place;
	size_t r, c;

	if (!entry->has_winner || report_family(entry, entry->winner.family) != grid->family ||
		!report_parameter(configuration, grid->column_name, &column) ||
		(grid->row_name && !report_parameter(configuration, grid->row_name, &row)))
		return;
	r = grid->row_name ? tile_grid_row(grid, row) : 0;
	c = tile_grid_column(grid, column);
	if (r == SIZE_MAX || c == SIZE_MAX)
		return;
	place = place_of(cell_width, r, c);
	canvas_rect(&part->canvas, "winner", place.x, place.y, cell_width, CELL_HEIGHT);
	canvas_text(&part->canvas, "star c", place.x + cell_width - 2, place.y + 5, "★");
}

static void draw_axes(struct figure_part *part, const struct tile_grid *grid, double cell_width)
{
	struct canvas *canvas = &part->canvas;
	double right = LEFT + cell_width * (double)grid->column_count;

	canvas_text(canvas, "t c", (LEFT + right) / 2, 13, "%s", grid->column_name);
	for (size_t c = 0; c < grid->column_count; c++)
		canvas_text(canvas, "t m c", place_of(cell_width, 0, c).x + cell_width / 2, TOP - 6,
			"%" PRId64, grid->columns[c]);
	if (!grid->row_name)
		return;
	canvas_text_up(
		canvas, "t c", 14, TOP + CELL_HEIGHT * (double)grid->row_count / 2, grid->row_name);
	for (size_t r = 0; r < grid->row_count; r++)
		canvas_text(canvas, "t m e", LEFT - 7, place_of(cell_width, r, 0).y + 18,
			"%" PRId64, grid->rows[r]);
}

/* A swatch with its label; returns where the next one goes, on a new line where it must. */
static void legend_item(struct figure_part *part, const char *class, const char *label, double *x,
	double *y, double width)
{
	if (*x + width > part->canvas.width) {
		*x = LEGEND_LEFT;
		*y += 20;
	}
	canvas_rect(&part->canvas, class, *x, *y - 11, 14, 13);
	canvas_text(&part->canvas, "t m", *x + 19, *y, "%s", label);
	*x += width;
}

static double draw_legend(struct figure_part *part, const struct tile_grid *grid, double y)
{
	static const char *const labels[STEPS] = {"<40", "40", "60", "75", "85", "92", "98"};
	bool states[TILE_OK + 1] = {false};
	double x = LEGEND_LEFT;

	for (size_t i = 0; i < grid->row_count * grid->column_count; i++)
		states[grid->cells[i].state] = true;
	canvas_text(&part->canvas, "t m", x, y, "%s; shade: %% of the best",
		part->entry->flop > 0 ? "TFLOP/s" : "µs");
	x += 206;
	for (int i = 0; i < STEPS; i++) {
		char class[8];

		snprintf(class, sizeof(class), "q%d", i);
		legend_item(part, class, labels[i], &x, &y, i ? 43 : 52);
	}
	x = LEGEND_LEFT;
	if (states[TILE_FAILED] || states[TILE_ILLEGAL] || states[TILE_UNTRIED])
		y += 20;
	if (states[TILE_FAILED])
		legend_item(part, "failed", "× tried, all failed", &x, &y, 160);
	if (states[TILE_ILLEGAL])
		legend_item(part, "illegal", "not in the space searched", &x, &y, 196);
	if (states[TILE_UNTRIED])
		legend_item(part, "untried",
			grid->legality_known ? "not tried" : "not tried, or not legal", &x, &y,
			170);
	return y + 8;
}

static void describe(struct figure_part *part, const struct tile_grid *grid)
{
	const struct report_entry *entry = part->entry;
	struct text *caption = &part->caption;

	text_appendf(&part->title, "Tile shapes of %s", entry->family_names[grid->family]);
	text_appendf(caption,
		"%s of the best configuration with this tile, over all other "
		"parameters. %zu of %zu tile shapes were tried.",
		entry->flop > 0 ? "TFLOP/s" : "Time in µs", grid->tried_cells,
		grid->row_count * grid->column_count);
	if (grid->row_step > 1 || grid->column_step > 1)
		text_appendf(caption,
			" Neighbouring values share a row or column: %" PRId64 " of %s, %" PRId64
			" of %s.",
			grid->row_step, grid->row_name ? grid->row_name : "rows", grid->column_step,
			grid->column_name);
	for (size_t i = 0; i < entry->candidate_count; i++)
		if (entry->candidates[i].remeasured) {
			text_append(caption, " Times are those of the search; the best were timed "
					     "again.");
			break;
		}
}

static bool draw(struct figure_part *part)
{
	struct tile_grid grid;
	double cell_width, height;
	size_t family, widest;

	/* families without a grid are passed over */
	for (size_t skipped = 0, at = 0;; at++) {
		if (!family_of(part->entry, at, &family))
			return false;
		if (!tile_grid_make(part->entry, family, &grid))
			continue;
		if (skipped++ == part->part)
			break;
		tile_grid_release(&grid);
	}
	tile_grid_mark_illegal(part->report, part->entry, &grid);
	widest = grid.column_count < 9 ? 9 : grid.column_count;
	cell_width = grid.column_count <= 10 ? 40 : 34;
	part->canvas.width = LEFT + cell_width * (double)widest + 12;
	height = TOP + CELL_HEIGHT * (double)grid.row_count + 24;
	draw_axes(part, &grid, cell_width);
	for (size_t r = 0; r < grid.row_count; r++)
		for (size_t c = 0; c < grid.column_count; c++)
			draw_cell(part, &grid, r, c, cell_width);
	draw_empty(part, &grid, TILE_UNTRIED, "untried", cell_width);
	draw_empty(part, &grid, TILE_ILLEGAL, "illegal", cell_width);
	draw_winner(part, &grid, cell_width);
	part->canvas.height = draw_legend(part, &grid, height);
	describe(part, &grid);
	tile_grid_release(&grid);
	return true;
}

const struct figure figure_heatmap = {.name = "heatmap", .draw = draw};
