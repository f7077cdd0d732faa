/* SPDX-License-Identifier: MIT
 *
 * Expansion of includes.
 */
#include "family/source.h"

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
	bool inside = *include != '/';

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

/* What a line is to the expansion. */
enum line_kind {
	LINE_TEXT,
	LINE_PRAGMA_ONCE,
	LINE_INCLUDE,     /* of "x" */
	LINE_BAD_INCLUDE, /* of anything else */
};

/* Goes on after the comments of a line; *in_comment: whether a block comment is open. */
static void follow_comments(const char *line, size_t length, bool *in_comment)
{
	char quote = '\0';

	for (size_t i = 0; i < length; i++) {
		char c = line[i], next = i + 1 < length ? line[i + 1] : '\0';

		if (*in_comment) {
			if (c == '*' && next == '/') {
				*in_comment = false;
				i++;
			}
		} else if (quote) {
			if (c == '\\')
				i++;
			else if (c == quote)
				quote = '\0';
		} else if (c == '/' && next == '/') {
			return;
		} else if (c == '/' && next == '*') {
			*in_comment = true;
			i++;
		} else if (c == '"') {
			quote = c;
		}
	}
}

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

/* *include: the text between the quotes (caller frees). */
static enum line_kind classify(const char *line, const char *end, char **include)
{
	const char *c = skip_blanks(line, end), *close;

	if (c == end || *c++ != '#')
		return LINE_TEXT;
	line = skip_blanks(c, end);
	c = skip_word(line, end, "pragma");
	if (c && (c = skip_word(skip_blanks(c, end), end, "once")) && skip_blanks(c, end) == end)
		return LINE_PRAGMA_ONCE;
	c = skip_word(line, end, "include");
	if (!c)
		return LINE_TEXT;
	c = skip_blanks(c, end);
	close = c < end && *c == '"' ? memchr(c + 1, '"', (size_t)(end - c - 1)) : NULL;
	if (!close || close == c + 1)
		return LINE_BAD_INCLUDE;
	*include = string_copy_bytes(c + 1, (size_t)(close - c - 1));
	return LINE_INCLUDE;
}

static enum status expand_line(struct expansion *expansion, const char *root, const char *name,
	const char *line, const char *end, size_t number, bool *in_comment)
{
	size_t length = (size_t)(end - line);
	CLEANUP(memory_free) char *include = NULL;
	enum line_kind kind = *in_comment ? LINE_TEXT : classify(line, end, &include);

	switch (kind) {
	case LINE_INCLUDE:
		TRY(expand_include(expansion, root, name, include, number));
		text_appendf(&expansion->output, "#line %zu \"%s\"\n", number + 1, name);
		return STATUS_OK;
	case LINE_BAD_INCLUDE:
		error_set(expansion->err, STATUS_BAD_INPUT,
			"%s:%zu: expected #include \"file\", found %.*s", name, number,
			(int)(length < 80 ? length : 80), line);
		error_hint(expansion->err,
			"kernels are header-free: what they share lies in the template folders");
		return STATUS_BAD_INPUT;
	case LINE_PRAGMA_ONCE:
		text_append_char(&expansion->output, '\n');
		return STATUS_OK;
	case LINE_TEXT:
		break;
	}
	follow_comments(line, length, in_comment);
	text_append_bytes(&expansion->output, line, length);
	text_append_char(&expansion->output, '\n');
	return STATUS_OK;
}

static enum status expand_text(
	struct expansion *expansion, const char *root, const char *name, const struct text *content)
{
	const char *line = text_string(content), *stop = line + content->length;
	bool in_comment = false;
	size_t number = 1;

	text_appendf(&expansion->output, "#line 1 \"%s\"\n", name);
	for (; line < stop; number++) {
		const char *end = memchr(line, '\n', (size_t)(stop - line));

		if (!end)
			end = stop;
		TRY(expand_line(expansion, root, name, line, end, number, &in_comment));
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

enum status source_json_load(const struct json_at *at, const char *folder,
	const char *const *template_folders, char **name, char **source, struct error *err)
{
	CLEANUP(memory_free) char *root = path_parent(folder), *normalized = NULL;
	const char *file;

	TRY(json_get_string(at, &file, err));
	normalized = name_normalized(path_name(folder), file);
	if (!exists_in(root, normalized))
		return json_error(at, err, "a file of %s", folder);
	TRY(source_expand(root, normalized, template_folders, source, err));
	*name = normalized;
	normalized = NULL;
	return STATUS_OK;
}
