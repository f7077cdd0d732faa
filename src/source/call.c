/* SPDX-License-Identifier: MIT */
#include "source/call.h"

#include <stdlib.h>

#include "base/memory.h"
#include "source/words.h"

enum {
	DEPTH_MAX = 8,         /* nesting of variables and macros in definitions */
	VALUE_BYTES_MAX = 2000 /* size of an expression */
};

struct function {
	struct span parameters[SPAN_PARTS_MAX], arguments[SPAN_PARTS_MAX];
	size_t count;
	struct span text; /* text of a macro, or the expression after `return` */
	struct span body; /* body of a function before `return`; empty for a macro */
};

static struct span line_of(struct span text, const char *c)
{
	struct span line = {c, c + strcspn(c, "\n")};

	while (line.begin > text.begin && line.begin[-1] != '\n')
		line.begin--;
	return span_trim(line);
}

bool call_is_in_directive(struct span text, const char *c)
{
	return *line_of(text, c).begin == '#';
}

bool call_defines(struct span text, const char *name)
{
	const struct span line = line_of(text, name);
	const char *word = text_skip(line.begin + 1);

	return *line.begin == '#' && string_starts_with(word, "define") &&
	       text_skip(word + strlen("define")) == name;
}

static bool is_definitions(struct span body)
{
	static const char *const others[] = {"if", "for", "while", "switch", "return", "do"};

	for (size_t i = 0; i < ARRAY_COUNT(others); i++)
		if (span_find(body, span_of(others[i])))
			return false;
	for (const char *c = body.begin; c < body.end; c++)
		if ((*c == '=' && strchr("+-*/%&|^", c[-1])) ||
			(strchr("+-<>", *c) && c[1] == *c && (strchr("+-", *c) || c[2] == '=')))
			return false;
	return true;
}

static bool read_body(const char *open, struct function *function)
{
	const char *close = text_matching(open), *value;

	value = close ? span_find((struct span){open, close}, span_of("return")) : NULL;
	if (!value)
		return false;
	function->body = (struct span){open + 1, value};
	function->text = (struct span){value + strlen("return"), value + strcspn(value, ";")};
	return is_definitions(function->body) &&
	       is_definitions((struct span){function->text.begin, close});
}

/* Sets names of parameters and default arguments. */
static bool bind(struct function *function, size_t argument_count)
{
	for (size_t i = 0; i < function->count; i++) {
		struct span *parameter = &function->parameters[i];
		const char *equals =
			memchr(parameter->begin, '=', (size_t)(parameter->end - parameter->begin));

		if (span_is(*parameter, "...")) {
			if (i >= argument_count)
				function->arguments[i] =
					(struct span){parameter->end, parameter->end};
			else
				function->arguments[i].end =
					function->arguments[argument_count - 1].end;
			*parameter = span_of("__VA_ARGS__");
			return true;
		}
		if (i >= argument_count && !equals)
			return false;
		if (i >= argument_count)
			function->arguments[i] =
				span_trim((struct span){equals + 1, parameter->end});
		if (equals)
			*parameter = span_trim((struct span){parameter->begin, equals});
		*parameter = span_word_before(parameter->begin, parameter->end);
	}
	return function->count >= argument_count;
}

static bool function_find(
	struct span text, struct span name, const char *open, struct function *function)
{
	for (const char *c = NULL; (c = span_next(text, name, c)) != NULL;) {
		const char *list = c + (name.end - name.begin);
		const char *close = *list == '(' && list != open ? text_matching(list) : NULL;

		*function = (struct function){0};
		if (!close)
			continue;
		function->count = span_list(list, "([{<", function->parameters);
		function->text = (struct span){close, close + strcspn(close, "\n")};
		if (!call_defines(text, c) &&
			(*text_skip(close) != '{' || !read_body(text_skip(close), function)))
			continue;
		return bind(function, span_list(open, "([{", function->arguments));
	}
	return false;
}

static bool substitute(
	const struct function *function, struct span text, int depth, struct text *made)
{
	for (const char *c = text.begin, *next; c < text.end; c = next) {
		const struct span word = span_word(c);
		struct span value;
		size_t i = 0;

		next = text_after_word(c);
		while (i < function->count && !span_equal(word, function->parameters[i]))
			i++;
		if (i < function->count && word.end > word.begin)
			text_appendf(made,
				span_is_word(function->arguments[i]) || !function->body.begin
					? "%.*s"
					: "(%.*s)",
				(int)(function->arguments[i].end - function->arguments[i].begin),
				function->arguments[i].begin);
		else if (span_next_value(function->body, word, NULL, &value)) {
			text_append(made, span_is_word(value) ? "" : "(");
			if (!depth || !substitute(function, value, depth - 1, made))
				return false;
			text_append(made, span_is_word(value) ? "" : ")");
		} else if (*c != '#') {
			text_append_bytes(made, c, (size_t)(next - c));
		}
	}
	return true;
}

bool call_inline(struct span text, struct span name, const char *open, struct text *made)
{
	struct function function;

	return function_find(text, name, open, &function) &&
	       substitute(&function, function.text, DEPTH_MAX, made) &&
	       made->length < VALUE_BYTES_MAX;
}

/* Adds the macros whose text launches a kernel or contains one of the names. */
static void find_launching(struct span text, struct name_set *names)
{
	for (const char *c = text.begin; (c = strstr(c, "#")) != NULL; c++) {
		const char *word = text_skip(text_skip(c + 1) + strlen("define"));
		const struct span name = span_word(word);
		struct span line = {name.end, name.end + strcspn(name.end, "\n")};
		bool is_launching = span_has(line, "<<<") || span_has(line, "cudaLaunchKernel");

		if (*name.end != '(' || !call_defines(text, word))
			continue;
		for (const char *at = line.begin; at < line.end; at = text_after_word(at))
			is_launching |= name_set_has(names, at, text_word_length(at));
		if (is_launching)
			name_set_add(names, name.begin, (size_t)(name.end - name.begin));
	}
}

char *call_inline_launches(const char *text)
{
	CLEANUP(name_set_release) struct name_set names = {0};
	char *current = string_copy(text);
	size_t known = 0;

	do {
		known = names.count;
		find_launching(span_of(text), &names);
	} while (names.count != known);
	for (int depth = 0; depth < DEPTH_MAX && names.count; depth++) {
		const struct span whole = span_of(current);
		struct text made = {0};
		bool is_changed = false;

		for (const char *c = current, *next; *c; c = next) {
			const struct span name = span_word(c);
			struct function function;

			next = text_after_word(c);
			if (name_set_has(&names, c, (size_t)(name.end - c)) && *name.end == '(' &&
				!call_defines(whole, c) && text_matching(name.end) &&
				function_find(whole, name, name.end, &function) &&
				substitute(&function, function.text, 0, &made)) {
				next = text_matching(name.end);
				is_changed = true;
			} else {
				text_append_bytes(&made, c, (size_t)(next - c));
			}
		}
		free(current);
		current = text_detach(&made);
		if (!is_changed)
			break;
	}
	return current;
}
