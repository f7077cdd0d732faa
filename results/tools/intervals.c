/* SPDX-License-Identifier: MIT
 *
 * Reads lines of numbers and prints the interval of each series (statistics_interval(), 95%):
 * value, low, high.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		double *values = NULL, value;
		size_t count = 0, capacity = 0;
		char *at = line, *end;
		struct interval interval;

		while (value = strtod(at, &end), end > at) {
			ARRAY_GROW(values, count, capacity);
			values[count++] = value;
			at = end;
		}
		if (!count)
			return EXIT_FAILURE;
		interval = statistics_interval(values, count, CONFIDENCE_95);
		printf("%.9g %.9g %.9g\n", interval.value, interval.low, interval.high);
		free(values);
	}
	free(line);
	return EXIT_SUCCESS;
}
