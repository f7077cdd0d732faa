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
	if (seconds < 1)
		snprintf(text, size, "%.0f ms", seconds * 1e3);
	else if (seconds < 60)
		snprintf(text, size, "%.1f s", seconds);
	else if (seconds < 3600)
		snprintf(text, size, "%dm %02ds", (int)seconds / 60, (int)seconds % 60);
	else
		snprintf(text, size, "%dh %02dm", (int)(seconds / 3600),
			(int)fmod(seconds, 3600) / 60);
}
