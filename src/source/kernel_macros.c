/* SPDX-License-Identifier: MIT
 *
 * Finds the macros that a kernel's source expects: names that conditions read, and undeclared
 * names in the code that look like macros.
 */
#include "base/memory.h"
#include "source/definitions.h"
#include "source/kernel_source.h"
#include "source/scan.h"
#include "source/words.h"

static struct source_macro *add_macro(struct kernel_source *source, const char *name, size_t length,
	const char *value, size_t value_length)
{
	const size_t index = name_set_add(&source->macro_names, name, length);
	struct source_macro *macro;

	if (index == source->macro_count) {
		ARRAY_GROW(source->macros, source->macro_count, source->macro_capacity);
		source->macros[source->macro_count++] =
			(struct source_macro){.name = string_copy_bytes(name, length)};
	}
	macro = &source->macros[index];
	if (value_length && !macro->default_value)
		macro->default_value = string_copy_bytes(value, value_length);
	return macro;
}

/* Recognises macros for features and platforms, which are not tunable. */
static bool is_feature(const char *name, size_t length)
{
	static const char *const begins[] = {"_", "HAS_", "HAVE_", "NDEBUG", "WIN32", "MACOSX",
		"CUDA", "TORCH_", "C10_", "BUILD_"};
	static const char *const parts[] = {"VERSION", "USE_", "ENABLE_", "DISABLE_", "WITH_",
		"DEBUG", "ROCM", "HIP", "PYTORCH"};

	for (size_t i = 0; i < ARRAY_COUNT(begins); i++)
		if (string_starts_with(name, begins[i]))
			return true;
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
		if (memmem(name, length, parts[i], strlen(parts[i])))
			return true;
	return false;
}

/* Adds macros whose values a condition reads, but not names after "defined". */
static void read_condition(struct kernel_source *source, const char *text, const char *end)
{
	static const char *const words[] = {"true", "false", "and", "or", "not", "xor", "bitand",
		"bitor", "compl", "not_eq", NULL};
	bool is_asked = false;

	for (const char *c = text; c < end; c = text_after_word(c)) {
		const size_t length = text_word_length(c);

		if (!length)
			continue;
		if (text_word_is(c, length, "kernel_tuner"))
			source->expects_kernel_tuner = true;
		else if (!is_asked && !text_word_is(c, length, "defined") &&
			 *text_skip(c + length) != '(' && !text_word_among(c, length, words) &&
			 !is_feature(c, length) && !name_set_has(&source->defined, c, length))
			add_macro(source, c, length, NULL, 0)->is_condition = true;
		if (is_asked)
			name_set_add(&source->asked, c, length);
		is_asked = text_word_is(c, length, "defined");
	}
}

/* `#define NAME value` inside `#ifndef NAME` or `#ifndef kernel_tuner` sets a default. */
static void read_directives(const struct code *code, bool is_header, struct kernel_source *source)
{
	const char *unless = ""; /* name of the last #ifndef that is still open */
	struct directive directive;

	for (size_t from = 0; directive_next(code, &from, &directive);) {
		const char *rest = code->text + directive.rest, *end = code->text + directive.end;
		const size_t length = text_word_length(rest);
		const char *value = text_skip(rest + length);

		if (directive.kind != DIRECTIVE_DEFINE) {
			unless = directive_is(code, &directive, "ifndef") ? rest : "";
			if (text_word_is(unless, text_word_length(unless), "kernel_tuner"))
				source->expects_kernel_tuner = true;
			if (directive_is(code, &directive, "ifdef"))
				name_set_add(&source->asked, rest, length);
			if ((directive_is(code, &directive, "if") ||
				    directive_is(code, &directive, "elif")) &&
				!is_header)
				read_condition(source, rest, end);
			continue;
		}
		while (end > value && isspace((unsigned char)end[-1]))
			end--;
		if (value < end && !is_header &&
			(text_word_is(unless, text_word_length(unless), "kernel_tuner") ||
				(text_word_length(unless) == length &&
					strncmp(unless, rest, length) == 0)))
			add_macro(source, rest, length, value, (size_t)(end - value));
		else
			name_set_add(&source->defined, rest, length);
	}
}

/* Accepts capitals, and names in Kernel Tuner's examples. */
static bool looks_like_macro(const char *name, size_t length)
{
	static const char *const known[] = {"__", "NULL", "EXIT_", "INT", "UINT", "LLONG_", "FLT_",
		"DBL_", "LDBL_", "HUGE_VAL", "DECIMAL_DIG", "CUDA", "NAN", "INFINITY", "M_PI",
		"M_E", "M_LOG", "M_LN", "M_SQRT", "M_1_PI", "M_2_", "RAND_MAX", "CHAR_BIT"};
	bool is_capital = length > 1;

	if (is_feature(name, length))
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (string_starts_with(name, known[i]))
			return false;
	for (size_t i = 0; i < length; i++)
		is_capital &= !islower((unsigned char)name[i]);
	return is_capital || string_starts_with(name, "block_size") ||
	       string_starts_with(name, "tile_size") || string_starts_with(name, "work_per_thread");
}

/* Returns whether the context excludes a macro: "int N", "N = 3", "N[4]", "x.N", "f(...)". */
static bool is_declared(const char *text, const char *name, size_t length)
{
	static const char *const before_values[] = {"return", "case", "else", "sizeof", NULL};
	const char *after = text_skip(name + length);
	const struct span before = span_trim((struct span){text, name}),
			  word = span_word_before(text, before.end);

	if (text_word_among(word.begin, (size_t)(word.end - word.begin), before_values))
		return false;
	return word.begin < word.end || strchr("([{.", *after) ||
	       (*after == '=' && after[1] != '=') || string_starts_with(after, "::") ||
	       span_ends(before, ".") || span_ends(before, "->") || span_ends(before, "::");
}

