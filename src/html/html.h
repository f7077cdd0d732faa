/* SPDX-License-Identifier: MIT
 *
 * The report as one HTML file (inline SVG, a little script, nothing from the network), and what all
 * its parts are made of: escaped text, tables, figures.
 */
#ifndef HTML_HTML_H
#define HTML_HTML_H

#include "figure/figure.h"
#include "report/report.h"

/* format_put() into the page: what %s brings is escaped, the format is HTML. */
void html_put(struct text *page, const char *format, ...) PRINTF_LIKE(2, 3);

/* heads: "Time|Family", apart by bars. class: of the table, "sortable" sorts by a click. */
void html_table_open(struct text *page, const char *class, const char *heads);
void html_table_close(struct text *page);
/* attributes: of the tag, or "". */
void html_time_cell(struct text *page, const char *attributes, double time_us);

/* All parts of a figure; entry NULL for those of the whole report. */
void html_figure(const struct figure *figure, const struct report *report,
	const struct report_entry *entry, struct text *page);

void html_page(const struct report *report, struct text *page);

#endif
