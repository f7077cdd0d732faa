/* SPDX-License-Identifier: MIT
 *
 * The text of a C++ source as a compiler reads it: comments, literals, spliced lines, directives,
 * the branches of #if. Every other reader of sources works on what this makes.
 *
 *	source text -> code_read -> code -> directive_next, or code_view -> view
 */
#ifndef SOURCE_SCAN_H
#define SOURCE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text with one blank for each comment, two quotes for each literal, spliced lines joined. What
 * stands between at[i] and at[i + 1] in the source is text[i]. */
struct code {
	char *text; /* ends with NUL */
	uint32_t *at;
	size_t length, capacity;
};
void code_read(const char *source, size_t size, struct code *code);
void code_release(struct code *code);

/* ---- directives ---- */
enum directive_kind {
	DIRECTIVE_OTHER,
	DIRECTIVE_IF,   /* #if, #ifdef, #ifndef */
	DIRECTIVE_ELSE, /* #else, #elif, #elifdef, #elifndef */
	DIRECTIVE_ENDIF,
	DIRECTIVE_DEFINE,
	DIRECTIVE_FILE, /* makes the compiler read a file: #include, #import, #embed and the like */
};

/* Offsets in the code's text. */
struct directive {
	enum directive_kind kind;
	size_t begin, end; /* from the `#` to before the newline */
	size_t name, rest; /* of "if"; of what follows */
};
/* The next directive from *from on, which moves behind it; *from begins as 0. */
bool directive_next(const struct code *code, size_t *from, struct directive *directive);
bool directive_is(const struct code *code, const struct directive *directive, const char *name);

/* ---- one branch of each #if ---- */
/* The code without directives and without the branches that are not taken; of what is left, text[i]
 * is the code's text[at[i]]. */
struct view {
	char *text;
	size_t *at;
	size_t length;
};
/* In the order of the source each #if, #else and #elif: whether its branch was in a view, with all
 * that it stands in. Zeroed before the first view. */
struct branches {
	bool *had, begun;
	size_t count, capacity;
	size_t viewed_bytes;
};
enum {
	VIEWED_BYTES_MAX = 16 << 20 /* in all views of a source, but for the first */
};
/* The next view: the first has the first branch of each #if (of `#if 0` the next one), a later one
 * as many branches that no view had as go together. False: there is none, or the views are too many
 * bytes. */
bool code_view(const struct code *code, struct branches *branches, struct view *view);
void branches_release(struct branches *branches);
void view_release(struct view *view);

#endif
