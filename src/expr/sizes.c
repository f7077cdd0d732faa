/* SPDX-License-Identifier: MIT */
#include "expr/sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

static const char prefix[] = "sizes:";

bool sizes_are(const char *string)
{
	const size_t start = sizeof(prefix) - 1;

	return string_starts_with(string, prefix) && string[start] &&
	       !string[start + strspn(string + start, "0123456789 /")];
}

void sizes_format(const char *string, struct text *text)
{
	text_appendf(text, "sizes_%016" PRIx64, hash_bytes(string, strlen(string), 0));
}

/* ---- from a file ---- */
static bool is_between(char c)
{
	return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

/* Appends the sizes of a line, none of an empty one. */
static bool append_draw(const char *line, struct text *string)
{
	bool first = true;

	for (;;) {
		size_t digits;

		while (is_between(*line))
			line++;
		if (!*line || *line == '#')
			return true;
		digits = strspn(line, "0123456789");
		if (!digits || (line[digits] && line[digits] != '#' && !is_between(line[digits])))
			return false;
		/* 007 is 7: one text for the same sizes */
		while (digits > 1 && *line == '0') {
			line++;
			digits--;
		}
		text_append(string, !first ? " " : string->length > sizeof(prefix) - 1 ? "/" : "");
		text_append_bytes(string, line, digits);
		first = false;
		line += digits;
	}
}

enum status sizes_read(const char *path, struct text *string, struct error *err)
{
	CLEANUP(text_release) struct text content = {0};
	char *rest, *line;

	TRY(file_read(path, &content, err));
	if (content.length != strlen(text_string(&content)))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected lines of sizes, found a zero byte", path);
	text_append(string, prefix);
	rest = content.data;
	for (int number = 1; (line = strsep(&rest, "\n")) != NULL; number++)
		if (!append_draw(line, string))
			return error_set(err, STATUS_BAD_INPUT,
				"%s:%d: expected whole numbers with blanks or commas between them, "
				"found \"%s\"",
				path, number, line);
	if (strcmp(text_string(string), prefix) == 0)
		return error_set(
			err, STATUS_BAD_INPUT, "%s: expected a line of sizes, found none", path);
	return STATUS_OK;
}

/* ---- draws ---- */
static enum status check_draw(
	const char **at, size_t draw, int64_t count, int64_t sum, int64_t most, struct error *err)
{
	int64_t found = 0, all = 0;

	for (;;) {
		char *end;
		int64_t size;

		errno = 0;
		size = **at >= '0' && **at <= '9' ? strtoll(*at, &end, 10) : -1;
		if (size < 0 || size > most || errno)
			return error_set(err, STATUS_BAD_INPUT,
				"draw %zu: expected sizes of at most %" PRId64 ", found \"%.*s\"",
				draw, most, (int)strcspn(*at, " /"), *at);
		found++;
		all += size;
		*at = end;
		if (*end != ' ' || found == count)
			break;
		++*at;
	}
	if (found == count && all == sum && (!**at || **at == '/'))
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT,
		"draw %zu: expected %" PRId64 " sizes with the sum %" PRId64 ", found %s%" PRId64
		" with the sum %" PRId64,
		draw, count, sum, **at && **at != '/' ? "more than " : "", found, all);
}

enum status sizes_check(
	const char *string, int64_t count, int64_t sum, int64_t most, struct error *err)
{
	const char *at = string + sizeof(prefix) - 1;

	for (size_t draw = 1;; draw++) {
		TRY(check_draw(&at, draw, count, sum, most, err));
		if (!*at++)
			return STATUS_OK;
		if (draw == SIZES_DRAWS_MAX)
			return error_set(err, STATUS_BAD_INPUT,
				"expected at most %d draws, found more", SIZES_DRAWS_MAX);
	}
}

size_t sizes_draw_count(const char *string)
{
	size_t count = 1;

	while ((string = strchr(string, '/')) != NULL) {
		string++;
		count++;
	}
	return count;
}

void sizes_draw(const char *string, size_t draw, bool begins, struct text *elements)
{
	const char *at = string + sizeof(prefix) - 1;
	int32_t sum = 0;

	while (draw-- > 0)
		at = strchr(at, '/') + 1;
	if (begins)
		text_append_bytes(elements, &sum, sizeof(sum));
	for (;;) {
		char *end;
		const int32_t size = (int32_t)strtol(at, &end, 10);

		sum += size;
		text_append_bytes(elements, begins ? &sum : &size, sizeof(size));
		if (*end != ' ')
			return;
		at = end + 1;
	}
}
