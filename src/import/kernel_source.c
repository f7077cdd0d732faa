/* SPDX-License-Identifier: MIT */
#include "import/kernel_source.h"

#include <stdlib.h>

#include "base/memory.h"
#include "import/words.h"

/* ---- text without what is no code ---- */
/* Comments and strings become blanks, spliced lines one; as long as before. */
static char *without_comments(const char *text)
{
	char *made = string_copy(text);

	for (char *c = made; *c; c++) {
		const char quote = *c;

		if (c[0] == '\\' && c[1] == '\n') {
			c[0] = c[1] = ' ';
		} else if (c[0] == '/' && c[1] == '/') {
			while (*c && *c != '\n')
				*c++ = ' ';
			c--;
		} else if (c[0] == '/' && c[1] == '*') {
			for (; *c && !(c[0] == '*' && c[1] == '/'); c++)
				if (*c != '\n')
					*c = ' ';
			if (*c)
				c[0] = c[1] = ' ';
			else
				c--;
		} else if (quote == '\'' && c[1] &&
			   (c[1] == '\\' ? c[2] && c[3] == quote : c[2] == quote)) {
			memset(c, ' ', c[1] == '\\' ? 4 : 3);
		} else if (quote == '"') {
			for (*c++ = ' '; *c && *c != quote && *c != '\n'; c++) {
				if (*c == '\\' && c[1])
					*c++ = ' ';
				*c = ' ';
			}
			if (*c == quote)
				*c = ' ';
			else
				c--;
		}
	}
	return made;
}

static char *without_directives(const char *clean)
{
	char *made = string_copy(clean);
	bool line_begins = true;

	for (char *c = made; *c; c++) {
		if (line_begins && *c == '#')
			for (; *c && *c != '\n'; c++)
				*c = ' ';
		if (!*c)
			break;
		line_begins = *c == '\n' || (line_begins && isspace((unsigned char)*c));
	}
	return made;
}

char *source_code_alone(const char *text)
{
	CLEANUP(memory_free) char *clean = without_comments(text);

	return without_directives(clean);
}

/* ---- types ---- */
static const struct {
	const char *name, *dtype, *scalar;
	bool is_integer;
} types[] = {
	{"float", "fp32", "f32", false},
	{"double", "fp64", "f64", false},
	{"half", "fp16", "f16", false},
	{"__half", "fp16", "f16", false},
	{"__nv_bfloat16", "bf16", "bf16", false},
	{"nv_bfloat16", "bf16", "bf16", false},
	{"__nv_fp8_e4m3", "fp8_e4m3", NULL, false},
	{"__nv_fp8_e5m2", "fp8_e5m2", NULL, false},
	{"bool", "bool", "bool", false},
	{"int", "i32", "i32", true},
	{"int32_t", "i32", "i32", true},
	{"uint", "u32", "u32", true},
	{"unsigned", "u32", "u32", true},
	{"unsigned int", "u32", "u32", true},
	{"uint32_t", "u32", "u32", true},
	{"char", "i8", "i8", true},
	{"signed char", "i8", "i8", true},
	{"int8_t", "i8", "i8", true},
	{"uchar", "u8", "u8", true},
	{"unsigned char", "u8", "u8", true},
	{"uint8_t", "u8", "u8", true},
	{"short", "i16", "i16", true},
	{"int16_t", "i16", "i16", true},
	{"ushort", "u16", "u16", true},
	{"unsigned short", "u16", "u16", true},
	{"uint16_t", "u16", "u16", true},
	{"long", "i64", "i64", true},
	{"long long", "i64", "i64", true},
	{"int64_t", "i64", "i64", true},
	{"unsigned long", "u64", "u64", true},
	{"unsigned long long", "u64", "u64", true},
	{"uint64_t", "u64", "u64", true},
	{"size_t", "u64", "u64", true},
};

/* "float4", "uchar2", "half2" have lanes; "int8_t" is none of them. */
static void find_type(struct source_variable *variable)
{
	for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
		const size_t length = strlen(types[i].name);
		const char *rest = variable->type + length;
		const bool begins = strncmp(variable->type, types[i].name, length) == 0;

		if (!begins || (*rest && (*rest < '2' || *rest > '4' || rest[1])))
			continue;
		variable->dtype = types[i].dtype;
		variable->scalar = *rest ? NULL : types[i].scalar;
		variable->is_integer = types[i].is_integer && !*rest;
		variable->lanes = *rest ? (unsigned)(*rest - '0') : 1;
	}
}

