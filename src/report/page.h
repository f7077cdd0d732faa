/* SPDX-License-Identifier: MIT
 *
 * The HTML page: one file with the tuned files and journals themselves, each as gzip in base64,
 * the files of src/report/page/, which unpack and draw them in the browser, and a table of the
 * winners for viewers without scripts. Nothing comes from the network, and the page forbids itself
 * to ask (Content-Security-Policy).
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "report/report.h"

/* config_folders: where device sheets are, for the card's limits. Errors: a file that cannot be
 * read any more. */
enum status page_write(const struct report *report, const char *const *config_folders,
	struct text *page, struct error *err);

/* Files of src/report/page/, and "sha256-..." of the script and the style as they stand here. */
extern const char page_template_html[], page_style_css[], page_script_js[];
extern const char page_style_digest[], page_script_digest[];

#endif
