/* SPDX-License-Identifier: MIT */
#include "base/format_text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	static const char *const entities[128] = {['<'] = "&lt;",
		['>'] = "&gt;",
		['&'] = "&amp;",
		['"'] = "&quot;",
		['\n'] = "&#10;"};
	size_t length;

	for (size_t left = strlen(string); left; string += length, left -= length) {
		const unsigned char c = (unsigned char)*string;

		length = utf8_length(string, left);
		if (!length || (c < 0x20 && c != '\t' && c != '\n') ||
			(length == 3 && memcmp(string, "\xef\xbf", 2) == 0 &&
				(unsigned char)string[2] >= 0xbe)) {
			text_append_char(text, '?');
			length = length ? length : 1;
		} else if (length == 1 && entities[c]) {
			text_append(text, entities[c]);
		} else {
			text_append_bytes(text, string, length);
		}
	}
}

void format_shown(struct text *text, const char *string)
{
	text_append_shown(text, string, "");
}

void format_markdown(struct text *text, const char *string)
{
	static const char *const replaced[128] = {['<'] = "&lt;",
		['&'] = "&amp;",
		['@'] = "&#64;", /* GitHub would notify this user */
		['`'] = "'",
		['\\'] = "\\\\",
		['|'] = "\\|",
		['*'] = "\\*",
		['['] = "\\[",
		[']'] = "\\]",
		['~'] = "\\~"};
	CLEANUP(text_release) struct text shown = {0};

	text_append_shown(&shown, string, "");
	for (const char *at = text_string(&shown); *at; at++) {
		const unsigned char c = (unsigned char)*at;

		if (c < 128 && replaced[c])
			text_append(text, replaced[c]);
		else
			text_append_char(text, *at);
	}
}

/* A printf conversion with numbers instead of stars: "%-8.3f". */
struct conversion {
	char spec[48];
	size_t length;
	size_t size;
};

static struct conversion parse_conversion(const char *from, va_list *args)
{
	struct conversion found = {.spec = "%", .length = 1};
	const char *at = from;

	do {
		at++;
		if (!*at || !strchr("-+ #0123456789.*hlzjtdiouxXcfegs%", *at) ||
			found.length + 16 > sizeof(found.spec))
			BUG("a conversion of format_put() is unknown: %s", from);
		found.length +=
			(size_t)(*at == '*' ? sprintf(found.spec + found.length, "%d",
						      va_arg(*args, int))
					    : sprintf(found.spec + found.length, "%c", *at));
	} while (!strchr("diouxXcfegs%", *at));
	found.size = (size_t)(at + 1 - from);
	return found;
}

static void put_one(struct text *text, const char *spec, ...)
{
	va_list args;

	va_start(args, spec);
	text_append_args(text, spec, args);
	va_end(args);
}

/* Precision applies before escaping, width after it. */
static void put_string(
	struct text *text, format_escape *escape, struct conversion *conversion, const char *string)
{
	char *precision = strchr(conversion->spec, '.');
	CLEANUP(memory_free) char *part = NULL;
	CLEANUP(text_release) struct text escaped = {0};

	string = string ? string : "(null)";
	part = string_copy_bytes(
		string, strnlen(string, precision ? strtoul(precision + 1, NULL, 10) : INT_MAX));
	if (precision)
		string_put(precision, sizeof("s"), "s");
	escape(&escaped, part);
	put_one(text, conversion->spec, text_string(&escaped));
}

void format_put_args(struct text *text, format_escape *escape, const char *format, va_list given)
{
	va_list args;

	va_copy(args, given);
	for (const char *at = format; *at;) {
		const size_t length = strcspn(at, "%");
		struct conversion one;
		char kind;

		text_append_bytes(text, at, length);
		at += length;
		if (!*at)
			break;
		one = parse_conversion(at, &args);
		kind = one.spec[one.length - 1];
		at += one.size;
		if (kind == 's')
			put_string(text, escape, &one, va_arg(args, const char *));
		else if (kind == '%')
			text_append_char(text, '%');
		else if (strchr("feg", kind))
			put_one(text, one.spec, va_arg(args, double));
		else if (strpbrk(one.spec, "lzjt"))
			put_one(text, one.spec, va_arg(args, size_t));
		else
			put_one(text, one.spec, va_arg(args, int));
	}
	va_end(args);
}

void format_put(struct text *text, format_escape *escape, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	format_put_args(text, escape, format, args);
	va_end(args);
}

/* ---- lists ---- */
bool pair_next(const char **list, struct pair *pair)
{
	const char *at = *list;

	if (!*at)
		return false;
	pair->name = at;
	pair->name_length = (int)strcspn(at, "=,");
	at += pair->name_length;
	at += *at == '=';
	pair->value = at;
	pair->value_length = (int)strcspn(at, ",");
	at += pair->value_length;
	*list = at + (*at == ',');
	return true;
}

bool pair_find(const char *list, const char *name, struct pair *pair)
{
	while (pair_next(&list, pair))
		if ((int)strlen(name) == pair->name_length && string_starts_with(pair->name, name))
			return true;
	return false;
}

/* ---- forms ---- */
static const struct text_part *part_at(const char *at, const struct text_part *parts)
{
	for (; parts->name; parts++) {
		const size_t length = strlen(parts->name);

		if (strncmp(at + 1, parts->name, length) == 0 && at[1 + length] == '@')
			return parts;
	}
	return NULL;
}

void text_fill(const char *form, const struct text_part *parts, struct text *text)
{
	while (*form) {
		const struct text_part *part = *form == '@' ? part_at(form, parts) : NULL;

		if (part)
			text_append(text, part->value);
		else
			text_append_char(text, *form);
		form += part ? strlen(part->name) + 2 : 1;
	}
}
