/* SPDX-License-Identifier: MIT */
#include "report/format.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

struct format_text format_number(double value)
{
	struct format_text text;
	double size = fabs(value);
	int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;

	if (!isfinite(value)) {
		string_put(text.text, sizeof(text.text), isnan(value) ? "?" : "never");
		return text;
	}
	if (size > 0 && size < 1)
		decimals = (int)fmin(3 - ceil(log10(size)), 9);
	if (value == rint(value))
		decimals = 0;
	snprintf(text.text, sizeof(text.text), "%.*f", decimals, value);
	return text;
}

struct format_text format_time(double time_us)
{
	static const struct {
		double from_us, unit_us;
		const char *name;
	} units[] = {{1e7, 1e6, "s"}, {1e4, 1e3, "ms"}, {0, 1, "µs"}};
	struct format_text text;
	size_t unit = 0;

	if (!isfinite(time_us))
		return format_number(time_us);
	while (unit + 1 < ARRAY_COUNT(units) && time_us < units[unit].from_us)
		unit++;
	snprintf(text.text, sizeof(text.text), "%.24s %s",
		format_number(time_us / units[unit].unit_us).text, units[unit].name);
	return text;
}

struct format_text format_bytes(double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	struct format_text text;
	size_t unit = 0;

	while (bytes >= 1024 && unit + 1 < ARRAY_COUNT(units)) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text.text, sizeof(text.text), bytes < 10 && unit ? "%.1f %s" : "%.0f %s", bytes,
		units[unit]);
	return text;
}

void format_xml(struct text *text, const char *string)
{
	for (; *string; string++) {
		const unsigned char c = (unsigned char)*string;

		if (c == '<')
			text_append(text, "&lt;");
		else if (c == '>')
			text_append(text, "&gt;");
		else if (c == '&')
			text_append(text, "&amp;");
		else if (c == '"')
			text_append(text, "&quot;");
		else if (c == '\n')
			text_append(text, "&#10;");
		else
			text_append_char(text, c < 0x20 && c != '\t' ? '?' : (char)c);
	}
}
