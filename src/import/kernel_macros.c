/* SPDX-License-Identifier: MIT
 *
 * Of a kernel's source: the macros that its directives read.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "import/kernel_source.h"
#include "import/words.h"

/* ---- macros ---- */
struct macros {
	struct kernel_source *source;
	struct name_set defined;
	struct text aliases; /* "A B\n": `#define A B` */
};

static struct source_macro *find_macro(
	const struct kernel_source *source, const char *name, size_t length)
{
	for (size_t i = 0; i < source->macro_count; i++)
		if (text_word_is(name, length, source->macros[i].name))
			return &source->macros[i];
	return NULL;
}

bool kernel_source_add_macro(struct kernel_source *source, const char *name, size_t length)
{
	if (find_macro(source, name, length))
		return false;
	source->macros =
		memory_resize(source->macros, source->macro_count + 1, sizeof(*source->macros));
	source->macros[source->macro_count++] =
		(struct source_macro){.name = string_copy_bytes(name, length)};
	return true;
}

static bool is_defined(const struct macros *macros, const char *name, size_t length)
{
	CLEANUP(memory_free) char *copy = string_copy_bytes(name, length);

	return macros->defined.count &&
	       name_find(copy, (const char *const *)macros->defined.items) >= 0;
}

/* The name that a macro stands for, if it is just a name; else the macro's own. */
static const char *resolve(const struct macros *macros, const char *name, size_t *length)
{
	const char *line = text_string(&macros->aliases);

	while (*line) {
		const size_t first = text_word_length(line);

		if (first == *length && strncmp(line, name, first) == 0) {
			*length = text_word_length(line + first + 1);
			return line + first + 1;
		}
		line += strcspn(line, "\n") + 1;
	}
	return name;
}

static void add_compared(struct source_macro *macro, int64_t number)
{
	size_t at = 0;

	while (at < macro->compared_count && macro->compared[at] < number)
		at++;
	if (at < macro->compared_count && macro->compared[at] == number)
		return;
	macro->compared =
		memory_resize(macro->compared, macro->compared_count + 1, sizeof(*macro->compared));
	memmove(macro->compared + at + 1, macro->compared + at,
		(macro->compared_count - at) * sizeof(*macro->compared));
	macro->compared[at] = number;
	macro->compared_count++;
}

/* Names of a condition: what is read and not defined is expected. is_value: `#if NAME` asks for its
 * value, `#ifdef NAME` does not. */
static void read_condition(struct macros *macros, const char *text, const char *end, bool is_value)
{
	for (const char *c = text; c < end; c++) {
		size_t length = text_word_length(c);
		const char *name = c, *after = text_skip(c + length);
		struct source_macro *macro;

		if (!length) {
			while (text_is_word(c[0]) && text_is_word(c[1]))
				c++;
			continue;
		}
		c += length - 1;
		name = resolve(macros, name, &length);
		if (length > 2 && strncmp(name, "__", 2) == 0)
			continue;
		if (text_word_is(name, length, "defined") || text_word_is(name, length, "true") ||
			text_word_is(name, length, "false") || is_defined(macros, name, length))
			continue;
		if (text_word_is(name, length, "kernel_tuner")) {
			macros->source->expects_kernel_tuner = true;
			continue;
		}
		kernel_source_add_macro(macros->source, name, length);
		macro = find_macro(macros->source, name, length);
		if (after[0] == '=' && after[1] == '=' &&
			isdigit((unsigned char)*text_skip(after + 2)))
			add_compared(macro, strtoll(text_skip(after + 2), NULL, 10));
		else if (is_value && c < end && after >= end && text_skip(text) + length - 1 == c)
			add_compared(macro, 1); /* nothing else: a switch */
	}
}

/* `#define NAME value`: defined, or where it stands in `#ifndef NAME` a value to begin with. */
static void read_define(struct macros *macros, const char *text, const char *end, bool otherwise)
{
	const size_t length = text_word_length(text);
	const char *value = text_skip(text + length);
	CLEANUP(memory_free) char *name = string_copy_bytes(text, length);
	struct source_macro *macro;
	size_t value_length;

	if (!length)
		return;
	while (end > value && isspace((unsigned char)end[-1]))
		end--;
	value_length = end > value ? (size_t)(end - value) : 0;
	macro = find_macro(macros->source, name, length);
	if (otherwise && value_length) {
		kernel_source_add_macro(macros->source, name, length);
		macro = find_macro(macros->source, name, length);
		free(macro->otherwise);
		macro->otherwise = string_copy_bytes(value, value_length);
		return;
	}
	if (!macro)
		name_set_add(&macros->defined, name, length);
	if (value_length && text_word_length(value) == value_length && text[length] != '(')
		text_appendf(&macros->aliases, "%s %.*s\n", name, (int)value_length, value);
}

/* In the order of the text; of nested conditions the innermost counts. */
void kernel_source_read_macros(struct kernel_source *source, const char *clean)
{
	struct macros macros = {.source = source};
	const char *unless = NULL; /* the name of the last #ifndef, while nothing closed it */
	size_t unless_length = 0;

	for (const char *line = clean; *line;) {
		const char *end = line + strcspn(line, "\n"), *c = line;
		size_t length;

		while (c < end && isspace((unsigned char)*c))
			c++;
		line = end + (*end != '\0');
		if (*c != '#')
			continue;
		for (c++; c < end && isspace((unsigned char)*c);)
			c++;
		length = text_word_length(c);
		if (text_word_is(c, length, "define")) {
			const char *name = text_skip(c + length);

			read_define(&macros, name, end,
				unless && (text_word_is(unless, unless_length, "kernel_tuner") ||
						  text_word_is(name, text_word_length(name), "") ||
						  (text_word_length(name) == unless_length &&
							  strncmp(name, unless, unless_length) ==
								  0)));
			continue;
		}
		unless = NULL;
		if (text_word_is(c, length, "ifndef")) {
			unless = text_skip(c + length);
			unless_length = text_word_length(unless);
			if (text_word_is(unless, unless_length, "kernel_tuner"))
				source->expects_kernel_tuner = true;
		} else if (text_word_is(c, length, "if") || text_word_is(c, length, "elif") ||
			   text_word_is(c, length, "ifdef")) {
			read_condition(&macros, c + length, end, !text_word_is(c, length, "ifdef"));
		}
	}
	name_set_release(&macros.defined);
	text_release(&macros.aliases);
}
