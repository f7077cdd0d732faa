/* SPDX-License-Identifier: MIT
 *
 * Expands includes.
 */
#include "source/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "source/scan.h"
#include "source/words.h"

enum {
	SOURCE_DEPTH_MAX = 64,
	SOURCE_BYTES_MAX = 16 << 20
};

struct expansion {
	const char *const *template_folders;
	const char *const *include_paths; /* may be NULL */
	struct name_set seen;             /* files already expanded */
	struct text output;
	unsigned depth;
	struct error *err;
};

static enum status expand_file(struct expansion *expansion, const char *root, const char *name);

char *include_normalized(const char *folder, const char *include)
{
	CLEANUP(memory_free) char *joined = path_join(folder, include);
	struct text name = {0};
	char *part, *rest;
	/* these characters would break the #line directives */
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

/* Returns whether a regular file exists, not a pipe or device. */
static bool exists_in(const char *root, const char *name)
{
	CLEANUP(memory_free) char *path = name ? path_join(root, name) : NULL;
	struct stat info;

	return path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Returns whether the file that a link leads to is in a searched folder. */
static bool is_searched(const struct expansion *expansion, const char *root, const char *name)
{
	CLEANUP(memory_free) char *path = path_join(root, name);
	const char *const *const lists[] = {expansion->include_paths, expansion->template_folders};

	for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
		for (const char *const *folder = lists[i]; folder && *folder; folder++)
			if (file_is_below(path, *folder))
				return true;
	return false;
}

static bool is_inside(const struct expansion *expansion, const char *root, const char *name)
{
	CLEANUP(memory_free) char *path = path_join(root, name);

	return file_is_below(path, root) || is_searched(expansion, root, name);
}

static char *name_folder(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? string_copy_bytes(name, (size_t)(slash - name)) : string_copy("");
}

static enum status expand_found(struct expansion *expansion, const char *root, const char *found,
	const char *name, size_t line)
{
	if (!is_inside(expansion, root, found)) {
		error_set(expansion->err, STATUS_BAD_INPUT,
			"%s:%zu: the include leads out of %s through the link \"%s\"", name, line,
			root, found);
		return error_hint(expansion->err,
			"add the folder of the file to \"include_paths\" in the JSON");
	}
	TRY(expand_file(expansion, root, found));
	text_appendf(&expansion->output, "#line %zu \"%s\"\n", line + 1, name);
	return STATUS_OK;
}

/* Searches include paths for "../common/x.h". Sets *root to one of them, and returns the name below
 * it. */
static char *include_elsewhere(const struct expansion *expansion, const char **root,
	const char *folder, const char *include)
{
	CLEANUP(memory_free) char *place = path_join(*root, folder);
	CLEANUP(memory_free) char *path = path_join(place, include);
	CLEANUP(memory_free) char *real = *include != '/' ? realpath(path, NULL) : NULL;

	for (const char *const *top = expansion->include_paths; real && top && *top; top++)
		if (file_is_below(path, *top)) {
			CLEANUP(memory_free) char *resolved = realpath(*top, NULL);

			*root = *top;
			return string_copy(real + strlen(resolved) + 1);
		}
	return NULL;
}

/* Expands an include. A missing file is left to the compiler (compile/toolkit.h). */
static enum status expand_include(struct expansion *expansion, const char *root, const char *name,
	const char *include, bool is_system, size_t line)
{
	CLEANUP(memory_free) char *folder = name_folder(name);
	CLEANUP(memory_free) char *neighbour = include_normalized(folder, include);
	CLEANUP(memory_free) char *inside = include_normalized("", include);
	CLEANUP(memory_free) char *elsewhere = NULL, *other = NULL;
	CLEANUP(memory_free) char *adjacent = path_join(folder, include);

	if (!is_system && exists_in(root, neighbour))
		return expand_found(expansion, root, neighbour, name, line);
	for (const char *const *path = expansion->include_paths; path && *path; path++)
		if (exists_in(*path, inside))
			return expand_found(expansion, *path, inside, name, line);
	for (const char *const *path = expansion->template_folders; *path && !is_system; path++)
		if (exists_in(*path, inside))
			return expand_found(expansion, *path, inside, name, line);
	if (!is_system &&
		(elsewhere = include_elsewhere(expansion, &root, folder, include)) != NULL)
		return expand_found(expansion, root, elsewhere, name, line);
	if (!inside && *include != '/' && !exists_in(root, adjacent)) {
		/* a missing file above the folder is left to the compiler, too */
		while (string_starts_with(include, "../"))
			include += strlen("../");
		inside = include_normalized("", include);
	}
	if (inside && !strchr(inside, '>')) {
		text_appendf(&expansion->output, "#include <%s>\n", inside);
		return STATUS_OK;
	}
	other = path_parent(include);
	text_appendf(&expansion->output,
		"#error the include is outside the folder of %s: \"%s\"; add its folder to the "
		"JSON: \"include_paths\": [\"%s\"]\n",
		name, include, other);
	return STATUS_OK;
}

static const char *skip_blanks(const char *c, const char *end)
{
	while (c < end && (*c == ' ' || *c == '\t' || *c == '\r'))
		c++;
	return c;
}

/* Returns the position after the word, or `end` without the word. */
static const char *skip_word(const char *c, const char *end, const char *word)
{
	const size_t length = strlen(word);

	c = skip_blanks(c, end);
	return (size_t)(end - c) >= length && strncmp(c, word, length) == 0 ? c + length : end;
}

/* Returns whether only a comment precedes the end of the line. */
static bool is_rest(const char *c, const char *end)
{
	c = skip_blanks(c, end);
	return c == end || (end[-1] != '\\' && end - c >= 2 && strncmp(c, "//", 2) == 0) ||
	       (end - c >= 4 && strncmp(c, "/*", 2) == 0 &&
		       memmem(c + 2, (size_t)(end - c) - 2, "*/", 2) == end - 2);
}

/* Returns the file of `#include "file"` or, with *is_system, `#include <file>`; NULL for other
 * lines. The caller frees it. */
static char *plain_include(const char *line, const char *end, bool *is_system)
{
	const char *c = skip_word(skip_word(line, end, "#"), end, "include"), *close;

	c = skip_blanks(c, end);
	if (c == end || (*c != '"' && *c != '<'))
		return NULL;
	*is_system = *c == '<';
	close = memchr(c + 1, *is_system ? '>' : '"', (size_t)(end - c - 1));
	return close && close > c + 1 && is_rest(close + 1, end)
		       ? string_copy_bytes(c + 1, (size_t)(close - c - 1))
		       : NULL;
}

/* Refuses an unsupported #include, because compiler messages could reveal other files of this
 * machine. */
static enum status refuse_include(
	struct expansion *expansion, const char *name, const char *line, size_t number)
{
	error_set(expansion->err, STATUS_BAD_INPUT,
		"%s:%zu: expected #include \"file\" or #include <file>, found %.*s", name, number,
		(int)strnlen(line, strcspn(line, "\n") < 80 ? strcspn(line, "\n") : 80), line);
	return error_hint(expansion->err,
		"tiletune expands includes itself, so the name of the file cannot be a macro");
}

static size_t count_lines(const char *text, const char *end)
{
	size_t count = 0;

	for (; (text = memchr(text, '\n', (size_t)(end - text))) != NULL; text++)
		count++;
	return count;
}

/* Refuses trigraphs, which some C++ standards replace by `#` and `\\`, which could hide an
 * include. */
static enum status refuse_trigraphs(const char *name, const char *text, struct error *err)
{
	static const char *const trigraphs[] = {"?"
						"?=",
		"?"
		"?/"};

	for (size_t i = 0; i < ARRAY_COUNT(trigraphs); i++) {
		const char *found = strstr(text, trigraphs[i]);

		if (found)
			return error_set(err, STATUS_BAD_INPUT,
				"%s:%zu: trigraphs are not supported", name,
				count_lines(text, found) + 1);
	}
	return STATUS_OK;
}

/* Expansion itself implements `#pragma once`. */
static bool is_pragma_once(const struct code *code, const struct directive *directive)
{
	return directive_is(code, directive, "pragma") &&
	       text_word_is(code->text + directive->rest,
		       text_word_length(code->text + directive->rest), "once");
}

static bool is_if_0(const struct code *code, const struct directive *directive)
{
	const char *rest = code->text + directive->rest, *end = code->text + directive->end;

	return directive_is(code, directive, "if") && *rest == '0' &&
	       skip_blanks(rest + 1, end) == end;
}

/* Whether the directive is in a branch of "#if 0", whose includes do not count. *depth is the
 * number of open conditions in that branch, and 0 outside. */
static bool is_dead(const struct code *code, const struct directive *directive, size_t *depth)
{
	if (directive->kind == DIRECTIVE_IF)
		*depth += *depth > 0 || is_if_0(code, directive);
	else if (*depth > 0 && (directive->kind == DIRECTIVE_ENDIF ||
				       (directive->kind == DIRECTIVE_ELSE && *depth == 1)))
		--*depth;
	return *depth > 0;
}

static enum status expand_code(struct expansion *expansion, const char *root, const char *name,
	const char *text, const struct code *code)
{
	const char *copied = text, *stop = text + code->at[code->length];
	struct directive directive;
	size_t number = 1, dead = 0;

	for (size_t from = 0; directive_next(code, &from, &directive);) {
		const char *line = text + code->at[directive.begin];
		const char *end = text + code->at[directive.end];
		CLEANUP(memory_free) char *include = NULL;
		bool is_system = false;

		if (is_dead(code, &directive, &dead) ||
			(directive.kind != DIRECTIVE_FILE && !is_pragma_once(code, &directive)))
			continue;
		while (line > copied && line[-1] != '\n')
			line--;
		number += count_lines(copied, line);
		text_append_bytes(&expansion->output, copied, (size_t)(line - copied));
		include = memchr(line, '\n', (size_t)(end - line))
				  ? NULL
				  : plain_include(line, end, &is_system);
		if (include)
			TRY(expand_include(expansion, root, name, include, is_system, number));
		else if (directive.kind == DIRECTIVE_FILE)
			return refuse_include(expansion, name, line, number);
		else /* preserves the number of lines */
			for (size_t i = 0; i <= count_lines(line, end); i++)
				text_append_char(&expansion->output, '\n');
		number += count_lines(line, end) + 1;
		copied = end < stop ? end + 1 : stop;
	}
	text_append_bytes(&expansion->output, copied, (size_t)(stop - copied));
	if (copied < stop && stop[-1] != '\n')
		text_append_char(&expansion->output, '\n');
	return STATUS_OK;
}

static enum status expand_text(
	struct expansion *expansion, const char *root, const char *name, const struct text *content)
{
	/* a byte order mark is valid only at the beginning of the input */
	const size_t mark = string_starts_with(text_string(content), "\xef\xbb\xbf") ? 3 : 0;
	const char *text = text_string(content) + mark;
	struct code code;
	enum status status;

	TRY(refuse_trigraphs(name, text, expansion->err));
	text_appendf(&expansion->output, "#line 1 \"%s\"\n", name);
	code_read(text, content->length - mark, &code);
	status = expand_code(expansion, root, name, text, &code);
	code_release(&code);
	return status;
}

static enum status expand_file(struct expansion *expansion, const char *root, const char *name)
{
	CLEANUP(memory_free) char *path = path_join(root, name);
	CLEANUP(text_release) struct text content = {0};
	CLEANUP(memory_free) char *real = realpath(path, NULL);
	const size_t seen = expansion->seen.count;

	name_set_add(&expansion->seen, real ? real : path, strlen(real ? real : path));
	if (expansion->seen.count == seen)
		return STATUS_OK;
	if (expansion->depth >= SOURCE_DEPTH_MAX || expansion->output.length > SOURCE_BYTES_MAX)
		return error_set(expansion->err, STATUS_BAD_INPUT,
			"%s: the includes are nested more than %d deep or have more than %d bytes",
			name, SOURCE_DEPTH_MAX, SOURCE_BYTES_MAX);
	TRY(file_read_regular(path, &content, expansion->err));
	expansion->depth++;
	TRY(expand_text(expansion, root, name, &content));
	expansion->depth--;
	return STATUS_OK;
}

enum status source_expand(const char *root, const char *name, const char *const *template_folders,
	const char *const *include_paths, char **source, struct error *err)
{
	struct expansion expansion = {
		.template_folders = template_folders, .include_paths = include_paths, .err = err};
	const enum status status = expand_file(&expansion, root, name);

	name_set_release(&expansion.seen);
	if (status == STATUS_OK)
		*source = text_detach(&expansion.output);
	text_release(&expansion.output);
	return status;
}

enum status source_json_load(const struct json_at *at, const struct source_place *place,
	const char *const *template_folders, const char *const *include_paths, char **name,
	char **source, struct error *err)
{
	const struct expansion searched = {
		.include_paths = include_paths, .template_folders = template_folders};
	CLEANUP(memory_free) char *root = NULL, *normalized = NULL;
	const char *file;

	TRY(json_get_string(at, &file, err));
	if (place->folder) {
		root = string_copy(place->root);
		normalized = include_normalized(place->folder, file);
	} else {
		CLEANUP(memory_free) char *path = path_join(place->root, file);

		root = path_parent(path);
		normalized = include_normalized("", path_name(path));
	}
	if (!exists_in(root, normalized))
		return json_invalid(at, err, "there is no file %s in %s%s%s", file, place->root,
			place->folder ? "/" : "", place->folder ? place->folder : "");
	if (!is_searched(&searched, place->root, place->folder ? normalized : file) &&
		file_expect_inside(place->root, place->folder ? normalized : file, err) !=
			STATUS_OK)
		return error_hint(
			err, "add the folder of the file to \"include_paths\" in the JSON");
	TRY(source_expand(root, normalized, template_folders, include_paths, source, err));
	*name = normalized;
	normalized = NULL;
	return STATUS_OK;
}

enum status source_of_command(
	const char *json_file, const char *const *command, char **source, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(json_file);
	CLEANUP(text_release) struct text text = {0};

	for (; *command; command++) {
		CLEANUP(memory_free) char *path = path_join(folder, *command);
		CLEANUP(text_release) struct text content = {0};
		char digits[HASH_SIZE] = "";

		if (file_is_regular(path)) {
			struct hash *hash = hash_new();
			const enum status status = file_read_regular(path, &content, err);

			hash_add(hash, text_string(&content), content.length);
			hash_finish(hash, digits);
			TRY(status);
		}
		text_appendf(&text, "%s %s\n", *command, digits);
	}
	*source = text_detach(&text);
	return STATUS_OK;
}
