/* SPDX-License-Identifier: MIT */
#include "source/kernel_source.h"

#include <stdlib.h>

#include "base/memory.h"
#include "source/host_code.h"
#include "source/scan.h"
#include "source/span.h"
#include "source/words.h"

static const struct {
	const char *name, *dtype;
} types[] = {
	{"float", "fp32"},
	{"double", "fp64"},
	{"half", "fp16"},
	{"Half", "fp16"}, /* PyTorch's type */
	{"BFloat16", "bf16"},
	{"__half", "fp16"},
	{"__nv_bfloat16", "bf16"},
	{"nv_bfloat16", "bf16"},
	{"__nv_fp8_e4m3", "fp8_e4m3"},
	{"__nv_fp8_e5m2", "fp8_e5m2"},
	{"bool", "bool"},
	{"int", "i32"},
	{"int32_t", "i32"},
	{"uint", "u32"},
	{"unsigned", "u32"},
	{"unsigned int", "u32"},
	{"uint32_t", "u32"},
	{"char", "i8"},
	{"signed char", "i8"},
	{"int8_t", "i8"},
	{"uchar", "u8"},
	{"unsigned char", "u8"},
	{"uint8_t", "u8"},
	{"short", "i16"},
	{"int16_t", "i16"},
	{"ushort", "u16"},
	{"unsigned short", "u16"},
	{"uint16_t", "u16"},
	{"long", "i64"},
	{"long long", "i64"},
	{"int64_t", "i64"},
	{"unsigned long", "u64"},
	{"unsigned long long", "u64"},
	{"uint64_t", "u64"},
	{"size_t", "u64"},
};

/* Finds the element type and the number of lanes, as in "float4" or "half2" but not in "int8_t". */
static void find_type(struct source_variable *variable)
{
	for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
		const char *rest = variable->type + strlen(types[i].name);

		if (!string_starts_with(variable->type, types[i].name) ||
			(*rest && (*rest < '2' || *rest > '4' || rest[1])))
			continue;
		variable->dtype = types[i].dtype;
		variable->lanes = *rest ? (unsigned)(*rest - '0') : 1;
	}
}

/* Reads "const float *__restrict__ x" or "int n = 3". */
static struct source_variable variable_read(const char *text, const char *end)
{
	static const char *const qualifiers[] = {"const", "volatile", "__grid_constant__", "struct",
		"__constant__", "static", "extern", "__device__", NULL};
	static const char *const restricts[] = {"__restrict__", "restrict", "__restrict", NULL};
	struct source_variable variable = {.lanes = 1};
	CLEANUP(text_release) struct text type = {0};
	const char *name = "", *c = text;
	size_t name_length = 0;

	for (; c < end && *c != '='; c++) {
		const size_t length = text_word_length(c);

		variable.is_pointer |= *c == '*' || *c == '[';
		if (*c == '[')
			break;
		if (*c == '<') /* types with template arguments are not supported */
			text_append_char(&type, '<');
		if (*c == ':') /* the word before is a namespace */
			name_length = 0;
		if (!length)
			continue;
		variable.is_const |= text_word_is(c, length, "const") && !variable.is_pointer;
		variable.is_restrict |= text_word_among(c, length, restricts);
		if (!text_word_among(c, length, qualifiers) &&
			!text_word_among(c, length, restricts)) {
			if (name_length)
				text_appendf(&type, "%s%.*s", type.length ? " " : "",
					(int)name_length, name);
			name = c;
			name_length = length;
		}
		c += length - 1;
	}
	if (c < end && *c == '=') {
		for (c++; c < end && isspace((unsigned char)*c);)
			c++;
		variable.value = string_copy_bytes(c, (size_t)(end - c));
	}
	variable.name = string_copy_bytes(name, name_length);
	variable.type = text_detach(&type);
	find_type(&variable);
	return variable;
}

struct source_variable source_type_read(const char *text, const char *end)
{
	struct source_variable variable = variable_read(text, end);

	if (!variable.type[0]) { /* one word, which is the type */
		free(variable.type);
		variable.type = string_copy(variable.name);
		find_type(&variable);
	}
	return variable;
}

size_t source_type_bytes(const struct source_variable *type)
{
	const char *digits = type->dtype ? type->dtype + strcspn(type->dtype, "0123456789") : "";

	if (type->is_pointer)
		return 8;
	if (!type->dtype)
		return 0;
	return type->lanes * (*digits ? (size_t)strtol(digits, NULL, 10) / 8 : 1);
}

