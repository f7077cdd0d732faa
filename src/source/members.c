/* SPDX-License-Identifier: MIT
 *
 * Replaces arguments that are structures by their members.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "source/kernel_source.h"
#include "source/span.h"
#include "source/words.h"

enum {
	ARRAY_MAX = 16, /* elements of a member that is an array */
	PASSES_MAX = 64 /* number of structures, including nested ones */
};

static bool is_structure(struct span text, const char *name_or_brace)
{
	const struct span word = span_previous(text, name_or_brace);

	return span_is(word, "struct") || span_is(word, "class");
}

/* Returns the brace of "struct NAME {" or "typedef struct {...} NAME", or NULL. */
static const char *structure_find(struct span text, struct span name)
{
	for (const char *c = NULL; (c = span_next(text, name, c)) != NULL;) {
		const char *open = text_skip(c + (name.end - name.begin));
		const char *close = span_trim((struct span){text.begin, c}).end - 1;
		int depth = 0;

		if (*open == '{' && is_structure(text, c))
			return open;
		for (open = close; *close == '}' && open > text.begin; open--) {
			depth += (*open == '}') - (*open == '{');
			if (!depth)
				break;
		}
		if (*close == '}' && (is_structure(text, open) ||
					     is_structure(text, span_previous(text, open).begin)))
			return open;
	}
	return NULL;
}

/* Returns the declaration of a member without its value; empty for functions and types. */
static struct span variable_part(struct span part)
{
	static const char *const others[] = {
		"static", "using", "typedef", "friend", "operator", "struct", "enum", "union"};
	/* the last three of `others` begin definitions only if braces follow */
	const size_t type_count = 3;
	const char *close = memrchr(part.begin, '}', (size_t)(part.end - part.begin));
	const char *open = memchr(part.begin, '{', (size_t)(part.end - part.begin));

	if (close && close + 1 < part.end) /* after the body of a function */
		part.begin = close + 1;
	else if (open)
		part.end = open;
	for (struct span word = span_word(text_skip(part.begin));
		*word.end == ':' && word.end[1] != ':';
		word = span_word(text_skip(part.begin))) /* "public:" */
		part.begin = word.end + 1;
	for (size_t i = 0; i < ARRAY_COUNT(others) - (open ? 0 : type_count); i++)
		if (span_find(part, span_of(others[i])))
			part.end = part.begin;
	return span_has(part, "(") ? (struct span){part.end, part.end} : span_trim(part);
}

struct members {
	struct source_variable *items; /* with names such as "n" and "size[0]" */
	size_t count;
};

/* Adds the member of "int *x", or all elements of "int size[4]". */
static bool add_member(struct members *members, struct span text, const char *declared)
{
	const char *square = strchr(declared, '['), *end = declared + strlen(declared);
	const long extent = square ? strtol(square + 1, NULL, 0) : 1;

	if (extent < 1 || extent > ARRAY_MAX || (square && strchr(square + 1, '[')))
		return false;
	for (long i = 0; i < extent; i++) {
		struct source_variable made =
			source_variable_read(text.begin, declared, square ? square : end);
		CLEANUP(memory_free) char *name = made.name;

		if (!made.type[0]) {
			name = NULL;
			source_variable_release(&made);
			return false;
		}
		made.name = square ? string_format("%s[%ld]", name, i) : string_copy(name);
		members->items =
			memory_resize(members->items, members->count + 1, sizeof(*members->items));
		members->items[members->count++] = made;
	}
	return true;
}

static void members_release(struct members *members)
{
	for (size_t i = 0; i < members->count; i++)
		source_variable_release(&members->items[i]);
	free(members->items);
}

/* Reads members. In "float scale = 1, *x, size[4];" all variables share the type. */
static bool members_read(struct span text, struct span name, struct members *members)
{
	struct span parts[SPAN_PARTS_MAX], variables[SPAN_PARTS_MAX];
	const char *open = structure_find(text, name), *close = open ? text_matching(open) : NULL;
	size_t count =
		close ? span_split((struct span){open + 1, close - 1}, "([{", ';', parts) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct span part = variable_part(parts[i]);
		const size_t variable_count = span_split(part, "([{<", ',', variables);
		struct span type = part;

		for (size_t k = 0; k < variable_count; k++) {
			CLEANUP(memory_free) char *declared = NULL;
			const char *equals = memchr(variables[k].begin, '=',
				(size_t)(variables[k].end - variables[k].begin));
			const int length =
				(int)((equals ? equals : variables[k].end) - variables[k].begin);
			const int type_length = k ? (int)(type.end - type.begin) : 0;

			declared = string_format(
				"%.*s %.*s", type_length, type.begin, length, variables[k].begin);
			if (!add_member(members, text, declared))
				return false;
			if (!k) {
				type.end =
					variables[k].begin + strcspn(variables[k].begin, "*&[=,;");
				if (!strchr("*&", *type.end))
					type.end = span_word_before(type.begin,
						span_trim((struct span){type.begin, type.end}).end)
							   .begin;
			}
		}
	}
	return members->count > 0;
}

