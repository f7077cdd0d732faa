/* SPDX-License-Identifier: MIT
 *
 * Time: a monotonic clock for measuring, the calendar for records.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

enum {
	CLOCK_DATE_SIZE = 24
};

double clock_seconds(void); /* monotonic */
void clock_sleep(double seconds);
void clock_date(char text[CLOCK_DATE_SIZE]); /* now, "2026-01-31T12:00:00Z" */
void clock_format_duration(double seconds, char *text, unsigned size); /* "1m 03s", "850 ms" */

#endif
