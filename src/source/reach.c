/* SPDX-License-Identifier: MIT
 *
 * Finds the parts of a source that a kernel uses. A part of the source is a macro's definition, or
 * a declaration outside of functions. It is used if one of its names occurs in a part that is used.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "source/host_code.h"
#include "source/kernel_source.h"
#include "source/scan.h"
#include "source/span.h"
#include "source/words.h"

struct part {
	struct span names, whole;
	bool is_enum; /* every word in an enum is a name */
	bool is_used;
};

struct parts {
	struct part *items;
	size_t count, capacity;
};

static void add_part(struct parts *parts, struct span names, struct span whole, bool is_enum)
{
	ARRAY_GROW(parts->items, parts->count, parts->capacity);
	parts->items[parts->count++] =
		(struct part){.names = names, .whole = whole, .is_enum = is_enum};
}

static void add_words(const char *c, const char *end, struct name_set *words)
{
	for (; c < end; c = text_after_word(c))
		if (text_word_length(c))
			name_set_add(words, c, text_word_length(c));
}

static void read_declarations(const char *text, struct parts *parts)
{
	for (const char *begin = text_skip(text), *c = begin; *c; begin = text_skip(c)) {
		const char *head_end = begin + strcspn(begin, ";{}"), *end = head_end;
		const struct span head = {begin, head_end};
		bool is_enum;

		if (*head_end == '{' && (span_is(span_word(begin), "namespace") ||
						string_starts_with(begin, "extern \"\"{") ||
						string_starts_with(begin, "extern \"\" {"))) {
			c = head_end + 1;
			continue;
		}
		if (*head_end == '{')
			end = text_matching(head_end);
		else if (*end)
			end++;
		c = end ? end : head_end + strlen(head_end);
		is_enum = span_find(head, span_of("enum"));
		add_part(parts, is_enum ? (struct span){begin, c} : head, (struct span){begin, c},
			is_enum);
	}
}

static void read_macros(const struct code *code, struct parts *parts)
{
	struct directive directive;

	for (size_t from = 0; directive_next(code, &from, &directive);) {
		const struct span name = span_word(code->text + directive.rest);

		if (directive.kind == DIRECTIVE_DEFINE)
			add_part(parts, name, (struct span){name.begin, code->text + directive.end},
				false);
	}
}

/* Adds the words of "#pragma unroll N", because the text of functions has no directives. */
static void add_pragmas(const struct code *code, struct name_set *words)
{
	struct directive directive;

	for (size_t from = 0; directive_next(code, &from, &directive);)
		if (directive_is(code, &directive, "pragma"))
			add_words(code->text + directive.rest, code->text + directive.end, words);
}

/* Returns whether one of the part's names is used. A bracket, a value or the end follows a name:
 * "f(", "a[", "n =", "struct s {", "x;". */
static bool is_used(const struct part *part, const struct name_set *words)
{
	for (const char *c = part->names.begin; c < part->names.end; c = text_after_word(c)) {
		const size_t length = text_word_length(c);

		if (length && name_set_has(words, c, length) &&
			(part->is_enum || c + length == part->names.end ||
				strchr("(<[={;:", *text_skip(c + length))) &&
			!text_word_is(c, length, "template"))
			return true;
	}
	return false;
}

void source_words_of_kernel(const char *text, const char *kernel, struct name_set *words)
{
	CLEANUP(memory_free) char *device = host_code_removed(text);
	CLEANUP(branches_release) struct branches branches = {0};
	struct parts parts = {0};
	struct code code;
	struct view view;
	size_t known = 0;

	code_read(device, strlen(device), &code);
	read_macros(&code, &parts);
	add_pragmas(&code, words);
	code_view(&code, &branches, &view);
	read_declarations(view.text, &parts);
	name_set_add(words, kernel, strlen(kernel));
	while (known != words->count) {
		known = words->count;
		for (size_t i = 0; i < parts.count; i++)
			if (!parts.items[i].is_used && is_used(&parts.items[i], words)) {
				parts.items[i].is_used = true;
				add_words(parts.items[i].whole.begin, parts.items[i].whole.end,
					words);
			}
	}
	free(parts.items);
	view_release(&view);
	code_release(&code);
}