/* Replaces the argument by its members, and prepends statements that set the structure. */
static void replace_argument(struct source_kernel *kernel, size_t index, struct members *members,
	struct text *statements)
{
	struct source_variable old = kernel->arguments[index];
	const size_t after = kernel->argument_count - index - 1;
	struct text made = {0};

	kernel->arguments = memory_resize(kernel->arguments,
		kernel->argument_count + members->count, sizeof(*kernel->arguments));
	memmove(&kernel->arguments[index + members->count], &kernel->arguments[index + 1],
		after * sizeof(*kernel->arguments));
	text_appendf(&made, "\t%s %s;\n", old.type, old.name);
	for (size_t i = 0; i < members->count; i++) {
		struct source_variable *variable = &kernel->arguments[index + i];
		CLEANUP(memory_free)
		char *path = string_format("%s.%s", old.name, members->items[i].name);

		*variable = members->items[i];
		variable->parameter = old.parameter;
		variable->member =
			string_format("%s.%s", old.member ? old.member : "", variable->name);
		free(variable->name);
		variable->name = string_copy_bytes(path, strcspn(path, "]"));
		for (char *c = variable->name; *c; c++)
			*c = text_is_word(*c) ? *c : '_';
		span_replace(&kernel->body, path, variable->name);
		text_appendf(&made, "\t%s = %s;\n", path, variable->name);
	}
	kernel->argument_count += members->count - 1;
	text_append(&made, text_string(statements));
	text_release(statements);
	*statements = made;
	free(members->items);
	source_variable_release(&old);
}

/* Finds the members of an argument that is a structure; float4 is one, too. */
static bool argument_members(
	struct span text, const struct source_variable *argument, struct members *members)
{
	static const char *const lanes[] = {"x, y", "x, y, z", "x, y, z, w"};
	CLEANUP(memory_free) char *vector = NULL;

	if (argument->is_pointer || (argument->dtype && argument->lanes < 2))
		return false;
	if (argument->dtype) {
		vector = string_format("struct %s { %.*s %s; }", argument->type,
			(int)strlen(argument->type) - 1, argument->type,
			lanes[argument->lanes - 2]);
		text = span_of(vector);
	}
	return members_read(text, span_of(argument->type), members);
}

/* Replaces one structure. Returns false if there is none. */
static bool flatten_one(struct span text, struct source_kernel *kernel, struct text *statements)
{
	for (size_t i = 0; i < kernel->argument_count; i++) {
		struct members members = {0};

		if (argument_members(text, &kernel->arguments[i], &members)) {
			replace_argument(kernel, i, &members, statements);
			return true;
		}
		members_release(&members);
	}
	return false;
}

static void append_declarations(
	const struct source_variable *variables, size_t count, struct text *text)
{
	for (size_t i = 0; i < count; i++)
		text_appendf(text, "%s%s%s %s%s%s", i ? ", " : "",
			variables[i].is_const ? "const " : "", variables[i].type,
			variables[i].is_pointer ? "*" : "",
			variables[i].is_restrict ? "__restrict__ " : "", variables[i].name);
}

static void append_names(const struct source_variable *variables, size_t count, struct text *text)
{
	for (size_t i = 0; i < count; i++)
		text_appendf(text, "%s%s", i ? ", " : "", variables[i].name);
}

char *source_kernel_flatten(const char *text, const char *file, struct source_kernel *kernel)
{
	CLEANUP(text_release) struct text statements = {0}, call = {0};
	const size_t scope_length = strlen(kernel->scope);
	struct text made = {0};

	append_names(kernel->arguments, kernel->argument_count, &call);
	for (size_t i = 0; i < kernel->argument_count; i++)
		kernel->arguments[i].parameter = i;
	for (int pass = 0; pass < PASSES_MAX; pass++)
		if (!flatten_one(span_of(text), kernel, &statements))
			break;
	if (!statements.length)
		return NULL;
	text_appendf(&made,
		"#undef __global__\n#undef __launch_bounds__\n#define __global__ __device__\n"
		"#define __launch_bounds__(...)\n#include \"%s\"\n#undef __global__\n"
		"#define __global__ __attribute__((global))\n",
		file);
	if (scope_length > 2)
		text_appendf(&made, "namespace %.*s {\n", (int)scope_length - 2, kernel->scope);
	if (kernel->template_count) {
		text_append(&made, "template <");
		append_declarations(kernel->templates, kernel->template_count, &made);
		text_append(&made, "> ");
	}
	text_append(&made, "__global__ void ");
	if (kernel->threads_max)
		text_appendf(&made, "__attribute__((launch_bounds(%ld))) ", kernel->threads_max);
	text_appendf(&made, "%s" SOURCE_MEMBERS "(", kernel->name);
	append_declarations(kernel->arguments, kernel->argument_count, &made);
	text_appendf(&made, ")\n{\n%s\t%s", statements.data, kernel->name);
	if (kernel->template_count) {
		text_append_char(&made, '<');
		append_names(kernel->templates, kernel->template_count, &made);
		text_append_char(&made, '>');
	}
	text_appendf(&made, "(%s);\n}\n%s", text_string(&call), scope_length > 2 ? "}\n" : "");
	kernel->is_flattened = true;
	return text_detach(&made);
}
