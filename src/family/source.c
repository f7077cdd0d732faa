/* SPDX-License-Identifier: MIT
 *
 * Expansion of includes.
 */
#include "family/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

enum {
	SOURCE_DEPTH_MAX = 64,
	SOURCE_BYTES_MAX = 16 << 20
};

struct expansion {
	const char *const *template_folders;
	struct name_set seen; /* files that stand in already */
	struct text output;
	unsigned depth;
	struct error *err;
};

static enum status expand_file(struct expansion *expansion, const char *root, const char *name);

/* folder/include without "." and ".."; NULL if it would leave the folder that all is relative to.
 * The caller frees it. */
static char *name_normalized(const char *folder, const char *include)
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

static bool exists_in(const char *root, const char *name)
{
	CLEANUP(memory_free) char *path = name ? path_join(root, name) : NULL;

	return path && file_exists(path);
}

static char *name_folder(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? string_copy_bytes(name, (size_t)(slash - name)) : string_copy("");
}

static enum status expand_include(struct expansion *expansion, const char *root, const char *name,
	const char *include, size_t line)
{
	CLEANUP(memory_free) char *folder = name_folder(name);
	CLEANUP(memory_free) char *beside = name_normalized(folder, include);
	CLEANUP(memory_free) char *inside = name_normalized("", include);
	CLEANUP(text_release) struct text searched = {0};

	if (exists_in(root, beside))
		return expand_file(expansion, root, beside);
	for (const char *const *tried = expansion->template_folders; *tried; tried++) {
		if (exists_in(*tried, inside))
			return expand_file(expansion, *tried, inside);
		text_appendf(&searched, ", %s", *tried);
	}
	return error_set(expansion->err, STATUS_BAD_INPUT,
		"%s:%zu: expected an include that is there, found \"%s\" (looked beside the "
		"file%s)",
		name, line, include, text_string(&searched));
}

/* ---- where a compiler sees directives ---- */
/* Whatever comments, strings and spliced lines make of it: an include that we do not see would let
 * the compiler read any file, and show it in its log. */
struct scan {
	const char *text;
	size_t at, size;
};

/* The character at `at` once lines are spliced; '\0' at the end. */
static char scan_peek(struct scan *scan)
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

static char scan_next(struct scan *scan)
{
	const char c = scan_peek(scan);

	scan->at += scan->at < scan->size;
	return c;
}

static bool scan_take(struct scan *scan, const char *word)
{
	const size_t before = scan->at;

	for (; *word; word++)
		if (scan_next(scan) != *word) {
			scan->at = before;
			return false;
		}
	return true;
}

static bool scan_more(const struct scan *scan)
{
	return scan->at < scan->size;
}

/* Over blanks and comments within the line. */
static void scan_blanks(struct scan *scan)
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
static void scan_raw_string(struct scan *scan)
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

static void scan_quoted(struct scan *scan, char quote)
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
static void scan_token(struct scan *scan)
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

/* The next line that is a directive: from where it begins to where it is known what it is.
 * *includes: whether it makes the compiler read a file. False: there is none. */
static bool next_directive(struct scan *scan, size_t *hash, bool *includes)
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

/* The file of `#include "file"`, written without frills (caller frees); NULL: it is anything else.
 */
static char *plain_include(const char *line, const char *end)
{
	const char *c = skip_blanks(line, end), *close;

	c = c < end && *c == '#' ? skip_word(skip_blanks(c + 1, end), end, "include") : NULL;
	c = c ? skip_blanks(c, end) : NULL;
	close = c && c < end && *c == '"' ? memchr(c + 1, '"', (size_t)(end - c - 1)) : NULL;
	return close && close > c + 1 && ends(close + 1, end)
		       ? string_copy_bytes(c + 1, (size_t)(close - c - 1))
		       : NULL;
}

static bool is_pragma_once(const char *line, const char *end)
{
	const char *c = skip_blanks(line, end);

	c = c < end && *c == '#' ? skip_word(skip_blanks(c + 1, end), end, "pragma") : NULL;
	c = c ? skip_word(skip_blanks(c, end), end, "once") : NULL;
	return c && skip_blanks(c, end) == end;
}

