/* SPDX-License-Identifier: MIT */
#include "import/t1.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "expr/expression.h"
#include "import/t1_file.h"

static const char *const axes[T1_DIMENSIONS] = {"X", "Y", "Z"};
static const char *const block_names[T1_DIMENSIONS] = {
	"block_size_x", "block_size_y", "block_size_z"};
static const char *const grid_names[T1_DIMENSIONS] = {"grid_size_x", "grid_size_y", "grid_size_z"};

static void t1_release(struct t1 *t1)
{
	for (size_t i = 0; i < T1_DIMENSIONS; i++) {
		free(t1->grid[i]);
		free(t1->block[i]);
	}
	json_free(t1->own);
	json_free(t1->keys);
	json_free(t1->tensors);
	json_free(t1->symbols);
	json_free(t1->arguments);
	json_free(t1->references);
}

bool t1_is(const struct json_at *root)
{
	struct json_at member;

	return json_type(root) == JSON_OBJECT && json_find(root, "KernelSpecification", &member) &&
	       json_find(root, "ConfigurationSpace", &member);
}

/* ---- parameters and conditions ---- */
static void expression_drop(struct expression **expression)
{
	expression_free(*expression);
}

/* Whether a parameter may have the value, as far as that can be told: public files have defaults
 * that are none of the values, and these say nothing. */
static bool may_have(const struct json *parameters, const char *name, const struct json_at *value)
{
	const struct json_at root = json_root(parameters, "");
	const struct name_table no_names = {0};
	CLEANUP(memory_free) char *printed = json_print(value->node, false), *list = NULL;
	CLEANUP(memory_free) char *question = NULL;
	CLEANUP(expression_drop) struct expression *expression = NULL;
	struct json_at values;
	const char *python = NULL;
	bool has = true;

	json_find(&root, name, &values);
	if (json_get_string(&values, &python, NULL) != STATUS_OK)
		python = list = json_print(values.node, false);
	question = string_format("%s in (%s)", printed, python);
	if (expression_compile(question, "", &no_names, &expression, NULL) != STATUS_OK ||
		expression_test(expression, NULL, &has, NULL) != STATUS_OK)
		return true;
	return has;
}

static enum status convert_parameter(const struct t1 *t1, const struct json_at *parameter,
	struct json *parameters, struct json *defaults, struct error *err)
{
	static const char *const types[] = {"int", "uint", "float", "bool", NULL};
	struct json_at values, chosen;
	const char *name, *python;
	int type;

	TRY(json_member_string(parameter, "Name", &name, err));
	TRY(t1_name(parameter, "Type", types, 0, &type, err));
	TRY(json_member(parameter, "Values", &values, err));
	if (json_get_string(&values, &python, NULL) == STATUS_OK)
		t1_put_python(t1, parameters, name, python, false, NULL);
	else if (json_type(&values) == JSON_ARRAY)
		json_put(parameters, name, json_copy(values.node));
	else
		return json_error(&values, err, "a list, or Python text of one");
	if (!t1_find(parameter, "Default", &chosen))
		return STATUS_OK;
	if (json_type(&chosen) == JSON_ARRAY && json_count(&chosen))
		chosen = json_item(&chosen, 0);
	if (may_have(parameters, name, &chosen))
		json_put(defaults, name, json_copy(chosen.node));
	return STATUS_OK;
}

static enum status convert_space(struct t1 *t1, struct error *err)
{
	struct json *parameters = json_new_object(), *defaults = json_new_object(),
		    *constraints = json_new_array();
	struct json_at conditions, item = {0};
	const char *python;

	json_put(t1->own, "parameters", parameters);
	json_put(t1->own, "defaults", defaults);
	json_put(t1->own, "constraints", constraints);
	json_find(&t1->root, "ConfigurationSpace", &t1->space);
	TRY(t1_list(&t1->space, "TuningParameters", &t1->parameters, err));
	while (json_next(&t1->parameters, &item))
		TRY(convert_parameter(t1, &item, parameters, defaults, err));
	if (!t1_find(&t1->space, "Conditions", &conditions))
		return STATUS_OK;
	TRY(json_expect(&conditions, JSON_ARRAY, err));
	item = (struct json_at){0};
	while (json_next(&conditions, &item)) {
		struct json *constraint = json_new_object();

		json_push(constraints, constraint);
		TRY(json_member_string(&item, "Expression", &python, err));
		t1_put_python(t1, constraint, "expr", python, false, NULL);
		json_put_string(constraint, "why", "a condition of the T1 file");
	}
	return STATUS_OK;
}

/* ---- grid and block ---- */
static enum status convert_problem(struct t1 *t1, struct error *err)
{
	struct json_at sizes, item = {0};
	int64_t size;

