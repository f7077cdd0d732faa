/* SPDX-License-Identifier: MIT */
#include "source/draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/format_text.h"
#include "base/memory.h"
#include "expr/expression.h"

static struct json *marks(void)
{
	struct json *list = json_new_array();

	json_push(list, json_new_string(DRAFT_MARK));
	return list;
}

/* ---- arguments ---- */
static struct json *tensor_of(const struct source_variable *variable)
{
	struct json *tensor = json_new_object(), *shape = marks();

	if (variable->lanes > 1)
		json_push(shape, json_new_int(variable->lanes));
	json_put(tensor, "shape", shape);
	json_put_string(tensor, "dtype", variable->dtype ? variable->dtype : DRAFT_MARK);
	json_put_string(
		tensor, "role", variable->is_const || !variable->is_pointer ? "in" : DRAFT_MARK);
	return tensor;
}

/* Returns the argument type of a scalar ("f32" for "fp32"), or NULL. */
static char *scalar_of(const struct source_variable *argument)
{
	const char *dtype = argument->dtype;

	if (!dtype || argument->lanes > 1 || string_starts_with(dtype, "fp8"))
		return NULL;
	return string_format("%s%s", string_starts_with(dtype, "fp") ? "f" : "",
		string_starts_with(dtype, "fp") ? dtype + strlen("fp") : dtype);
}

static void add_argument(const struct source_variable *argument, struct json *keys,
	struct json *tensors, struct json *arguments)
{
	/* `in` and `range` are keywords of the expression language. */
	const bool is_word = !name_is_valid(argument->name) || name_is_function(argument->name);
	CLEANUP(memory_free)
	char *name = string_format("%s%s", argument->name, is_word ? "_" : "");
	CLEANUP(memory_free) char *type = argument->is_pointer ? NULL : scalar_of(argument);
	const bool is_integer = type && strchr("iu", type[0]);
	struct json *scalar;

	if (argument->is_pointer)
		json_put(tensors, name, tensor_of(argument));
	if (is_integer)
		json_put(keys, name, json_new_object());
	if (argument->is_pointer || (is_integer && strcmp(type, "i32") == 0)) {
		json_push(arguments, json_new_string(name));
		return;
	}
	scalar = json_new_object();
	json_put_string(scalar, "value", is_integer ? name : DRAFT_MARK);
	json_put_string(scalar, "type", type ? type : DRAFT_MARK);
	json_push(arguments, scalar);
}

/* ---- parameters ---- */
/* Makes e.g. "sgemm<{BM}, {BN}>". Parameters that the entry reads are not passed as macros. */
static char *entry_of(const struct source_kernel *kernel, struct json *parameters)
{
	struct text entry = {0};

	text_append(&entry, kernel->name);
	for (size_t i = 0; i < kernel->template_count; i++) {
		text_appendf(&entry, "%s{%s}", i ? ", " : "<", kernel->templates[i].name);
		json_put(parameters, kernel->templates[i].name, marks());
	}
	text_append(&entry, kernel->template_count ? ">" : "");
	return text_detach(&entry);
}

static void add_parameter(
	const struct source_macro *macro, struct json *parameters, struct json *defaults)
{
	char *end = NULL;
	const long long value = macro->default_value ? strtoll(macro->default_value, &end, 10) : 0;
	const bool is_number = end && end != macro->default_value && !*end;
	struct json *list = marks();

	if (is_number) {
		json_push(list, json_new_int(value));
		json_put_int(defaults, macro->name, value);
	}
	json_put(parameters, macro->name, list);
}

/* ---- the whole ---- */
static void put_unless_empty(struct json *tree, const char *key, struct json *object)
{
	const struct json_at at = json_root(object, "");

	if (json_count(&at))
		json_put(tree, key, object);
	else
		json_free(object);
}

static struct json *launches_of(
	const char *entry, const struct source_kernel *kernel, struct json *arguments)
{
	struct json *launch = json_new_object(), *launches = json_new_array();

	json_put_string(launch, "entry", entry);
	json_put(launch, "grid", marks());
	json_put(launch, "block", marks());
	if (kernel->is_sized_at_launch)
		json_put_string(launch, "smem_bytes", DRAFT_MARK);
	json_put(launch, "args", arguments);
	json_push(launches, launch);
	return launches;
}

struct json *draft_new(
	const struct kernel_source *source, const struct source_kernel *kernel, const char *file)
{
	struct json *tree = json_new_object(), *keys = json_new_object(),
		    *tensors = json_new_object(), *parameters = json_new_object(),
		    *defaults = json_new_object(), *arguments = json_new_array(),
		    *symbols = json_new_object();
	CLEANUP(memory_free) char *entry = entry_of(kernel, parameters);
	const struct json_at key = json_root(keys, "");

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
	if (!json_count(&key))
		json_put_string(keys, DRAFT_MARK, DRAFT_MARK);
	json_put(tree, "keys", keys);
	put_unless_empty(tree, "tensors", tensors);
	put_unless_empty(tree, "parameters", parameters);
	put_unless_empty(tree, "defaults", defaults);
	if (source->expects_kernel_tuner) {
		struct json *constants = json_new_object();

		json_put_int(constants, "kernel_tuner", 1);
		json_put(tree, "constants", constants);
	}
	put_unless_empty(tree, "symbols", symbols);
	json_put(tree, "launches", launches_of(entry, kernel, arguments));
	return tree;
}

void draft_remarks(const struct kernel_source *source, const struct source_kernel *kernel,
	const char *file, bool chose_first, struct text *remarks)
{
	CLEANUP(text_release) struct text fixed = {0};
	CLEANUP(name_set_release) struct name_set named = {0};
	size_t heads = 0;

	name_set_add(&named, kernel->name, strlen(kernel->name));
	for (size_t i = 0; i < source->kernel_count; i++) {
		const char *name = source->kernels[i].name;
		const size_t known = named.count;

		heads += strcmp(name, kernel->name) == 0;
		name_set_add(&named, name, strlen(name));
		if (chose_first && named.count > known)
			format_put(remarks, format_shown, "%s also has %s (--entry)\n", file, name);
	}
	if (heads > 1)
		format_put(remarks, format_shown,
			"%s has %zu heads of %s, as branches of #if or by their arguments: the "
			"draft is of the first\n",
			file, heads, kernel->name);
	for (size_t i = 0; i < source->fixed.count; i++)
		text_append_listed(&fixed, source->fixed.items[i]);
	if (fixed.length)
		format_put(remarks, format_shown,
			"%s defines %s: to make such a macro a parameter, write #ifndef NAME "
			"before its #define and #endif behind it\n",
			file, fixed.data);
}
