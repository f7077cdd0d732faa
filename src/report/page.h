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

/* config_folders are searched for device sheets, which give the GPU's limits. Fails if a file
 * can no longer be read. */
enum status page_write(const struct report *report, const char *const *config_folders,
	struct text *page, struct error *err);

/* Files of src/report/page/, and the digests ("sha256-...") of the embedded script and style. */
extern const char page_template_html[], page_style_css[], page_script_js[];
extern const char page_style_digest[], page_script_digest[];

#endif