	t1->has_problem = t1_find(&t1->specification, "ProblemSize", &sizes);
	if (!t1->has_problem)
		return STATUS_OK;
	if (json_type(&sizes) != JSON_ARRAY) {
		TRY(json_get_int(&sizes, &size, err));
		t1_add_key(t1, t1_problem_keys[0], size);
		t1->problem_rank = 1;
		return STATUS_OK;
	}
	while (json_next(&sizes, &item)) {
		if (item.index >= T1_DIMENSIONS)
			return json_error(&item, err, "at most %d sizes", T1_DIMENSIONS);
		TRY(json_get_int(&item, &size, err));
		t1_add_key(t1, t1_problem_keys[item.index], size);
		t1->problem_rank = item.index + 1;
	}
	return t1->problem_rank ? STATUS_OK : json_error(&sizes, err, "at least one size");
}

/* The members X, Y, Z of a size; 1 where there is none. */
static enum status size_member(const struct t1 *t1, const char *name, bool is_needed,
	char *sizes[T1_DIMENSIONS], struct error *err)
{
	struct json_at size;

	if (!t1_find(&t1->specification, name, &size))
		return is_needed ? json_member(&t1->specification, name, &size, err) : STATUS_OK;
	for (size_t i = 0; i < T1_DIMENSIONS; i++) {
		TRY(t1_text(&size, axes[i], &sizes[i], err));
		if (!sizes[i])
			sizes[i] = string_copy("1");
	}
	return STATUS_OK;
}

/* Kernel Tuner's: the parameter of that name, in whatever case; NULL: there is none. */
static const char *block_parameter(const struct t1 *t1, size_t axis)
{
	struct json_at item = {0};
	const char *name;

	while (json_next(&t1->parameters, &item))
		if (json_member_string(&item, "Name", &name, NULL) == STATUS_OK &&
			strcasecmp(name, block_names[axis]) == 0)
			return name;
	return NULL;
}

/* The product of the divisors; without a list the block size, if it is a parameter. */
static enum status divisor(
	const struct t1 *t1, size_t axis, struct text *product, struct error *err)
{
	CLEANUP(memory_free) char *key = string_format("GridDiv%s", axes[axis]);
	const char *block = block_parameter(t1, axis);
	struct json_at list, item = {0};

	if (!t1_find(&t1->specification, key, &list) ||
		(json_type(&list) == JSON_ARRAY && !json_count(&list))) {
		text_append(product, block ? block : "1");
		return STATUS_OK;
	}
	TRY(json_expect(&list, JSON_ARRAY, err));
	while (json_next(&list, &item)) {
		CLEANUP(memory_free) char *printed = NULL;
		const char *python;

		text_append(product, item.index ? "*" : "");
		if (json_type(&item) == JSON_NUMBER) {
			printed = json_print(item.node, false);
			python = printed;
		} else
			TRY(json_get_string(&item, &python, err));
		text_appendf(product, "(%s)", python);
	}
	return STATUS_OK;
}

static enum status convert_sizes(struct t1 *t1, struct error *err)
{
	static const char *const kinds[] = {"CUDA", "OpenCL", "Vulkan", NULL};
	int kind;

	TRY(t1_name(&t1->specification, "GlobalSizeType", kinds, 0, &kind, err));
	TRY(size_member(t1, "LocalSize", !t1->has_problem, t1->block, err));
	for (size_t i = 0; i < T1_DIMENSIONS; i++) {
		const char *block = block_parameter(t1, i);

		if (!t1->block[i])
			t1->block[i] = string_copy(block ? block : i == 0 ? "256" : "1");
	}
	if (!t1->has_problem)
		TRY(size_member(t1, "GlobalSize", true, t1->grid, err));
	for (size_t i = 0; i < T1_DIMENSIONS; i++) {
		CLEANUP(text_release) struct text product = {0};

		if (i < t1->problem_rank) {
			TRY(divisor(t1, i, &product, err));
			t1->grid[i] = string_format(
				"ceil_div(%s, %s)", t1_problem_keys[i], text_string(&product));
		} else if (t1->has_problem) {
			t1->grid[i] = string_copy("1");
		} else if (kind != 0) {
			CLEANUP(memory_free) char *threads = t1->grid[i];

			t1->grid[i] = string_format("ceil_div(%s, %s)", threads, t1->block[i]);
		}
	}
	return STATUS_OK;
}

/* Macros that Kernel Tuner adds to the parameters. */
static void convert_macros(struct t1 *t1)
{
	struct json *constants = json_new_object();
	struct json_at parameter;

	json_put(t1->own, "constants", constants);
	json_put_int(constants, "kernel_tuner", 1);
	for (size_t i = 0; i < T1_DIMENSIONS; i++) {
		if (!t1_parameter(t1, block_names[i], strlen(block_names[i]), &parameter))
			json_put_string(constants, block_names[i], t1->block[i]);
		json_put_string(constants, grid_names[i], t1->grid[i]);
	}
}

