/* SPDX-License-Identifier: MIT */
#include "source/directive.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

char *include_normalized(const char *folder, const char *include)
{
	CLEANUP(memory_free) char *joined = path_join(folder, include);
	struct text name = {0};
	char *part, *rest;
	/* it stands in directives */
	bool inside = *include != '/' && !strpbrk(include, "\"\\\n\r");

	for (rest = joined; inside && (part = strsep(&rest, "/")) != NULL;) {
		if (!*part || strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") != 0) {
			text_appendf(&name, "%s%s", name.length ? "/" : "", part);
			continue;
		}
		inside = name.length > 0;
		while (name.length > 0 && name.data[name.length - 1] != '/')
			name.data[--name.length] = '\0';
		if (name.length > 0)
			name.data[--name.length] = '\0';
	}
	if (inside && name.length > 0)
		return text_detach(&name);
	text_release(&name);
	return NULL;
}

/* ---- where a compiler sees directives ---- */
/* The character at `at` once lines are spliced; '\0' at the end. */
static char scan_peek(struct directive_scan *scan)
{
	while (scan->at + 1 < scan->size && scan->text[scan->at] == '\\') {
		size_t next = scan->at + 1;

		next += next + 1 < scan->size && scan->text[next] == '\r';
		if (scan->text[next] != '\n')
			break;
		scan->at = next + 1;
	}
	return scan->at < scan->size ? scan->text[scan->at] : '\0';
}

static char scan_next(struct directive_scan *scan)
{
	const char c = scan_peek(scan);

	scan->at += scan->at < scan->size;
	return c;
}

static bool scan_take(struct directive_scan *scan, const char *word)
{
	const size_t before = scan->at;

	for (; *word; word++)
		if (scan_next(scan) != *word) {
			scan->at = before;
			return false;
		}
	return true;
}

static bool scan_more(const struct directive_scan *scan)
{
	return scan->at < scan->size;
}

/* Over blanks and comments within the line. */
static void scan_blanks(struct directive_scan *scan)
{
	for (;;) {
		const char c = scan_peek(scan);

		if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f')
			scan_next(scan);
		else if (scan_take(scan, "//"))
			while (scan_more(scan) && scan_peek(scan) != '\n')
				scan_next(scan);
		else if (scan_take(scan, "/*"))
			while (scan_more(scan) && !scan_take(scan, "*/"))
				scan_next(scan);
		else
			return;
	}
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Over `delimiter( ... )delimiter"`, in which nothing is spliced. */
static void scan_raw_string(struct directive_scan *scan)
{
	const char *start = scan->text + scan->at,
		   *open = memchr(start, '(', scan->size - scan->at);
	CLEANUP(memory_free)
	char *close = open ? string_format(")%.*s\"", (int)(open - start), start) : NULL;
	const char *end =
		open ? memmem(open, scan->size - (size_t)(open - scan->text), close, strlen(close))
		     : NULL;

	scan->at = end ? (size_t)(end - scan->text) + strlen(close) : scan->size;
}

static void scan_quoted(struct directive_scan *scan, char quote)
{
	for (char c; scan_more(scan) && (c = scan_peek(scan)) != '\n';) {
		scan_next(scan);
		if (c == quote)
			return;
		if (c == '\\')
			scan_next(scan);
	}
}

/* A word or number, a string behind it where it is a raw one, or a single character. */
static void scan_token(struct directive_scan *scan)
{
	char word[4] = "", c = scan_next(scan);
	size_t length = 0;

	if (c == '"' || c == '\'') {
		scan_quoted(scan, c);
		return;
	}
	if (!is_word(c))
		return;
	for (const bool number = isdigit((unsigned char)c); is_word(c);) {
		if (length < sizeof(word) - 1)
			word[length] = c;
		length++;
		c = scan_peek(scan);
		if (is_word(c) || (number && c == '\''))
			scan_next(scan);
		if (number && c == '\'') /* between digits */
			c = '_';
	}
	if (c == '"' && length < sizeof(word) && word[length - 1] == 'R' &&
		(length == 1 || strchr("uUL8", word[length - 2]))) {
		scan_next(scan);
		scan_raw_string(scan);
	}
}

bool directive_next(struct directive_scan *scan, size_t *hash, bool *includes)
{
	bool line_begins = scan->at == 0 || scan->text[scan->at - 1] == '\n';

	while (scan_more(scan)) {
		scan_blanks(scan);
		if (scan_peek(scan) == '\n') {
			scan_next(scan);
			line_begins = true;
			continue;
		}
		*hash = scan->at;
		if (line_begins && (scan_take(scan, "#") || scan_take(scan, "%:"))) {
			scan_blanks(scan);
			*includes = scan_take(scan, "include") || scan_take(scan, "import") ||
				    scan_take(scan, "embed");
			return true;
		}
		line_begins = false;
		scan_token(scan);
	}
	return false;
}

/* ---- lines ---- */
static const char *skip_blanks(const char *c, const char *end)
{
	while (c < end && (*c == ' ' || *c == '\t' || *c == '\r'))
		c++;
	return c;
}

static const char *skip_word(const char *c, const char *end, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(end - c) >= length && strncmp(c, word, length) == 0 ? c + length : NULL;
}

/* Whether nothing but a comment, which ends here, comes before the end of the line. */
static bool ends(const char *c, const char *end)
{
	c = skip_blanks(c, end);
	return c == end || (end[-1] != '\\' && skip_word(c, end, "//")) ||
	       (skip_word(c, end, "/*") && end - c >= 4 &&
		       memmem(c + 2, (size_t)(end - c) - 2, "*/", 2) == end - 2);
}

char *directive_include(const char *line, const char *end, bool *is_system)
{
	const char *c = skip_blanks(line, end), *close;

	c = c < end && *c == '#' ? skip_word(skip_blanks(c + 1, end), end, "include") : NULL;
	c = c ? skip_blanks(c, end) : end;
	if (c == end || (*c != '"' && *c != '<'))
		return NULL;
	*is_system = *c == '<';
	close = memchr(c + 1, *is_system ? '>' : '"', (size_t)(end - c - 1));
	return close && close > c + 1 && ends(close + 1, end)
		       ? string_copy_bytes(c + 1, (size_t)(close - c - 1))
		       : NULL;
}

bool directive_is_pragma_once(const char *line, const char *end)
{
	const char *c = skip_blanks(line, end);

	c = c < end && *c == '#' ? skip_word(skip_blanks(c + 1, end), end, "pragma") : NULL;
	c = c ? skip_word(skip_blanks(c, end), end, "once") : NULL;
	return c && skip_blanks(c, end) == end;
}