/* ---- variables ---- */
static bool is_qualifier(const char *word, size_t length)
{
	static const char *const qualifiers[] = {"const", "volatile", "__restrict__", "restrict",
		"__restrict", "__grid_constant__", "struct", "__constant__", "static", "extern",
		"__device__"};

	for (size_t i = 0; i < ARRAY_COUNT(qualifiers); i++)
		if (text_word_is(word, length, qualifiers[i]))
			return true;
	return false;
}

/* "const float *__restrict__ x" and "int n = 3", up to end. */
static struct source_variable variable_read(const char *text, const char *end)
{
	struct source_variable variable = {.lanes = 1};
	CLEANUP(text_release) struct text type = {0};
	const char *name = NULL;
	size_t name_length = 0;

	for (const char *c = text; c < end && *c != '='; c++) {
		size_t length = text_word_length(c);

		variable.is_pointer |= *c == '*' || *c == '[';
		if (*c == '[')
			break;
		if (*c == '<') /* of a template: no type of ours */
			text_append_char(&type, '<');
		if (!length)
			continue;
		if (text_word_is(c, length, "const") && !variable.is_pointer)
			variable.is_const = true;
		if (!is_qualifier(c, length)) {
			if (name)
				text_appendf(&type, "%s%.*s", type.length ? " " : "",
					(int)name_length, name);
			name = c;
			name_length = length;
		}
		c += length - 1;
	}
	variable.name = string_copy_bytes(name ? name : "", name_length);
	variable.type = text_detach(&type);
	find_type(&variable);
	return variable;
}

/* The pieces between commas that are in no brackets, up to end. */
static void variables_read(
	const char *text, const char *end, struct source_variable **variables, size_t *count)
{
	const char *start = text;
	int depth = 0;

	for (const char *c = text; c <= end; c++) {
		depth += c < end && strchr("([{<", *c) ? 1 : 0;
		depth -= c < end && strchr(")]}>", *c) ? 1 : 0;
		if (c < end && (*c != ',' || depth))
			continue;
		if (text_skip(start) < c) {
			*variables = memory_resize(*variables, *count + 1, sizeof(**variables));
			(*variables)[(*count)++] = variable_read(start, c);
		}
		start = c + 1;
	}
}

/* Behind the bracket that closes this one; NULL: it stays open. */
static const char *matching(const char *open)
{
	const char close = *open == '(' ? ')' : *open == '{' ? '}' : '>';
	int depth = 0;

	for (const char *c = open; *c; c++) {
		depth += *c == *open;
		depth -= *c == close;
		if (depth == 0)
			return c + 1;
	}
	return NULL;
}

/* What the body does with `name[...]` and with the name itself. */
static void look_for_uses(struct source_variable *variable, const char *body, const char *end)
{
	for (const char *c = body; c < end; c++) {
		const size_t length = text_word_length(c);
		const char *after;
		int depth = 0;

		if (!length)
			continue;
		after = c + length;
		if (!text_word_is(c, length, variable->name)) {
			c = after - 1;
			continue;
		}
		after = text_skip(after);
		if (*after != '[') {
			variable->is_unclear = true;
			return;
		}
		for (; after < end; after++) {
			depth += *after == '[';
			depth -= *after == ']';
			if (depth == 0)
				break;
		}
		after = text_skip(after + (*after == ']'));
		if (*after == '.')
			after = text_skip(after + 1 + text_word_length(after + 1));
		if (*after == '=' && after[1] != '=') {
			variable->is_written = true;
		} else if ((*after && strchr("+-*/%&|^", *after) && after[1] == '=') ||
			   (*after && strchr("+-", *after) && after[1] == *after) ||
			   (c > body && c[-1] == '&')) {
			variable->is_read = variable->is_written = true;
		} else {
			variable->is_read = true;
		}
		c += length - 1;
	}
}

