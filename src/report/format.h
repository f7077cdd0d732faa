/* SPDX-License-Identifier: MIT
 *
 * Numbers as people read them: `format_time(us).text`.
 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include "base/text.h"

struct format_text {
	char text[32];
};

/* Four significant digits without an exponent: "193.7", "0.0123", "12345". */
struct format_text format_number(double value);
/* "193.7 µs", "14.69 ms" */
struct format_text format_time(double time_us);
/* "1.4 KiB", "208 KiB" */
struct format_text format_bytes(double bytes);

/* A string inside an element or an attribute of XML or HTML; what XML 1.0 does not allow becomes a
 * question mark. */
void format_xml(struct text *text, const char *string);

#endif
