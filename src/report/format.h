/* SPDX-License-Identifier: MIT
 *
 * Numbers as people read them.
 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include "base/text.h"

/* Four significant digits without an exponent: "193.7", "0.0123", "12345". */
void format_number(struct text *text, double value);
/* "193.7 µs", "14.69 ms" */
void format_time(struct text *text, double time_us);
/* "1.4 KiB", "208 KiB" */
void format_bytes(struct text *text, double bytes);

#endif