/* ---- kernels ---- */
/* The `<` of a template that stands right before; NULL: there is none. */
static const char *template_before(const char *text, const char *kernel)
{
	const char *found = NULL;

	for (const char *c = kernel; c > text && !strchr(";}{", c[-1]); c--)
		if (strncmp(c - 1, "template", strlen("template")) == 0)
			found = text_skip(c - 1 + strlen("template"));
	return found && *found == '<' ? found : NULL;
}

/* The name behind `__global__`, over what stands between; NULL: none. */
static const char *kernel_name(const char *text, size_t *length)
{
	static const char *const attributes[] = {
		"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__"};

	for (const char *c = text; *c && !strchr(";{}", *c);) {
		const char *after;
		bool is_attribute = false;

		*length = text_word_length(c);
		if (!*length) {
			c++;
			continue;
		}
		after = text_skip(c + *length);
		for (size_t i = 0; i < ARRAY_COUNT(attributes); i++)
			is_attribute |= text_word_is(c, *length, attributes[i]);
		if (*after == '(' && !is_attribute)
			return c;
		c = *after == '(' ? matching(after) : after;
		if (!c)
			return NULL;
	}
	return NULL;
}

static const char *read_kernel(struct kernel_source *source, const char *code, const char *global)
{
	struct source_kernel kernel = {0};
	const char *open, *close, *body, *end, *angle = template_before(code, global);
	const char *name;
	size_t length;

	name = kernel_name(global + strlen("__global__"), &length);
	open = name ? text_skip(name + length) : NULL;
	close = open ? matching(open) : NULL;
	body = close ? text_skip(close) : NULL;
	if (!body || *body != '{')
		return global + strlen("__global__"); /* declared only */
	end = matching(body);
	if (!end)
		end = body + strlen(body);
	kernel.name = string_copy_bytes(name, length);
	variables_read(open + 1, close - 1, &kernel.arguments, &kernel.argument_count);
	if (angle && matching(angle))
		variables_read(
			angle + 1, matching(angle) - 1, &kernel.templates, &kernel.template_count);
	for (size_t i = 0; i < kernel.argument_count; i++)
		if (kernel.arguments[i].is_pointer)
			look_for_uses(&kernel.arguments[i], body, end);
	source->kernels =
		memory_resize(source->kernels, source->kernel_count + 1, sizeof(*source->kernels));
	source->kernels[source->kernel_count++] = kernel;
	return end;
}

static void read_code(struct kernel_source *source, const char *code)
{
	for (const char *c = code; *c;) {
		const size_t length = text_word_length(c);

		if (text_word_is(c, length, "__global__")) {
			c = read_kernel(source, code, c);
		} else if (text_word_is(c, length, "__constant__")) {
			const char *end = c + strcspn(c, ";{");

			source->symbols = memory_resize(source->symbols, source->symbol_count + 1,
				sizeof(*source->symbols));
			source->symbols[source->symbol_count] = variable_read(c, end);
			source->symbols[source->symbol_count++].is_const = true;
			c = end;
		} else {
			c += length ? length : 1;
			while (!length && text_is_word(c[-1]) && text_is_word(*c)) /* a number */
				c++;
		}
	}
}

/* ---- the whole ---- */
void kernel_source_read(const char *text, struct kernel_source *source)
{
	CLEANUP(memory_free) char *clean = without_comments(text);
	CLEANUP(memory_free) char *code = without_directives(clean);

	*source = (struct kernel_source){0};
	kernel_source_read_macros(source, clean);
	read_code(source, code);
}

static void variables_release(struct source_variable *variables, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(variables[i].type);
		free(variables[i].name);
	}
	free(variables);
}

void kernel_source_release(struct kernel_source *source)
{
	for (size_t i = 0; i < source->kernel_count; i++) {
		free(source->kernels[i].name);
		variables_release(source->kernels[i].arguments, source->kernels[i].argument_count);
		variables_release(source->kernels[i].templates, source->kernels[i].template_count);
	}
	for (size_t i = 0; i < source->macro_count; i++) {
		free(source->macros[i].name);
		free(source->macros[i].otherwise);
		free(source->macros[i].compared);
	}
	variables_release(source->symbols, source->symbol_count);
	free(source->kernels);
	free(source->macros);
	*source = (struct kernel_source){0};
}
