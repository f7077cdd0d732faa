/* SPDX-License-Identifier: MIT */
#include "import/draft.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "expr/expression.h"
#include "expr/operator.h"

/* ---- parameters ---- */
static struct json *marks(size_t count)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(list, json_new_string(DRAFT_MARK));
	return list;
}

/* 'x', 'y' or 'z' of what sounds like the threads of a block along it; '\0': it does not. */
static char block_axis(const char *name)
{
	const size_t length = strlen(name);
	const char last = length ? name[length - 1] : '\0', *block = strcasestr(name, "block");
	const char *after = block ? block + strlen("block") : NULL;
	/* BLOCK, BLOCK_X, blockX */
	const bool is_block =
		after && (!*after || (strchr("xyzXYZ", after[*after == '_']) &&
					     after + (*after == '_') == name + length - 1));

	if (!block && !strcasestr(name, "thread") && !strcasestr(name, "work_group"))
		return '\0';
	if (!is_block && !strcasestr(name, "size") && !strcasestr(name, "dim") &&
		!strcasestr(name, "threads"))
		return '\0';
	return last && strchr("xyzXYZ", last) ? (char)(last | 0x20) : 'x';
}

static struct json *proposed_values(const struct source_macro *macro)
{
	static const int threads[] = {16, 32, 64, 128, 256, 512, 1024}, rows[] = {1, 2, 4, 8, 16};
	const char axis = block_axis(macro->name);
	const int64_t only = macro->compared_count == 1 ? macro->compared[0] : -1;
	struct json *list = json_new_array();

	/* `#if X == 1` alone is a switch; of `#if X == 4` what else it may be is not known */
	if (only == 1)
		json_push(list, json_new_int(0));
	else if (only > 1 && !macro->otherwise)
		json_push(list, json_new_string(DRAFT_MARK));
	for (size_t i = 0; i < macro->compared_count; i++)
		json_push(list, json_new_int(macro->compared[i]));
	if (only == 0)
		json_push(list, json_new_int(1));
	if (macro->compared_count)
		return list;
	for (size_t i = 0; axis == 'x' && i < ARRAY_COUNT(threads); i++)
		json_push(list, json_new_int(threads[i]));
	for (size_t i = 0; axis == 'y' && i < ARRAY_COUNT(rows); i++)
		json_push(list, json_new_int(rows[i]));
	if (axis == 'z')
		json_push(list, json_new_int(1));
	if (!axis)
		json_push(list, json_new_string(DRAFT_MARK));
	return list;
}

static bool has_value(const struct json *list, int64_t value)
{
	const struct json_at at = json_root(list, "");
	struct json_at item = {0};
	int64_t found;

	while (json_next(&at, &item))
		if (json_get_int(&item, &found, NULL) == STATUS_OK && found == value)
			return true;
	return false;
}

static void add_parameter(
	const struct source_macro *macro, struct json *parameters, struct json *defaults)
{
	struct json *values = proposed_values(macro);
	char *end = NULL;
	const long long otherwise = macro->otherwise ? strtoll(macro->otherwise, &end, 10) : 0;

	json_put(parameters, macro->name, values);
	if (!end || end == macro->otherwise || *end)
		return;
	if (!has_value(values, otherwise))
		json_push(values, json_new_int(otherwise));
	json_put_int(defaults, macro->name, otherwise);
}

/* ---- arguments ---- */
static struct json *tensor_of(const struct source_variable *variable)
{
	struct json *tensor = json_new_object(), *shape = marks(1);
	const char *role = variable->is_const || !variable->is_pointer ? "in"
			   : variable->is_unclear                      ? DRAFT_MARK
			   : !variable->is_written                     ? "in"
			   : variable->is_read                         ? "inout"
								       : "out";

	if (variable->lanes > 1)
		json_push(shape, json_new_int(variable->lanes));
	json_put(tensor, "shape", shape);
	json_put_string(tensor, "dtype", variable->dtype ? variable->dtype : DRAFT_MARK);
	json_put_string(tensor, "role", role);
	return tensor;
}

static void add_argument(const struct source_variable *argument, struct json *keys,
	struct json *tensors, struct json *arguments)
{
	/* `in` and `range` are words of expressions */
	const bool is_word = !name_is_valid(argument->name) ||
			     function_find(argument->name, strlen(argument->name));
	CLEANUP(memory_free)
	char *name = string_format("%s%s", argument->name, is_word ? "_" : "");
	struct json *scalar;

	if (argument->is_pointer) {
		json_put(tensors, name, tensor_of(argument));
		json_push(arguments, json_new_string(name));
		return;
	}
	if (argument->is_integer)
		json_put(keys, name, json_new_object());
	if (argument->is_integer && strcmp(argument->scalar, "i32") == 0) {
		json_push(arguments, json_new_string(name));
		return;
	}
	scalar = json_new_object();
	json_put_string(scalar, "value", argument->is_integer ? name : DRAFT_MARK);
	json_put_string(scalar, "type", argument->scalar ? argument->scalar : DRAFT_MARK);
	json_push(arguments, scalar);
}

