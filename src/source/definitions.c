/* SPDX-License-Identifier: MIT */
#include "source/definitions.h"

#include "base/memory.h"
#include "source/scan.h"
#include "source/words.h"

/* Returns the position after the type of an integer constant, or NULL. */
static const char *after_type(const char *c)
{
	static const char *const types[] = {"int", "unsigned", "long", "short", "char", "size_t",
		"uint", "auto", "int32_t", "uint32_t", "int64_t", "uint64_t", NULL};
	static const char *const others[] = {
		"static", "inline", "__device__", "__host__", "__constant__", NULL};
	bool is_constant = false, is_integer = false;

	for (size_t length; (length = text_word_length(c)) > 0; c = text_skip(c + length)) {
		const bool is_const =
			text_word_is(c, length, "const") || text_word_is(c, length, "constexpr");

		is_constant |= is_const;
		if (text_word_among(c, length, types))
			is_integer = true;
		else if (!is_const && !text_word_among(c, length, others))
			return is_constant && is_integer ? c : NULL;
	}
	return NULL;
}

void definitions_find(const char *text, definition_found *found, void *context)
{
	for (const char *c = text_skip(text); *c;) {
		const char *name = after_type(c);
		const struct span word = span_word(name ? name : "");
		const char *equals = text_skip(word.end), *end = equals + strcspn(equals, ";,{}\"");

		if (word.end > word.begin && *equals == '=' && *end == ';')
			found(context, (struct span){c, end + 1}, word,
				(struct span){text_skip(equals + 1), end});
		c += strcspn(c, ";{}");
		c = text_skip(*c ? c + 1 : c);
	}
}

struct blanking {
	struct text *source;
	const struct name_set *names;
	const struct code *code;
	const struct view *view;
};

static void blank(const struct blanking *blanking, size_t from, size_t to)
{
	for (size_t i = blanking->code->at[from]; i < blanking->code->at[to]; i++)
		if (blanking->source->data[i] != '\n')
			blanking->source->data[i] = ' ';
}

static bool is_named(const struct blanking *blanking, struct span name)
{
	return name_set_has(blanking->names, name.begin, (size_t)(name.end - name.begin));
}

static void blank_declaration(
	void *context, struct span declaration, struct span name, struct span value)
{
	const struct blanking *blanking = context;
	const size_t *at = blanking->view->at + (declaration.begin - blanking->view->text);

	(void)value;
	for (; is_named(blanking, name) && declaration.begin < declaration.end;
		declaration.begin++, at++)
		blank(blanking, *at, *at + 1);
}

static void blank_directives(const struct blanking *blanking)
{
	struct directive directive;

	for (size_t from = 0; directive_next(blanking->code, &from, &directive);) {
		const struct span name = span_word(blanking->code->text + directive.rest);

		if (directive.kind == DIRECTIVE_DEFINE && *name.end != '(' &&
			is_named(blanking, name))
			blank(blanking, directive.begin, directive.end);
	}
}

void definitions_blank(struct text *source, const struct name_set *names)
{
	struct code code;
	struct view view;
	struct blanking blanking = {source, names, &code, &view};
	CLEANUP(branches_release) struct branches branches = {0};

	if (!source->length || !names->count)
		return;
	code_read(source->data, source->length, &code);
	while (code_view(&code, &branches, &view)) {
		definitions_find(view.text, blank_declaration, &blanking);
		view_release(&view);
	}
	blank_directives(&blanking);
	code_release(&code);
}
