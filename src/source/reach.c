/* SPDX-License-Identifier: MIT
 *
 * Finds what a kernel uses of its source. A part of the source is a macro's definition, or a
 * declaration outside of functions. It is used if one of its names occurs in a part that is used.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "source/host_code.h"
#include "source/kernel_source.h"
#include "source/scan.h"
#include "source/words.h"

struct part {
	const char *begin, *end;
	struct name_set names;
	bool is_used;
};

struct parts {
	struct part *items;
	size_t count, capacity;
};

static struct part *add_part(struct parts *parts, const char *begin, const char *end)
{
	ARRAY_GROW(parts->items, parts->count, parts->capacity);
	parts->items[parts->count] = (struct part){.begin = begin, .end = end};
	return &parts->items[parts->count++];
}

static void add_words(const char *c, const char *end, struct name_set *words)
{
	for (; c < end; c = text_after_word(c))
		if (text_word_length(c))
			name_set_add(words, c, text_word_length(c));
}

/* Names are followed by a bracket, a value or the end: "f(", "a[", "n =", "struct s {", "x;". */
static void add_declaration(
	struct parts *parts, const char *begin, const char *head_end, const char *end)
{
	struct part *part = add_part(parts, begin, end);

	for (const char *c = begin; c < head_end; c = text_after_word(c)) {
		const size_t length = text_word_length(c);

		if (text_word_is(c, length, "enum"))
			add_words(c, end, &part->names);
		if (length && strchr("(<[={;:", *text_skip(c + length)) &&
			!text_word_is(c, length, "template"))
			name_set_add(&part->names, c, length);
	}
}

static void read_declarations(const char *text, struct parts *parts)
{
	for (const char *begin = text_skip(text), *c = begin; *c; begin = text_skip(c)) {
		const char *head_end = begin + strcspn(begin, ";{}"), *end = head_end;
		const size_t length = text_word_length(begin);

		if (*head_end == '{' && (text_word_is(begin, length, "namespace") ||
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
		add_declaration(parts, begin, head_end, c);
	}
}

static void read_macros(const struct code *code, struct parts *parts)
{
	struct directive directive;

	for (size_t from = 0; directive_next(code, &from, &directive);) {
		const char *name = code->text + directive.rest;

		if (directive.kind == DIRECTIVE_DEFINE)
			name_set_add(&add_part(parts, name, code->text + directive.end)->names,
				name, text_word_length(name));
	}
}

/* "#pragma unroll N" is part of a function whose text has no directives. */
static void add_pragmas(const struct code *code, struct name_set *words)
{
	struct directive directive;

	for (size_t from = 0; directive_next(code, &from, &directive);)
		if (directive_is(code, &directive, "pragma"))
			add_words(code->text + directive.rest, code->text + directive.end, words);
}

static bool is_used(const struct part *part, const struct name_set *words)
{
	for (size_t i = 0; i < part->names.count; i++)
		if (name_set_has(words, part->names.items[i], strlen(part->names.items[i])))
			return true;
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
				add_words(parts.items[i].begin, parts.items[i].end, words);
			}
	}
	for (size_t i = 0; i < parts.count; i++)
		name_set_release(&parts.items[i].names);
	free(parts.items);
	view_release(&view);
	code_release(&code);
}
