/* SPDX-License-Identifier: MIT */
#include "report/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void format_number(struct text *text, double value)
{
	double size = fabs(value);
	int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;

	if (!isfinite(value)) {
		text_append(text, isnan(value) ? "?" : "never");
		return;
	}
	if (size > 0 && size < 1)
		decimals = 3 - (int)ceil(log10(size)) < 9 ? 3 - (int)ceil(log10(size)) : 9;
	if (value == rint(value))
		decimals = 0;
	text_appendf(text, "%.*f", decimals, value);
}

void format_time(struct text *text, double time_us)
{
	static const struct {
		double from_us, unit_us;
		const char *name;
	} units[] = {{1e7, 1e6, "s"}, {1e4, 1e3, "ms"}, {0, 1, "µs"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!isfinite(time_us) || time_us >= units[i].from_us) {
			format_number(
				text, isfinite(time_us) ? time_us / units[i].unit_us : time_us);
			if (isfinite(time_us))
				text_appendf(text, " %s", units[i].name);
			return;
		}
}

void format_bytes(struct text *text, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	while (bytes >= 1024 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	text_appendf(text, bytes < 10 && unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}
