/* SPDX-License-Identifier: MIT */
#include "source/definitions.h"

#include "base/memory.h"
#include "source/scan.h"
#include "source/words.h"

/* Returns the position after the words of an integer constant's type, or NULL if the declaration is
 * of something else. */
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
		const char *name = after_type(c), *value = NULL, *end;
		const size_t length = name ? text_word_length(name) : 0;

		if (name && *text_skip(name + length) == '=')
			value = text_skip(text_skip(name + length) + 1);
		end = value ? value + strcspn(value, ";,{}\"") : NULL;
		if (end && *end == ';')
			found(context, c, end + 1, name, length, value, (size_t)(end - value));
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

static void blank_declaration(void *context, const char *begin, const char *end, const char *name,
	size_t length, const char *value, size_t value_length)
{
	const struct blanking *blanking = context;
	const size_t *at = blanking->view->at + (begin - blanking->view->text);

	(void)value;
	(void)value_length;
	if (!name_set_has(blanking->names, name, length))
		return;
	for (size_t i = 0; i < (size_t)(end - begin); i++)
		for (size_t k = blanking->code->at[at[i]]; k < blanking->code->at[at[i] + 1]; k++)
			if (blanking->source->data[k] != '\n')
				blanking->source->data[k] = ' ';
}

static void blank_directives(const struct blanking *blanking)
{
	const struct code *code = blanking->code;
	struct directive directive;

	for (size_t from = 0; directive_next(code, &from, &directive);) {
		const char *name = code->text + directive.rest;
		const size_t length = text_word_length(name);

		if (directive.kind != DIRECTIVE_DEFINE || name[length] == '(' ||
			!name_set_has(blanking->names, name, length))
			continue;
		for (size_t i = code->at[directive.begin]; i < code->at[directive.end]; i++)
			if (blanking->source->data[i] != '\n')
				blanking->source->data[i] = ' ';
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
