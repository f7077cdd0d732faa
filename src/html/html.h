/* SPDX-License-Identifier: MIT
 *
 * The report as one HTML file: inline SVG, a little script, nothing from the network.
 */
#ifndef HTML_HTML_H
#define HTML_HTML_H

#include "figure/figure.h"
#include "report/report.h"

enum {
	/* What the page holds at most: beyond it, entries come without figures and candidates. */
	HTML_BYTES_MAX = 9000000
};

void html_page(const struct report *report, struct text *page);

/* ---- parts of the page ---- */
void html_answer(const struct report *report, struct text *page);
void html_comparison(const struct report *report, struct text *page);
void html_entry(const struct report *report, size_t index, struct text *page);
void html_device(const struct report *report, struct text *page);

/* Winner, speed, why, for one entry. */
void html_winner(const struct report_entry *entry, struct text *page);
/* Tables of one entry: the model's ranks, its quality, selection rules, reasons of failures. */
void html_ranks(const struct report_entry *entry, struct text *page);
void html_rules(const struct report_entry *entry, struct text *page);
void html_reasons(const struct report_entry *entry, struct text *page);
/* All candidates as columns of JSON for the page's script. */
void html_data(const struct report_entry *entry, size_t index, struct text *page);

/* ---- what they share ---- */
/* All parts of a figure; entry NULL for those of the whole report. */
void html_figure(const struct figure *figure, const struct report *report,
	const struct report_entry *entry, struct text *page);
void html_text(struct text *page, const char *string); /* escaped */
/* A cell of a table, escaped. class may be NULL; "n" is a number. */
void html_cell(struct text *page, const char *class, const char *format, ...) PRINTF_LIKE(3, 4);
void html_time_cell(struct text *page, double time_us);
/* "M=16,N=32": lines break behind commas. */
void html_list(struct text *page, const char *list);
/* "BM=128,BN=256" as a row of chips. */
void html_configuration(struct text *page, const char *configuration);
const char *html_device_name(const struct report_entry *entry); /* borrowed; "?" if not known */

#endif