/* directive: the compiler sees one in this line, which includes something or does not. */
static enum status expand_line(struct expansion *expansion, const char *root, const char *name,
	const char *line, const char *end, size_t number, bool directive, bool includes)
{
	const size_t length = (size_t)(end - line);
	CLEANUP(memory_free)
	char *include = directive && includes ? plain_include(line, end) : NULL;

	if (include) {
		TRY(expand_include(expansion, root, name, include, number));
		text_appendf(&expansion->output, "#line %zu \"%s\"\n", number + 1, name);
		return STATUS_OK;
	}
	if (directive && includes) {
		error_set(expansion->err, STATUS_BAD_INPUT,
			"%s:%zu: expected #include \"file\", found %.*s", name, number,
			(int)(length < 80 ? length : 80), line);
		return error_hint(expansion->err,
			"kernels are header-free: what they share lies in the template folders");
	}
	if (!directive || !is_pragma_once(line, end))
		text_append_bytes(&expansion->output, line, length);
	text_append_char(&expansion->output, '\n');
	return STATUS_OK;
}

/* What a compiler may read in two ways is refused. */
static enum status refuse_doubtful(
	const char *name, const char *line, const char *end, size_t number, struct error *err)
{
	const char *c = end;

	while (c > line && (c[-1] == ' ' || c[-1] == '\t' || c[-1] == '\r'))
		c--;
	if (c > line && c[-1] == '\\' && c < end && !(end - c == 1 && *c == '\r'))
		return error_set(err, STATUS_BAD_INPUT,
			"%s:%zu: expected nothing behind the backslash, found blanks", name,
			number);
	if (memmem(line, (size_t)(end - line),
		    "?"
		    "?=",
		    3) ||
		memmem(line, (size_t)(end - line),
			"?"
			"?/",
			3))
		return error_set(err, STATUS_BAD_INPUT, "%s:%zu: expected no trigraph, found one",
			name, number);
	return STATUS_OK;
}

static enum status expand_text(
	struct expansion *expansion, const char *root, const char *name, const struct text *content)
{
	const char *text = text_string(content), *line = text, *stop = text + content->length;
	struct scan scan = {.text = text, .size = content->length};
	size_t hash = 0;
	bool includes = false, found = next_directive(&scan, &hash, &includes);

	text_appendf(&expansion->output, "#line 1 \"%s\"\n", name);
	for (size_t number = 1; line < stop; number++) {
		const char *end = memchr(line, '\n', (size_t)(stop - line));
		const bool directive = found && text + hash < (end ? end : stop);

		if (!end)
			end = stop;
		TRY(refuse_doubtful(name, line, end, number, expansion->err));
		TRY(expand_line(expansion, root, name, line, end, number, directive, includes));
		if (directive)
			found = next_directive(&scan, &hash, &includes);
		line = end + 1;
	}
	return STATUS_OK;
}

static enum status expand_file(struct expansion *expansion, const char *root, const char *name)
{
	CLEANUP(memory_free) char *path = path_join(root, name);
	CLEANUP(text_release) struct text content = {0};
	const size_t seen = expansion->seen.count;

	name_set_add(&expansion->seen, name, strlen(name));
	if (expansion->seen.count == seen)
		return STATUS_OK;
	if (expansion->depth >= SOURCE_DEPTH_MAX || expansion->output.length > SOURCE_BYTES_MAX)
		return error_set(expansion->err, STATUS_BAD_INPUT,
			"%s: expected at most %d includes inside each other and %d bytes", name,
			SOURCE_DEPTH_MAX, SOURCE_BYTES_MAX);
	TRY(file_read(path, &content, expansion->err));
	expansion->depth++;
	TRY(expand_text(expansion, root, name, &content));
	expansion->depth--;
	return STATUS_OK;
}

enum status source_expand(const char *root, const char *name, const char *const *template_folders,
	char **source, struct error *err)
{
	struct expansion expansion = {.template_folders = template_folders, .err = err};
	const enum status status = expand_file(&expansion, root, name);

	name_set_release(&expansion.seen);
	if (status == STATUS_OK)
		*source = text_detach(&expansion.output);
	text_release(&expansion.output);
	return status;
}

enum status source_json_load(const struct json_at *at, const struct source_place *place,
	const char *const *template_folders, char **name, char **source, struct error *err)
{
	CLEANUP(memory_free) char *root = NULL, *normalized = NULL;
	const char *file;

	TRY(json_get_string(at, &file, err));
	if (place->folder) {
		root = string_copy(place->root);
		normalized = name_normalized(place->folder, file);
	} else {
		CLEANUP(memory_free) char *path = path_join(place->root, file);

		root = path_parent(path);
		normalized = name_normalized("", path_name(path));
	}
	if (!exists_in(root, normalized))
		return json_error(at, err, "a file of %s%s%s", place->root,
			place->folder ? "/" : "", place->folder ? place->folder : "");
	TRY(source_expand(root, normalized, template_folders, source, err));
	*name = normalized;
	normalized = NULL;
	return STATUS_OK;
}