void source_variable_release(struct source_variable *variable)
{
	free(variable->value);
	free(variable->type);
	free(variable->name);
	free(variable->member);
}

static void variables_add(
	struct source_variable **variables, size_t *count, struct source_variable variable)
{
	*variables = memory_resize(*variables, *count + 1, sizeof(**variables));
	(*variables)[(*count)++] = variable;
}

static void variables_read(struct span list, struct source_variable **variables, size_t *count)
{
	struct span parts[SPAN_PARTS_MAX];
	const size_t part_count = span_split(list, "([{<", ',', parts);

	for (size_t i = 0; i < part_count; i++)
		variables_add(variables, count, variable_read(parts[i].begin, parts[i].end));
}

static void variables_release(struct source_variable *variables, size_t count)
{
	for (size_t i = 0; i < count; i++)
		source_variable_release(&variables[i]);
	free(variables);
}

/* Returns the `<` of the kernel's template head, or NULL. */
static const char *template_before(const char *text, const char *kernel)
{
	const char *found = NULL;

	for (const char *c = kernel; c > text && !strchr(";}{", c[-1]); c--)
		if (string_starts_with(c - 1, "template"))
			found = text_skip(c - 1 + strlen("template"));
	return found && *found == '<' && text_matching(found) ? found : NULL;
}

/* Finds the name after `__global__` and attributes, or NULL. */
static const char *kernel_name(const char *text, size_t *length)
{
	static const char *const attributes[] = {
		"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__", NULL};

	for (const char *c = text; c && *c && !strchr(";{}", *c);) {
		const char *after;

		*length = text_word_length(c);
		if (!*length) {
			c++;
			continue;
		}
		after = text_skip(c + *length);
		if (*after == '(' && !text_word_among(c, *length, attributes))
			return c;
		c = *after == '(' ? text_matching(after) : after;
	}
	return NULL;
}

static void kernel_release(struct source_kernel *kernel)
{
	free(kernel->name);
	free(kernel->scope);
	free(kernel->body);
	variables_release(kernel->arguments, kernel->argument_count);
	variables_release(kernel->templates, kernel->template_count);
}

static void describe_variables(
	const struct source_variable *variables, size_t count, struct text *text)
{
	for (size_t i = 0; i < count; i++)
		text_appendf(text, "%s%s %s%s,", variables[i].is_const ? "const " : "",
			variables[i].type, variables[i].is_pointer ? "*" : "", variables[i].name);
}

/* Adds the kernel unless the same declaration was added before. */
static void add_kernel(struct kernel_source *source, struct source_kernel *kernel)
{
	CLEANUP(text_release) struct text head = {0};

	text_appendf(&head, "%s(", kernel->name);
	describe_variables(kernel->arguments, kernel->argument_count, &head);
	text_append(&head, "<");
	describe_variables(kernel->templates, kernel->template_count, &head);
	if (name_set_add(&source->heads, head.data, head.length) < source->kernel_count) {
		kernel_release(kernel);
		return;
	}
	ARRAY_GROW(source->kernels, source->kernel_count, source->kernel_capacity);
	source->kernels[source->kernel_count++] = *kernel;
}

static unsigned dimensions_read(struct span body, const char *index)
{
	unsigned count = 0;

	for (unsigned axis = 0; axis < 3; axis++) {
		CLEANUP(memory_free)
		char *member = string_format("%s.%c", index, (int)('x' + axis));

		if (span_find(body, span_of(member)))
			count = axis + 1;
	}
	return count;
}

/* Returns 256 for "__launch_bounds__(256, 2)", or 0 without a number. */
static long launch_bounds(struct span head)
{
	static const char word[] = "__launch_bounds__";
	const char *bounds = span_find(head, span_of(word));

	bounds = bounds ? text_skip(bounds + strlen(word)) : "";
	return *bounds == '(' ? strtol(bounds + 1, NULL, 10) : 0;
}

static bool declares_extern_shared(struct span body)
{
	for (const char *c = NULL; (c = span_next(body, span_of("__shared__"), c)) != NULL;)
		if (span_is(span_previous(body, c), "extern"))
			return true;
	return false;
}

