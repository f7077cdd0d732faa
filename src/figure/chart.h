/* SPDX-License-Identifier: MIT
 *
 * A line chart of a few series over one axis, with marked places: as SVG, and in a terminal.
 */
#ifndef FIGURE_CHART_H
#define FIGURE_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum chart_style {
	CHART_LINE,   /* solid, with a dot at each point */
	CHART_DASHED, /* no dots */
	CHART_THIN,   /* small dots; drawn across gaps */
};

struct chart_series {
	const char *name;
	const double *y; /* one per x; NAN: a gap */
	enum chart_style style;
};

/* A vertical line, where something changes. */
struct chart_mark {
	double x, number; /* that stands above it */
};

struct chart {
	const char *title, *subtitle;
	const char *x_label, *y_label;
	const double *x; /* rising */
	size_t count;
	const struct chart_series *series; /* the first is drawn on top */
	size_t series_count;
	const struct chart_mark *marks;
	size_t mark_count;
	const char *mark_label; /* what marks mean */
};

/* A whole SVG file: no script, no font, no reference to anything outside. */
void chart_svg(const struct chart *chart, struct text *svg);
/* columns x rows characters for the area, ASCII only, with axes and a legend. */
void chart_plot(const struct chart *chart, size_t columns, size_t rows, struct text *text);

/* The range of all y; false if there is none. It begins at 0 unless all lies in its upper half. */
bool chart_range(const struct chart *chart, double *low, double *high);

#endif
