/* SPDX-License-Identifier: MIT
 *
 * Drawing into SVG. Coordinates are in the figure's own units (one unit is one CSS pixel at its
 * natural size), colours come from classes that src/figure/assets/figure.css knows, so that one
 * drawing serves light and dark, the page and a file of its own.
 */
#ifndef FIGURE_CANVAS_H
#define FIGURE_CANVAS_H

#include "base/text.h"

struct canvas {
	struct text body;
	struct text attributes; /* of the <svg>: what the page's script needs to know */
	double width, height;
	bool standalone; /* a file of its own: no script, so cells carry titles */
};

/* The <svg> around the drawing: an element of a page or, standalone, a file of its own without
 * script and without a reference to anything outside. */
void canvas_write(
	const struct canvas *canvas, const char *name, const char *title, struct text *svg);
void canvas_release(struct canvas *canvas);

void canvas_line(
	struct canvas *canvas, const char *class, double x1, double y1, double x2, double y2);
void canvas_rect(
	struct canvas *canvas, const char *class, double x, double y, double width, double height);
void canvas_circle(struct canvas *canvas, const char *class, double x, double y, double radius);
/* class: "t" plain, "t m" muted, ... with "e" end, "c" centred; escaped here. */
void canvas_text(struct canvas *canvas, const char *class, double x, double y, const char *format,
	...) PRINTF_LIKE(5, 6);
/* The same, turned by 90 degrees to the left. */
void canvas_text_up(
	struct canvas *canvas, const char *class, double x, double y, const char *string);

/* What is drawn between them has these words under the pointer. */
void canvas_group_open(struct canvas *canvas, const char *format, ...) PRINTF_LIKE(2, 3);
void canvas_group_close(struct canvas *canvas);

/* A path that is put together piece by piece. */
void canvas_path_open(struct canvas *canvas, const char *class);
void canvas_path_to(struct canvas *canvas, bool start, double x, double y);
/* A marker of this series around a point: circle, square, triangle, diamond, plus, star. */
void canvas_path_marker(struct canvas *canvas, size_t series, double x, double y, double size);
void canvas_path_close(struct canvas *canvas);

/* A number with one decimal at most, as coordinates are written. */
void canvas_number(struct text *text, double value);

/* Points that fall on the same place are drawn once. many: places are coarser, so that a run of any
 * length stays small. */
struct canvas_points;
struct canvas_points *canvas_points_new(double width, double height, bool many);
/* False: something was drawn there already. */
bool canvas_points_take(struct canvas_points *points, double x, double y);
void canvas_points_free(struct canvas_points *points);

/* ---- assets ---- */
extern const char asset_palette_light_css[]; /* custom properties, without a selector */
extern const char asset_palette_dark_css[];
extern const char asset_figure_css[]; /* what is inside an SVG */
extern const char asset_page_css[];
extern const char asset_patterns_svg[]; /* <defs> that figures refer to */
extern const char asset_script_js[];    /* reads the data, draws tables and tips */

/* ---- axes ---- */
struct figure_axis {
	bool log;
	double low, high; /* values */
	double from, to;  /* places */
	const char *title;
	bool powers_of_two; /* ticks of a logarithmic axis */
};

/* A range with a margin around low..high, which may be any numbers: beyond 1e30, and on a
 * logarithmic axis below 1e-30, all are taken for those. */
struct figure_axis figure_axis_new(
	bool log, double low, double high, double from, double to, const char *title);
double figure_axis_at(const struct figure_axis *axis, double value);
/* Lines across the plot, ticks, labels, title. */
void figure_axis_bottom(
	struct canvas *canvas, const struct figure_axis *axis, double top, double bottom);
void figure_axis_left(
	struct canvas *canvas, const struct figure_axis *axis, double left, double right);
/* Tells the page's script where candidates lie: data-NAME="column log low high from to". */
void figure_axis_data(struct canvas *canvas, const char *name, const char *column,
	const struct figure_axis *axis);
/* Distance between ticks: 1, 2 or 5 times a power of ten, so that at most about `most` fit. */
double figure_axis_step(double low, double high, double most);

#endif