/* Returns whether the body calls "GROUP.sync()", "GROUP().sync()" or "sync(GROUP)". */
static bool is_synced(struct span body, struct span group)
{
	for (const char *c = NULL; (c = span_next(body, group, c)) != NULL;) {
		const char *after = text_skip(c + (group.end - group.begin)), *before = c;

		after = *after == '(' ? text_matching(after) : after;
		after = after ? text_skip(after) : "";
		if (*after == '.' && (string_starts_with(text_skip(after + 1), "sync") ||
					     string_starts_with(text_skip(after + 1), "barrier_")))
			return true;
		while (before - body.begin > 2 && before[-1] == ':')
			before = span_word_before(body.begin, before - 2).begin;
		before = span_trim((struct span){body.begin, before}).end;
		if (before > body.begin && before[-1] == '(' &&
			span_is(span_previous(body, before - 1), "sync"))
			return true;
	}
	return false;
}

static bool syncs_grid(struct span body)
{
	static const char grid[] = "this_grid", type[] = "grid_group";

	if (span_find(body, span_of("cudaCGSynchronizeGrid")) || is_synced(body, span_of(grid)))
		return true;
	for (const char *c = NULL; (c = span_next(body, span_of(grid), c)) != NULL;) {
		const char *opens = c; /* "auto g = cg::this_grid()" or "auto g(cg::this_grid())" */

		while (opens > body.begin && !strchr("=(;{}", *opens))
			opens--;
		if (strchr("=(", *opens) && is_synced(body, span_previous(body, opens)))
			return true;
	}
	for (const char *c = NULL; (c = span_next(body, span_of(type), c)) != NULL;)
		if (is_synced(body, span_word(text_skip(c + strlen(type)))))
			return true;
	return false;
}

static const char *read_kernel(struct kernel_source *source, const struct text *scope,
	const char *text, struct span global)
{
	struct source_kernel kernel = {0};
	const char *open, *close, *angle = template_before(text, global.begin), *end;
	size_t length;
	const char *name = kernel_name(global.end, &length);
	struct span body;

	open = name ? text_skip(name + length) : NULL;
	close = open ? text_matching(open) : NULL;
	body.begin = close ? text_skip(close) : "";
	if (*body.begin != '{') /* only a declaration */
		return global.end;
	end = text_matching(body.begin);
	body.end = end ? end : body.begin + strlen(body.begin);
	kernel = (struct source_kernel){.name = string_copy_bytes(name, length),
		.scope = string_copy(text_string(scope)),
		.body = span_copy(body),
		.is_tile = span_is(global, "__tile_global__"),
		.is_sized_at_launch = declares_extern_shared(body),
		.grid_count = dimensions_read(body, "blockIdx"),
		.block_count = dimensions_read(body, "threadIdx"),
		.syncs_grid = syncs_grid(body),
		.threads_max = launch_bounds((struct span){global.begin, open})};
	variables_read(
		(struct span){open + 1, close - 1}, &kernel.arguments, &kernel.argument_count);
	if (angle)
		variables_read((struct span){angle + 1, text_matching(angle) - 1},
			&kernel.templates, &kernel.template_count);
	add_kernel(source, &kernel);
	return close;
}

static const char *read_symbol(struct kernel_source *source, const char *text)
{
	const char *end = text + strcspn(text, ";{");
	struct source_variable symbol = variable_read(text, end);

	for (size_t i = 0; i < source->symbol_count; i++)
		if (strcmp(source->symbols[i].name, symbol.name) == 0) {
			source_variable_release(&symbol);
			return end;
		}
	symbol.is_const = true;
	variables_add(&source->symbols, &source->symbol_count, symbol);
	return end;
}

/* The namespaces around a position in the text. */
struct scopes {
	size_t lengths[64]; /* length of `names` outside of each open brace */
	size_t depth;
	struct text names, next; /* e.g. "a::b::"; the namespace whose brace follows */
};

static void scopes_step(struct scopes *scopes, const char *c)
{
	const size_t length = text_word_length(c);

	if (text_word_is(c, length, "namespace")) {
		text_clear(&scopes->next);
		for (c += length; text_is_word(*c) || *c == ':' || isspace((unsigned char)*c); c++)
			if (!isspace((unsigned char)*c))
				text_append_char(&scopes->next, *c);
		if (*c == '{' && scopes->next.length)
			text_append(&scopes->next, "::");
		else
			text_clear(&scopes->next);
	} else if (*c == '{') {
		if (scopes->depth < ARRAY_COUNT(scopes->lengths))
			scopes->lengths[scopes->depth] = scopes->names.length;
		scopes->depth++;
		text_append(&scopes->names, text_string(&scopes->next));
		text_clear(&scopes->next);
	} else if (*c == '}' && scopes->depth) {
		scopes->depth--;
		if (scopes->depth < ARRAY_COUNT(scopes->lengths))
			text_cut(&scopes->names, scopes->lengths[scopes->depth]);
	}
}

