/* SPDX-License-Identifier: MIT
 *
 * The report as one HTML file: inline SVG, a little script, nothing from the network.
 */
#ifndef HTML_HTML_PAGE_H
#define HTML_HTML_PAGE_H

#include "report/report.h"

void html_page(const struct report *report, struct text *page);

#endif