static void declare_variables(
	const struct source_variable *variables, size_t count, struct name_set *declared)
{
	for (size_t i = 0; i < count; i++)
		name_set_add(declared, variables[i].name, strlen(variables[i].name));
}

/* Adds the names declared by "enum {...}" and "typedef ... NAME;". */
static void declare_types(const char *text, struct name_set *declared)
{
	const struct span all = span_of(text);

	for (const char *c = NULL; (c = span_next(all, span_of("enum"), c)) != NULL;) {
		const char *open = c + strcspn(c, "{;()");
		const char *end = *open == '{' ? text_matching(open) : NULL;

		for (; end && open < end; open = text_after_word(open))
			if (text_word_length(open))
				name_set_add(declared, open, text_word_length(open));
	}
	for (const char *c = NULL; (c = span_next(all, span_of("typedef"), c)) != NULL;) {
		const struct span name = span_word_before(c, c + strcspn(c, ";"));

		name_set_add(declared, name.begin, (size_t)(name.end - name.begin));
	}
}

/* headers may be NULL. */
static void read_names(const char *text, const char *headers, struct kernel_source *source)
{
	CLEANUP(name_set_release) struct name_set declared = {0};

	for (size_t i = 0; i < source->kernel_count; i++) {
		declare_variables(
			source->kernels[i].arguments, source->kernels[i].argument_count, &declared);
		declare_variables(
			source->kernels[i].templates, source->kernels[i].template_count, &declared);
	}
	declare_types(headers ? headers : text, &declared);
	for (int pass = 0; pass < 2; pass++) {
		for (const char *c = text; *c;) {
			const size_t length = text_word_length(c);

			if (length && looks_like_macro(c, length)) {
				if (pass == 0 && is_declared(text, c, length))
					name_set_add(&declared, c, length);
				if (pass == 1 && !name_set_has(&declared, c, length) &&
					!name_set_has(&source->asked, c, length) &&
					!name_set_has(&source->defined, c, length))
					add_macro(source, c, length, NULL, 0);
			}
			c = text_after_word(c);
		}
	}
}

/* Returns the text with `#pragma unroll N` and definitions, which may read macros. */
static char *text_with_names(const struct code *code)
{
	CLEANUP(view_release) struct view view;
	CLEANUP(branches_release) struct branches branches = {0};
	struct text text = {0};
	struct directive directive;

	code_view(code, &branches, &view);
	for (size_t from = 0; directive_next(code, &from, &directive);) {
		const char *rest = code->text + directive.rest;

		if (directive.kind != DIRECTIVE_DEFINE && !directive_is(code, &directive, "pragma"))
			continue;
		rest += text_word_length(rest);
		if (*rest == '(' && text_matching(rest) &&
			text_matching(rest) <= code->text + directive.end)
			rest = text_matching(rest);
		text_appendf(&text, ";%.*s;\n", (int)(code->text + directive.end - rest), rest);
	}
	text_append(&text, view.text);
	return text_detach(&text);
}

/* ---- integers that the source defines ---- */
struct integers {
	const char *text;
	struct kernel_source *source;
};

/* Adds an integer constant that is used outside of its definition. */
static void add_integer(void *context, struct span declaration, struct span name, struct span value)
{
	const struct integers *integers = context;
	const size_t length = (size_t)(name.end - name.begin),
		     known = integers->source->macro_count;
	size_t uses = name_set_has(&integers->source->defined, name.begin, length);

	(void)declaration;
	value = span_trim(value);
	if (value.begin == value.end || value.begin + strspn(value.begin, "0123456789") < value.end)
		return;
	for (const char *c = NULL; (c = span_next(span_of(integers->text), name, c)) != NULL;)
		uses++;
	if (uses < 2)
		return;
	add_macro(integers->source, name.begin, length, value.begin,
		(size_t)(value.end - value.begin));
	if (integers->source->macro_count > known)
		integers->source->macros[known].is_fixed = true;
}

static void add_used_integers(
	const char *text, const struct code *code, struct kernel_source *source)
{
	struct integers integers = {text, source};
	struct directive directive;

	for (size_t from = 0; directive_next(code, &from, &directive);) {
		const struct span name = span_word(code->text + directive.rest);

		if (directive.kind == DIRECTIVE_DEFINE &&
			name_set_has(&source->defined, name.begin, (size_t)(name.end - name.begin)))
			add_integer(&integers, name, name,
				(struct span){name.end, code->text + directive.end});
	}
	definitions_find(text, add_integer, &integers);
}

/* Marks the macros among the arguments of "shape<...>". */
static void find_extents(const char *text, struct kernel_source *source)
{
	for (const char *c = NULL; (c = span_next(span_of(text), span_of("shape"), c)) != NULL;) {
		const char *open = c + strlen("shape"), *end;

		if (*open != '<')
			continue;
		end = text_matching(open);
		for (; end && open < end; open = text_after_word(open))
			for (size_t i = 0; i < source->macro_count; i++) {
				struct source_macro *macro = &source->macros[i];
				const size_t length = text_word_length(open);

				if (!text_word_is(open, length, macro->name))
					continue;
				macro->is_extent = true;
				macro->is_last_extent |= *text_skip(open + length) == '>';
			}
	}
}

void kernel_source_read_macros(
	const struct code *code, const struct code *headers, struct kernel_source *source)
{
	CLEANUP(memory_free) char *text = text_with_names(code);

	read_directives(code, false, source);
	if (headers)
		read_directives(headers, true, source);
	read_names(text, headers ? headers->text : NULL, source);
	add_used_integers(text, code, source);
	find_extents(text, source);
}