/* ---- the kernel ---- */
/* The file, relative to that of T1: beside it, or in the folder above (where Kernel Tuner looks).
 */
static enum status convert_source(struct t1 *t1, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(t1->root.file);
	CLEANUP(memory_free) char *beside = NULL, *above = NULL;
	const char *file;
	struct json_at at;

	TRY(json_member(&t1->specification, "KernelFile", &at, err));
	TRY(json_get_string(&at, &file, err));
	beside = path_join(folder, file);
	above = string_format("../%s", file);
	if (!file_exists(beside)) {
		CLEANUP(memory_free) char *path = path_join(folder, above);

		if (!file_exists(path))
			return json_error(&at, err, "a file of %s", folder);
		file = above;
	}
	json_put_string(t1->own, "source", file);
	return STATUS_OK;
}

/* Onto a list of the object, which begins with the first of them. */
static void push_string(
	struct json *object, const char *key, struct json **list, const char *string)
{
	if (!*list)
		json_put(object, key, *list = json_new_array());
	json_push(*list, json_new_string(string));
}

/* As NVRTC documents them: two hyphens before a word, but for -std. Folders are no options here. */
static enum status convert_options(struct t1 *t1, struct error *err)
{
	struct json *options = NULL, *folders = NULL;
	struct json_at list, item = {0};
	const char *option;

	if (!t1_find(&t1->specification, "CompilerOptions", &list))
		return STATUS_OK;
	TRY(json_expect(&list, JSON_ARRAY, err));
	while (json_next(&list, &item)) {
		CLEANUP(memory_free) char *word = NULL;

		TRY(json_get_string(&item, &option, err));
		word = string_format("-%s", option);
		if (string_starts_with(option, "-I"))
			push_string(t1->own, "include_paths", &folders, option + strlen("-I"));
		else if (*option)
			push_string(t1->own, "options", &options,
				(option[0] == '-' && option[1] != '-' &&
							!string_starts_with(option, "-std=") &&
							islower((unsigned char)option[1])
						? word
						: option));
	}
	return STATUS_OK;
}

static void push_sizes(struct json *launch, const char *key, char *const sizes[T1_DIMENSIONS])
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < T1_DIMENSIONS; i++)
		json_push(list, json_new_string(sizes[i]));
	json_put(launch, key, list);
}

static enum status convert_launch(struct t1 *t1, struct error *err)
{
	struct json *launch = json_new_object(), *launches = json_new_array();
	CLEANUP(memory_free) char *smem = NULL;
	const char *entry;

	json_push(launches, launch);
	json_put(t1->own, "launches", launches);
	TRY(json_member_string(&t1->specification, "KernelName", &entry, err));
	json_put_string(launch, "entry", entry);
	push_sizes(launch, "grid", t1->grid);
	push_sizes(launch, "block", t1->block);
	TRY(t1_text(&t1->specification, "SharedMemory", &smem, err));
	if (smem)
		json_put_string(launch, "smem_bytes", smem);
	json_put(launch, "args", t1->arguments);
	t1->arguments = NULL;
	return STATUS_OK;
}

static enum status convert(struct t1 *t1, struct error *err)
{
	struct json_at language;
	const char *name;

	TRY(json_member(&t1->specification, "Language", &language, err));
	TRY(json_get_string(&language, &name, err));
	if (strcasecmp(name, "CUDA") != 0)
		return json_error(&language, err, "\"CUDA\"");
	TRY(convert_source(t1, err));
	TRY(convert_options(t1, err));
	TRY(convert_space(t1, err));
	TRY(convert_problem(t1, err));
	TRY(convert_sizes(t1, err));
	if (t1->has_problem)
		convert_macros(t1);
	TRY(t1_arguments(t1, err));
	return convert_launch(t1, err);
}

static void put_unless_empty(struct json *object, const char *key, struct json **child)
{
	const struct json_at at = json_root(*child, "");

	if (!json_count(&at))
		return;
	json_put(object, key, *child);
	*child = NULL;
}

enum status t1_convert(const struct json_at *root, struct json **own, struct error *err)
{
	CLEANUP(t1_release)
	struct t1 t1 = {.root = *root,
		.own = json_new_object(),
		.keys = json_new_object(),
		.tensors = json_new_object(),
		.symbols = json_new_object(),
		.arguments = json_new_array(),
		.references = json_new_array()};

	*own = NULL;
	json_put_string(t1.own, "format", "tiletune.own_kernel/1");
	json_find(root, "KernelSpecification", &t1.specification);
	TRY(convert(&t1, err));
	json_put(t1.own, "keys", t1.keys);
	json_put(t1.own, "tensors", t1.tensors);
	put_unless_empty(t1.own, "symbols", &t1.symbols);
	put_unless_empty(t1.own, "reference", &t1.references);
	t1.keys = t1.tensors = NULL;
	*own = t1.own;
	t1.own = NULL;
	return STATUS_OK;
}
