/* SPDX-License-Identifier: MIT
 *
 * Scans C++ source as a compiler does, for all other readers of sources.
 */
#ifndef SOURCE_SCAN_H
#define SOURCE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text with a blank for each comment, two quotes for each literal, and joined spliced lines.
 * text[i] comes from the source between at[i] and at[i + 1]. */
struct code {
	char *text;
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
	DIRECTIVE_FILE, /* reads another file: #include, #import, #embed and the like */
};

/* Offsets are relative to the code's text. */
struct directive {
	enum directive_kind kind;
	size_t begin, end; /* from the `#` up to the newline */
	size_t name, rest; /* start of the directive's name and of the text after it */
};
/* Finds the next directive and advances *from, which starts at 0. */
bool directive_next(const struct code *code, size_t *from, struct directive *directive);
bool directive_is(const struct code *code, const struct directive *directive, const char *name);

/* ---- one branch of each #if ---- */
/* Code without directives and untaken branches. text[i] equals text[at[i]] of the code. */
struct view {
	char *text;
	size_t *at;
	size_t length;
};
/* Flags whether a view has shown each branch, in source order. Must be zero before the first
 * view. */
struct branches {
	bool *had, begun;
	size_t count, capacity;
	size_t viewed_bytes;
};
enum {
	VIEWED_BYTES_MAX = 16 << 20 /* limit on the total size of all views after the first */
};
/* The first view takes the first branch of each #if (the second of `#if 0`). Later ones take as
 * many unseen branches as can be combined. Returns false after the last. */
bool code_view(const struct code *code, struct branches *branches, struct view *view);
void branches_release(struct branches *branches);
void view_release(struct view *view);

#endif
