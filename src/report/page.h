/* SPDX-License-Identifier: MIT
 *
 * The HTML page: one file with the tuned files and journals, as gzip in base64, the scripts of
 * src/report/page/, which draw them, and a table of the winners. It makes no network requests.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "report/report.h"

/* config_folders have the device sheets. Fails if a file can no longer be read. */
enum status page_write(const struct report *report, const char *const *config_folders,
	struct text *page, struct error *err);

/* Files of src/report/page/, and the digests ("sha256-...") of the embedded script and style. */
extern const char page_template_html[], page_style_css[], page_script_js[];
extern const char page_style_digest[], page_script_digest[];

#endif
