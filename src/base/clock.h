/* SPDX-License-Identifier: MIT
 *
 * A monotonic clock for measurements, and dates for records.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

enum {
	CLOCK_DATE_SIZE = 24
};

double clock_seconds(void); /* only differences have a meaning */
void clock_sleep(double seconds);
/* Writes the UTC time, e.g. "2026-01-31T12:00:00Z". */
void clock_date(char text[CLOCK_DATE_SIZE]);
/* Writes e.g. "1m 03s" or "850 ms". */
void clock_format_duration(double seconds, char *text, unsigned size);

#endif
