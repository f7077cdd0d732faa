/* SPDX-License-Identifier: MIT
 *
 * Scales, ticks and axes of figures and charts.
 */
#ifndef FIGURE_FIGURE_AXIS_H
#define FIGURE_FIGURE_AXIS_H

#include "figure/canvas.h"

struct figure_axis {
	bool log;
	double low, high; /* values */
	double from, to;  /* places */
	const char *title;
	bool powers_of_two; /* ticks of a logarithmic axis */
};

/* A range with a margin around low..high; logarithmic ones need low > 0. */
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