/* "sgemm<{BM}, {BN}>": what an entry reads is no macro. */
static char *entry_of(const struct source_kernel *kernel, struct json *parameters)
{
	struct text entry = {0};

	text_append(&entry, kernel->name);
	for (size_t i = 0; i < kernel->template_count; i++) {
		const struct source_variable *one = &kernel->templates[i];

		text_appendf(&entry, "%s{%s}", i ? ", " : "<", one->name);
		json_put(parameters, one->name,
			proposed_values(&(struct source_macro){.name = one->name}));
	}
	text_append(&entry, kernel->template_count ? ">" : "");
	return text_detach(&entry);
}

/* Threads along each axis, where parameters sound like it. */
static struct json *block_of(const struct json *parameters)
{
	const struct json_at at = json_root(parameters, "");
	struct json *block = json_new_array();
	size_t rank = 0;

	for (const char *axis = "xyz"; *axis; axis++) {
		struct json_at item = {0};

		while (rank == (size_t)(*axis - 'x') && json_next(&at, &item))
			if (block_axis(item.key) == *axis) {
				json_push(block, json_new_string(item.key));
				rank++;
			}
	}
	if (!rank)
		json_push(block, json_new_string(DRAFT_MARK));
	return block;
}

struct json *draft_new(
	const struct kernel_source *source, const struct source_kernel *kernel, const char *file)
{
	struct json *tree = json_new_object(), *keys = json_new_object(),
		    *tensors = json_new_object(), *parameters = json_new_object(),
		    *defaults = json_new_object(), *arguments = json_new_array(),
		    *launch = json_new_object(), *launches = json_new_array(),
		    *symbols = json_new_object(), *constants = json_new_object();
	CLEANUP(memory_free) char *entry = entry_of(kernel, parameters);

	json_put_string(tree, "format", "tiletune.own_kernel/1");
	json_put_string(tree, "source", file);
	for (size_t i = 0; i < kernel->argument_count; i++)
		add_argument(&kernel->arguments[i], keys, tensors, arguments);
	for (size_t i = 0; i < source->symbol_count; i++) {
		json_put(tensors, source->symbols[i].name, tensor_of(&source->symbols[i]));
		json_put_string(symbols, source->symbols[i].name, source->symbols[i].name);
	}
	for (size_t i = 0; i < source->macro_count; i++)
		add_parameter(&source->macros[i], parameters, defaults);
	if (!kernel->argument_count || !json_count(&(struct json_at){.node = keys}))
		json_put(keys, DRAFT_MARK, json_new_string(DRAFT_MARK));
	json_put(tree, "keys", keys);
	json_put(tree, "tensors", tensors);
	json_put(tree, "parameters", parameters);
	json_put(tree, "defaults", defaults);
	if (source->expects_kernel_tuner)
		json_put_int(constants, "kernel_tuner", 1);
	json_put(tree, "constants", constants);
	json_put(tree, "symbols", symbols);
	json_put_string(launch, "entry", entry);
	json_put(launch, "grid", marks(1));
	json_put(launch, "block", block_of(parameters));
	json_put(launch, "args", arguments);
	json_push(launches, launch);
	json_put(tree, "launches", launches);
	return tree;
}

/* ---- text ---- */
static void print_inline(const struct json_at *at, struct text *text)
{
	const bool is_object = json_type(at) == JSON_OBJECT;
	struct json_at item = {0};

	if (!is_object && json_type(at) != JSON_ARRAY) {
		CLEANUP(memory_free) char *printed = json_print(at->node, false);

		text_append(text, printed);
		return;
	}
	text_append_char(text, is_object ? '{' : '[');
	while (json_next(at, &item)) {
		text_append(text, item.index ? ", " : "");
		if (is_object)
			text_appendf(text, "\"%s\": ", item.key);
		print_inline(&item, text);
	}
	text_append_char(text, is_object ? '}' : ']');
}

static bool is_empty(const struct json_at *at)
{
	return (json_type(at) == JSON_OBJECT || json_type(at) == JSON_ARRAY) && !json_count(at);
}

/* A member; one of many members has a line for each. */
static void print_member(const struct json_at *member, bool is_last, struct text *text)
{
	const bool is_object = json_type(member) == JSON_OBJECT && json_count(member) > 1;
	struct json_at item = {0};

	text_appendf(text, "\t\"%s\": ", member->key);
	if (is_object)
		text_append(text, "{\n");
	else
		print_inline(member, text);
	while (is_object && json_next(member, &item)) {
		text_appendf(text, "\t\t\"%s\": ", item.key);
		print_inline(&item, text);
		text_append(text, item.index + 1 < json_count(member) ? ",\n" : "\n\t}");
	}
	text_append(text, is_last ? "\n" : ",\n");
}

void draft_print(const struct json *tree, struct text *text)
{
	const struct json_at root = json_root(tree, "");
	struct json_at member = {0};
	size_t left = 0;

	while (json_next(&root, &member))
		left += !is_empty(&member);
	text_append(text, "{\n");
	member = (struct json_at){0};
	while (json_next(&root, &member))
		if (!is_empty(&member))
			print_member(&member, --left == 0, text);
	text_append(text, "}\n");
}
