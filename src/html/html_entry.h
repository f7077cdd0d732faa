/* SPDX-License-Identifier: MIT
 *
 * One problem on the page: its winner and why, its figures, its tables.
 */
#ifndef HTML_HTML_ENTRY_H
#define HTML_HTML_ENTRY_H

#include "report/report.h"

enum {
	/* What the page holds at most: beyond it, entries come without figures and candidates. */
	HTML_BYTES_MAX = 9000000
};

void html_entry(const struct report *report, size_t index, struct text *page);
/* Winner, speed, why. */
void html_winner(const struct report_entry *entry, struct text *page);

#endif
