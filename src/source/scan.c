/* SPDX-License-Identifier: MIT */
#include "source/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "source/words.h"

struct scan_reader {
	const char *text;
	size_t at, size;
	struct code *code;
};

/* Returns the next character after line splicing, or '\0' at the end. */
static inline char peek(struct scan_reader *reader)
{
	if (reader->at < reader->size && reader->text[reader->at] != '\\')
		return reader->text[reader->at];
	while (reader->at + 1 < reader->size && reader->text[reader->at] == '\\') {
		size_t next = reader->at + 1;

		next += next + 1 < reader->size && reader->text[next] == '\r';
		if (reader->text[next] != '\n')
			break;
		reader->at = next + 1;
	}
	return reader->at < reader->size ? reader->text[reader->at] : '\0';
}

static inline char next(struct scan_reader *reader)
{
	const char c = peek(reader);

	reader->at += reader->at < reader->size;
	return c;
}

static bool take(struct scan_reader *reader, const char *word)
{
	const size_t before = reader->at;

	if (peek(reader) != *word)
		return false;

	for (; *word; word++)
		if (next(reader) != *word) {
			reader->at = before;
			return false;
		}
	return true;
}

static inline void put(struct scan_reader *reader, char c, size_t at)
{
	struct code *code = reader->code;

	if (code->length + 2 > code->capacity) {
		code->capacity = 2 * code->capacity + 256;
		code->text = memory_resize(code->text, code->capacity, 1);
		code->at = memory_resize(code->at, code->capacity, sizeof(*code->at));
	}
	code->at[code->length] = (uint32_t)at;
	code->text[code->length++] = c ? c : ' ';
}

/* Skips a raw string `delimiter( ... )delimiter"`, in which lines are not spliced. */
static void skip_raw_string(struct scan_reader *reader)
{
	const char *start = reader->text + reader->at, *end = NULL;
	const char *open = memchr(start, '(', reader->size - reader->at);
	CLEANUP(memory_free)
	char *close = open ? string_format(")%.*s\"", (int)(open - start), start) : NULL;

	if (open)
		end = memmem(
			open, reader->size - (size_t)(open - reader->text), close, strlen(close));
	reader->at = end ? (size_t)(end - reader->text) + strlen(close) : reader->size;
}

/* Skips a literal. If it is unterminated, it ends with its line. */
static void skip_quoted(struct scan_reader *reader, char quote)
{
	for (char c; reader->at < reader->size && (c = peek(reader)) != '\n';) {
		next(reader);
		if (c == quote)
			return;
		if (c == '\\')
			next(reader);
	}
}

static bool take_comment(struct scan_reader *reader)
{
	const size_t at = reader->at;

	if (take(reader, "//"))
		while (reader->at < reader->size && peek(reader) != '\n')
			reader->at++;
	else if (take(reader, "/*"))
		while (reader->at < reader->size && !take(reader, "*/"))
			next(reader);
	else
		return false;
	put(reader, ' ', at);
	return true;
}

static void take_literal(struct scan_reader *reader, char quote, bool is_raw)
{
	put(reader, quote, reader->at);
	next(reader);
	if (is_raw)
		skip_raw_string(reader);
	else
		skip_quoted(reader, quote);
	put(reader, quote, reader->at > 0 ? reader->at - 1 : 0);
}

static bool is_of_word(char c)
{
	return text_is_word(c) || c == '$' || (unsigned char)c >= 0x80;
}

/* Reads a word or number, and a literal of which it is the prefix. */
static void take_word(struct scan_reader *reader)
{
	const struct code *code = reader->code;
	const size_t begin = code->length;
	const bool is_number = isdigit((unsigned char)peek(reader));
	const char *last;

	for (char c = peek(reader); is_of_word(c) || (is_number && c == '\''); c = peek(reader)) {
		put(reader, c, reader->at);
		next(reader);
	}
	last = code->text + code->length - 1;
	if (peek(reader) == '"')
		take_literal(reader, '"',
			*last == 'R' && code->length - begin <= 3 &&
				(code->length - begin == 1 || strchr("uUL8", last[-1])));
}