static void read_view(struct kernel_source *source, const char *text)
{
	struct scopes scopes = {0};

	for (const char *c = text; *c;) {
		const struct span word = span_word(c);

		scopes_step(&scopes, c);
		if (span_is(word, "__global__") || span_is(word, "__tile_global__"))
			c = read_kernel(source, &scopes.names, text, word);
		else if (span_is(word, "__constant__"))
			c = read_symbol(source, c);
		else
			c = text_after_word(c);
	}
	text_release(&scopes.names);
	text_release(&scopes.next);
}

/* ---- types that the source defines ---- */
/* Replaces a type by its definition in "typedef X NAME", "using NAME = X", "#define NAME X" or an
 * enum. */
static void resolve_type(const char *text, struct source_variable *variable)
{
	const struct span name = span_of(variable->type);

	for (const char *c = NULL; !variable->dtype && (c = span_next(span_of(text), name, c));) {
		const char *begin = c, *behind = text_skip(c + (name.end - name.begin));
		struct span type = {behind, behind + strcspn(behind, "\n")};
		struct source_variable found;

		while (begin > text && !strchr(";{}\n", begin[-1]))
			begin--;
		begin = text_skip(begin);
		if (string_starts_with(begin, "typedef "))
			type = (struct span){begin + strlen("typedef "), c};
		else if (string_starts_with(begin, "using ") && *behind == '=')
			type = (struct span){behind + 1, behind + strcspn(behind, ";")};
		else if (!string_starts_with(begin, "#define ") || begin + strlen("#define ") != c)
			continue;
		found = source_type_read(type.begin, type.end);
		variable->dtype = found.is_pointer ? NULL : found.dtype;
		variable->lanes = found.lanes;
		source_variable_release(&found);
	}
}

static bool is_enum(const char *text, const char *name)
{
	for (const char *c = NULL; (c = span_next(span_of(text), span_of("enum"), c)) != NULL;) {
		const char *open = c + strcspn(c, "{;()"), *colon = c + strcspn(c, "{;():");
		const char *close = *open == '{' ? text_matching(open) : NULL;

		if (close && (span_is(span_previous((struct span){c, colon}, colon), name) ||
				     span_is(span_word(text_skip(close)), name)))
			return true;
	}
	return false;
}

static void resolve(const char *text, struct source_variable *variable)
{
	if (variable->dtype)
		return;
	variable->is_enum = is_enum(text, variable->type);
	if (variable->is_enum)
		variable->dtype = "i32";
	else
		resolve_type(text, variable);
}

struct source_variable source_variable_read(const char *text, const char *begin, const char *end)
{
	struct source_variable variable = variable_read(begin, end);

	resolve(text, &variable);
	return variable;
}

void kernel_source_read(const char *text, const char *headers, struct kernel_source *source)
{
	CLEANUP(text_release) struct text device = {0};
	CLEANUP(branches_release) struct branches branches = {0};
	struct code code, header_code = {0};
	struct view view;

	*source = (struct kernel_source){0};
	text_append(&device, text);
	host_code_blank(&device);
	code_read(text_string(&device), device.length, &code);
	if (headers)
		code_read(headers, strlen(headers), &header_code);
	while (code_view(&code, &branches, &view)) {
		read_view(source, view.text);
		view_release(&view);
	}
	for (size_t i = 0; headers && i < source->kernel_count; i++)
		for (size_t k = 0; k < source->kernels[i].argument_count; k++)
			resolve(header_code.text, &source->kernels[i].arguments[k]);
	kernel_source_read_macros(&code, headers ? &header_code : NULL, source);
	code_release(&header_code);
	code_release(&code);
}

void kernel_source_release(struct kernel_source *source)
{
	for (size_t i = 0; i < source->kernel_count; i++)
		kernel_release(&source->kernels[i]);
	for (size_t i = 0; i < source->macro_count; i++) {
		free(source->macros[i].name);
		free(source->macros[i].default_value);
	}
	variables_release(source->symbols, source->symbol_count);
	name_set_release(&source->heads);
	name_set_release(&source->macro_names);
	name_set_release(&source->defined);
	name_set_release(&source->asked);
	free(source->kernels);
	free(source->macros);
	*source = (struct kernel_source){0};
}
