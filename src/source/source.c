/* SPDX-License-Identifier: MIT
 *
 * Expansion of includes.
 */
#include "source/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "source/directive.h"
#include "source/host_code.h"

enum {
	SOURCE_DEPTH_MAX = 64,
	SOURCE_BYTES_MAX = 16 << 20
};

struct expansion {
	const char *const *template_folders;
	const char *const *include_paths; /* NULL: none */
	struct name_set seen;             /* files that stand in already */
	struct text output;
	unsigned depth;
	struct error *err;
};

static enum status expand_file(struct expansion *expansion, const char *root, const char *name);

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

/* Headers of the toolkit that are asked for as if they were one's own. */
static bool is_of_toolkit(const char *include)
{
	static const char *const beginnings[] = {
		"cuda", "cub/", "cooperative_groups", "nv/", "mma.h", "vector_types.h", "curand_"};

	for (size_t i = 0; i < ARRAY_COUNT(beginnings); i++)
		if (string_starts_with(include, beginnings[i]))
			return true;
	return false;
}

static enum status expand_found(struct expansion *expansion, const char *root, const char *found,
	const char *name, size_t line)
{
	TRY(expand_file(expansion, root, found));
	text_appendf(&expansion->output, "#line %zu \"%s\"\n", line + 1, name);
	return STATUS_OK;
}

/* A header of the toolkit stays: the compiler's process looks it up (compile/headers.h). */
static enum status expand_include(struct expansion *expansion, const char *root, const char *name,
	const char *include, bool is_system, size_t line)
{
	CLEANUP(memory_free) char *folder = name_folder(name);
	CLEANUP(memory_free) char *beside = include_normalized(folder, include);
	CLEANUP(memory_free) char *inside = include_normalized("", include);
	CLEANUP(text_release) struct text searched = {0};

	if (!is_system && exists_in(root, beside))
		return expand_found(expansion, root, beside, name, line);
	for (size_t i = 0; expansion->include_paths && expansion->include_paths[i]; i++) {
		const char *path = expansion->include_paths[i];

		if (exists_in(path, inside))
			return expand_found(expansion, path, inside, name, line);
		text_appendf(&searched, ", %s", path);
	}
	for (const char *const *tried = expansion->template_folders; *tried && !is_system;
		tried++) {
		if (exists_in(*tried, inside))
			return expand_found(expansion, *tried, inside, name, line);
		text_appendf(&searched, ", %s", *tried);
	}
	if (inside && !strchr(inside, '>') && (is_system || is_of_toolkit(inside))) {
		text_appendf(&expansion->output, "#include <%s>\n", inside);
		return STATUS_OK;
	}
	return error_set(expansion->err, STATUS_BAD_INPUT,
		"%s:%zu: expected an include that is there, found \"%s\" (looked beside the "
		"file%s)",
		name, line, include, text_string(&searched));
}

/* ---- lines ---- */
/* directive: the compiler sees one in this line, which includes something or does not. */
static enum status expand_line(struct expansion *expansion, const char *root, const char *name,
	const char *line, const char *end, size_t number, bool directive, bool includes)
{
	const size_t length = (size_t)(end - line);
	bool is_system = false;
	CLEANUP(memory_free)
	char *include = directive && includes ? directive_include(line, end, &is_system) : NULL;

	if (include) {
		TRY(expand_include(expansion, root, name, include, is_system, number));
		return STATUS_OK;
	}
	if (directive && includes) {
		error_set(expansion->err, STATUS_BAD_INPUT,
			"%s:%zu: expected #include \"file\" or #include <file>, found %.*s", name,
			number, (int)(length < 80 ? length : 80), line);
		return error_hint(expansion->err,
			"files are read here, not by the compiler: it sees no others");
	}
	if (!directive || !directive_is_pragma_once(line, end))
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
	/* a byte order mark is no token of the compiler's where it does not come first */
	const size_t mark = string_starts_with(text_string(content), "\xef\xbb\xbf") ? 3 : 0;
	const char *text = text_string(content) + mark, *line = text;
	const char *stop = text_string(content) + content->length;
	struct directive_scan scan = {.text = text, .size = content->length - mark};
	size_t hash = 0;
	bool includes = false, found = directive_next(&scan, &hash, &includes);

	text_appendf(&expansion->output, "#line 1 \"%s\"\n", name);
	for (size_t number = 1; line < stop; number++) {
		const char *end = memchr(line, '\n', (size_t)(stop - line));
		const bool directive = found && text + hash < (end ? end : stop);

		if (!end)
			end = stop;
		TRY(refuse_doubtful(name, line, end, number, expansion->err));
		TRY(expand_line(expansion, root, name, line, end, number, directive, includes));
		if (directive)
			found = directive_next(&scan, &hash, &includes);
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
	host_code_blank(&content);
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
		return json_error(at, err, "a file of %s%s%s", place->root,
			place->folder ? "/" : "", place->folder ? place->folder : "");
	TRY(source_expand(root, normalized, template_folders, include_paths, source, err));
	*name = normalized;
	normalized = NULL;
	return STATUS_OK;
}