void code_read(const char *source, size_t size, struct code *code)
{
	struct scan_reader reader = {.text = source, .size = size, .code = code};

	*code = (struct code){.capacity = size + 2};
	code->text = memory_resize(NULL, code->capacity, 1);
	code->at = memory_resize(NULL, code->capacity, sizeof(*code->at));
	for (char c = peek(&reader); reader.at < size; c = peek(&reader)) {
		if (c == '"' || c == '\'') {
			take_literal(&reader, c, false);
		} else if (is_of_word(c)) {
			take_word(&reader);
		} else if (!take_comment(&reader)) {
			put(&reader, c, reader.at);
			next(&reader);
		}
	}
	put(&reader, ' ', size);
	code->text[--code->length] = '\0';
}

void code_release(struct code *code)
{
	free(code->text);
	free(code->at);
	*code = (struct code){0};
}

static size_t skip_blanks(const struct code *code, size_t at)
{
	return at + strspn(code->text + at, " \t\r\v\f");
}

static enum directive_kind kind_of(const char *name, size_t length)
{
	static const struct {
		const char *name;
		enum directive_kind kind;
	} kinds[] = {{"if", DIRECTIVE_IF}, {"ifdef", DIRECTIVE_IF}, {"ifndef", DIRECTIVE_IF},
		{"else", DIRECTIVE_ELSE}, {"elif", DIRECTIVE_ELSE}, {"elifdef", DIRECTIVE_ELSE},
		{"elifndef", DIRECTIVE_ELSE}, {"endif", DIRECTIVE_ENDIF},
		{"define", DIRECTIVE_DEFINE}};

	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (text_word_is(name, length, kinds[i].name))
			return kinds[i].kind;
	return string_starts_with(name, "include") || string_starts_with(name, "import") ||
			       string_starts_with(name, "embed")
		       ? DIRECTIVE_FILE
		       : DIRECTIVE_OTHER;
}

bool directive_next(const struct code *code, size_t *from, struct directive *directive)
{
	while (*from < code->length) {
		const size_t begin = skip_blanks(code, *from);
		const char *text = code->text + begin;
		const size_t mark = text[0] == '#' ? 1 : text[0] == '%' && text[1] == ':' ? 2 : 0;
		size_t name, length;

		*from = begin + strcspn(text, "\n");
		directive->end = *from;
		*from += *from < code->length;
		if (!mark)
			continue;
		name = skip_blanks(code, begin + mark);
		length = text_word_length(code->text + name);
		directive->kind = kind_of(code->text + name, length);
		directive->begin = begin;
		directive->name = name;
		directive->rest = skip_blanks(code, name + length);
		return true;
	}
	return false;
}

bool directive_is(const struct code *code, const struct directive *directive, const char *name)
{
	return text_word_is(
		code->text + directive->name, text_word_length(code->text + directive->name), name);
}

struct groups {
	struct {
		size_t group;
		unsigned taken;   /* index of the current branch */
		bool is_excluded; /* another branch is chosen */
	} * items;
	size_t depth, capacity, count;
	size_t excluded; /* number of excluded groups; 0 if the current position belongs to the view
			  */
};

/* Compares the current branch with chosen[group], which is negative if undecided. */
static void groups_compare(struct groups *groups, const int *chosen)
{
	const size_t last = groups->depth - 1;
	const int branch = chosen[groups->items[last].group];

	groups->excluded -= groups->items[last].is_excluded;
	groups->items[last].is_excluded = branch >= 0 && branch != (int)groups->items[last].taken;
	groups->excluded += groups->items[last].is_excluded;
}

