/* SPDX-License-Identifier: MIT
 *
 * Figures of a report: one file and one line in the table of figure.c each.
 *
 * A figure draws one entry (a problem that was tuned) or the whole report; some come in several
 * parts (one heat map per family). Each part says in its caption what it shows.
 */
#ifndef FIGURE_FIGURE_H
#define FIGURE_FIGURE_H

#include "figure/canvas.h"
#include "report/report_candidate.h"

struct figure_part {
	const struct report *report;
	const struct report_entry *entry; /* NULL for figures of the whole report */
	size_t part;                      /* from 0 */
	struct canvas canvas;
	struct text title, caption; /* plain text; drawn beside or above it */
};

struct figure {
	const char *name; /* "heatmap": file names, anchors */
	bool of_report;   /* one for the whole report, not one per entry */
	/* Draws a part; false: there is none such (part counts up from 0 until then). */
	bool (*draw)(struct figure_part *part);
};

extern const struct figure *const figures[]; /* NULL-terminated, in order of the page */
extern const struct figure figure_comparison, figure_waves; /* those of the report */

/* Draws one part as an <svg> element into text, or as a file of its own. False: no such part.
 * title and caption are appended as plain text; *width: natural width in CSS pixels. */
bool figure_render(const struct figure *figure, const struct report *report,
	const struct report_entry *entry, size_t part, bool standalone, struct text *svg,
	struct text *title, struct text *caption, double *width);

/* ---- what figures share ---- */
enum {
	FIGURE_WIDTH = 480,
	FIGURE_HEIGHT = 320,
	/* the area of a plot in it */
	FIGURE_LEFT = 62,
	FIGURE_RIGHT = 466,
	FIGURE_TOP = 34,
	FIGURE_BOTTOM = 276,
	FIGURE_SERIES = 6 /* distinct colours and markers */
};

/* Legend of families and axes of a plot of candidates; columns: of the page's data. */
void figure_plot(struct figure_part *part, const struct figure_axis *x, const char *x_column,
	const struct figure_axis *y, const char *y_column);
/* A marker with its label; returns where the next one goes. */
double figure_legend_item(struct canvas *canvas, const char *class, size_t series, double x,
	double y, const char *label);
/* Ring and star around the winner. */
void figure_winner(struct canvas *canvas, double x, double y);

/* Candidates as markers, by family; x and y give values or NAN. Points that coincide are drawn
 * once. */
typedef double figure_value(const struct report_entry *entry, size_t candidate);
/* Widens low..high by the values of all candidates for which all values are known and positive;
 * returns how many. Begin with INFINITY, 0. */
size_t figure_range(const struct report_entry *entry, figure_value *value, figure_value *needed,
	double *low, double *high);
void figure_scatter(struct figure_part *part, const struct figure_axis *x,
	const struct figure_axis *y, figure_value *x_of, figure_value *y_of, const char *class);

/* Candidate values that several figures use. */
double figure_time_us(const struct report_entry *entry, size_t candidate);
double figure_predicted_us(const struct report_entry *entry, size_t candidate);

#endif
