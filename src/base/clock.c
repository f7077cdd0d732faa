/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

double clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void clock_sleep(double seconds)
{
	struct timespec left;

	if (seconds <= 0)
		return;
	left.tv_sec = (time_t)seconds;
	left.tv_nsec = (long)((seconds - floor(seconds)) * 1e9);
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

void clock_date(char text[CLOCK_DATE_SIZE])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(text, CLOCK_DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void clock_format_duration(double seconds, char *text, unsigned size)
{
	const long whole = lround(seconds);

	/* the rounded number selects the unit, so "60.0 s" never appears */
	if (round(seconds * 1e3) < 1000)
		snprintf(text, size, "%.0f ms", seconds * 1e3);
	else if (round(seconds * 10) < 600)
		snprintf(text, size, "%.1f s", seconds);
	else if (whole < 3600)
		snprintf(text, size, "%ldm %02lds", whole / 60, whole % 60);
	else
		snprintf(text, size, "%ldh %02ldm", whole / 3600, whole % 3600 / 60);
}