static void groups_step(struct groups *groups, enum directive_kind kind)
{
	if (kind == DIRECTIVE_IF) {
		ARRAY_GROW(groups->items, groups->depth, groups->capacity);
		groups->items[groups->depth].group = groups->count++;
		groups->items[groups->depth].is_excluded = false;
		groups->items[groups->depth++].taken = 0;
	} else if (kind == DIRECTIVE_ELSE && groups->depth) {
		groups->items[groups->depth - 1].taken++;
	} else if (kind == DIRECTIVE_ENDIF && groups->depth) {
		groups->excluded -= groups->items[--groups->depth].is_excluded;
	}
}

/* Chooses the branches that contain the current position. */
static void groups_choose(const struct groups *groups, int *chosen)
{
	for (size_t i = groups->depth; i > 0 && chosen[groups->items[i - 1].group] < 0; i--)
		chosen[groups->items[i - 1].group] = (int)groups->items[i - 1].taken;
}

/* Chooses the branch of each group for the next view, which code_view() describes. Returns NULL if
 * all branches were seen. The caller frees the array. */
static int *scan_choose(const struct code *code, struct branches *branches)
{
	struct groups groups = {0};
	struct directive directive;
	int *chosen = NULL; /* -1 - default branch until a branch is chosen */
	size_t branch = 0, capacity = 0;
	bool is_new = !branches->begun;

	branches->begun = true;
	ARRAY_GROW(chosen, groups.count, capacity);
	for (size_t from = 0; directive_next(code, &from, &directive);) {
		const char *rest = code->text + directive.rest;
		bool is_never = false;

		if (directive.kind == DIRECTIVE_IF) {
			ARRAY_GROW(chosen, groups.count, capacity);
			is_never = directive_is(code, &directive, "if") && rest[0] == '0' &&
				   !text_is_word(rest[1]);
			chosen[groups.count] = -1 - is_never;
		}
		groups_step(&groups, directive.kind);
		if ((directive.kind != DIRECTIVE_IF && directive.kind != DIRECTIVE_ELSE) ||
			!groups.depth)
			continue;
		groups_compare(&groups, chosen);
		if (branch == branches->count) {
			ARRAY_GROW(branches->had, branches->count, branches->capacity);
			branches->had[branches->count++] = is_never;
		}
		if (!branches->had[branch] && !groups.excluded) {
			groups_choose(&groups, chosen);
			branches->had[branch] = is_new = true;
		}
		branch++;
	}
	for (size_t i = 0; i < groups.count; i++)
		chosen[i] = chosen[i] < 0 ? -1 - chosen[i] : chosen[i];
	free(groups.items);
	if (is_new)
		return chosen;
	free(chosen);
	return NULL;
}

bool code_view(const struct code *code, struct branches *branches, struct view *view)
{
	CLEANUP(memory_free) int *chosen = NULL;
	struct groups groups = {0};
	struct directive directive;
	bool more = true;

	*view = (struct view){0};
	if (branches->viewed_bytes > VIEWED_BYTES_MAX ||
		(chosen = scan_choose(code, branches)) == NULL)
		return false;
	branches->viewed_bytes += code->length;
	view->text = memory_zeroed(code->length + 1, 1);
	view->at = memory_zeroed(code->length + 1, sizeof(*view->at));
	for (size_t at = 0, from = 0; more; at = directive.end) {
		more = directive_next(code, &from, &directive);
		if (!more)
			directive.begin = directive.end = code->length;
		for (; !groups.excluded && at < directive.begin; at++) {
			view->at[view->length] = at;
			view->text[view->length++] = code->text[at];
		}
		if (!more)
			break;
		groups_step(&groups, directive.kind);
		if (groups.depth && directive.kind != DIRECTIVE_ENDIF)
			groups_compare(&groups, chosen);
	}
	free(groups.items);
	return true;
}

void branches_release(struct branches *branches)
{
	free(branches->had);
	*branches = (struct branches){0};
}

void view_release(struct view *view)
{
	free(view->text);
	free(view->at);
	*view = (struct view){0};
}
