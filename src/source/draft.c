/* SPDX-License-Identifier: MIT */
#include "source/draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/format_text.h"
#include "base/memory.h"
#include "expr/expression.h"
#include "source/launch_site.h"
#include "source/span.h"
#include "source/tensor_use.h"
#include "source/tile_view.h"
#include "source/words.h"

struct draft {
	const struct kernel_source *source;
	const struct source_kernel *kernel;
	struct launch_site site;
	struct tile_view views[TILE_VIEWS_MAX]; /* used for a tile kernel */
	size_t view_count;
	struct json *keys, *tensors, *parameters, *defaults, *constants, *arguments;
	struct name_set names; /* keys and parameters, which expressions may read */
	struct name_set sizes; /* keys, which shapes may read */
	struct name_set used;
};

static bool is_known(const struct draft *draft, const char *name)
{
	return name_set_has(&draft->names, name, strlen(name));
}

/* Frees the value if the draft has a key or a parameter of this name. */
static void put_named(
	struct draft *draft, struct json *object, const char *name, struct json *value)
{
	if (is_known(draft, name)) {
		json_free(value);
		return;
	}
	json_put(object, name, value);
	name_set_add(&draft->names, name, strlen(name));
	if (object == draft->keys)
		name_set_add(&draft->sizes, name, strlen(name));
}

static struct json *list_of(const char *word)
{
	struct json *list = json_new_array();

	json_push(list, json_new_string(word));
	return list;
}

static bool read_integer(const char *text, long long *value)
{
	char *end;

	if (!text)
		return false;
	*value = strtoll(text, &end, 10);
	return end != text && !*end;
}

static bool is_type(const struct source_variable *template)
{
	return string_starts_with(template->type, "typename") ||
	       string_starts_with(template->type, "class");
}

static const char *template_value(const struct draft *draft, size_t index)
{
	const char *given =
		index < ARRAY_COUNT(draft->site.templates) ? draft->site.templates[index] : NULL;

	/* a default is better than "(N)" or a host variable */
	if (given && (is_type(&draft->kernel->templates[index]) || isdigit((unsigned char)*given)))
		return given;
	return draft->kernel->templates[index].value ? draft->kernel->templates[index].value
						     : given;
}

/* Replaces the template type of an argument "T *x" by the launch's type, or else by float. */
static struct source_variable argument_type(
	const struct draft *draft, const struct source_variable *argument, const char **type)
{
	struct source_variable made = *argument;

	*type = NULL;
	for (size_t i = 0; i < draft->kernel->template_count && !argument->dtype; i++) {
		const struct source_variable *template = &draft->kernel->templates[i];
		const char *value = template_value(draft, i);
		struct source_variable found;

		if (!is_type(template) || strcmp(template->name, argument->type) != 0)
			continue;
		value = value ? value : "float";
		found = source_type_read(value, value + strlen(value));
		*type = found.dtype ? value : "float";
		made.dtype = found.dtype ? found.dtype : "fp32";
		made.lanes = found.dtype ? found.lanes : 1;
		source_variable_release(&found);
	}
	return made;
}

/* Derives a pointer's role from its uses. If the body passes it on, the only pointer that is not
 * const is the output. */
static const char *role_of(const struct draft *draft, const struct source_variable *variable)
{
	struct tensor_use use = tensor_use_read(draft->kernel->body, variable->name);
	size_t written = 0;

	for (size_t i = 0; i < draft->view_count; i++) {
		const struct tile_view *view = &draft->views[i];

		if (strcmp(view->tensor, variable->name) != 0)
			continue;
		use.unclear = 0;
		use.reads |= view->reads;
		use.writes |= view->writes;
	}
	for (size_t i = 0; i < draft->kernel->argument_count; i++)
		written += draft->kernel->arguments[i].is_pointer &&
			   !draft->kernel->arguments[i].is_const;
	if (variable->is_const || !variable->is_pointer)
		return "in";
	if (!use.unclear && (use.reads || use.writes))
		return use.reads && use.writes ? "inout" : use.reads ? "in" : "out";
	return written == 1 && draft->kernel->argument_count > 1 && use.unclear < 2 && !use.reads
		       ? "out"
		       : DRAFT_MARK;
}

static struct json *expression_or_mark(const struct name_set *allowed, const char *text);

static const struct tile_view *view_of(const struct draft *draft, const char *tensor)
{
	for (size_t i = 0; i < draft->view_count; i++)
		if (strcmp(draft->views[i].tensor, tensor) == 0)
			return &draft->views[i];
	return NULL;
}

static struct json *shape_of(const struct draft *draft, const struct source_variable *variable)
{
	char *dimensions[TENSOR_DIMENSIONS_MAX];
	const struct tile_view *view = view_of(draft, variable->name);
	const size_t count = view ? 0
				  : tensor_shape_read(draft->kernel->body, variable->name,
					    &draft->site, &draft->sizes, dimensions);
	struct json *shape = json_new_array();

	for (size_t i = 0; view && i < view->dimension_count; i++)
		json_push(shape, expression_or_mark(&draft->sizes, view->dimensions[i].extent));
	for (size_t i = 0; i < count; i++) {
		json_push(shape, expression_or_mark(&draft->sizes, dimensions[i]));
		free(dimensions[i]);
	}
	if (!count && !view)
		json_push(shape, json_new_string(DRAFT_MARK));
	if (variable->lanes > 1)
		json_push(shape, json_new_int(variable->lanes));
	return shape;
}

static void add_tensor(struct draft *draft, const struct source_variable *declared)
{
	const char *of_template;
	const struct source_variable variable = argument_type(draft, declared, &of_template);
	struct json *tensor = json_new_object();

	json_put(tensor, "shape", shape_of(draft, &variable));
	json_put_string(tensor, "dtype", variable.dtype ? variable.dtype : DRAFT_MARK);
	json_put_string(tensor, "role", role_of(draft, &variable));
	json_put(draft->tensors, variable.name, tensor);
}

/* Returns the type of a scalar argument, "f32" for "fp32", or NULL. */
static char *scalar_of(const struct source_variable *argument)
{
	const char *dtype = argument->dtype;

	if (!dtype || argument->lanes > 1 || string_starts_with(dtype, "fp8"))
		return NULL;
	return string_format("%s%s", string_starts_with(dtype, "fp") ? "f" : "",
		string_starts_with(dtype, "fp") ? dtype + strlen("fp") : dtype);
}

/* Returns the number or "NULL" that the launch passes, else NULL. */
static const char *given_value(const struct draft *draft, size_t index)
{
	return index < ARRAY_COUNT(draft->site.values) ? draft->site.values[index] : NULL;
}

static bool is_null(const struct draft *draft, size_t index)
{
	const char *given = given_value(draft, index);

	return draft->kernel->arguments[index].is_pointer && given && strcmp(given, "NULL") == 0;
}

/* Makes a key whose default is the number that the launch passes. */
static struct json *key_of(const struct source_variable *argument, const char *given)
{
	struct json *key = json_new_object();
	long long value;
	const bool is_number = read_integer(given, &value) && value >= 0;

	if (argument->is_enum || (is_number && value == 0))
		json_put_int(key, "min", 0);
	if (is_number)
		json_put_int(key, "default", value);
	return key;
}

static struct json *scalar_new(struct json *value, const char *type)
{
	struct json *scalar = json_new_object();

	json_put(scalar, "value", value);
	json_put_string(scalar, "type", type);
	return scalar;
}

static void add_argument(struct draft *draft, size_t index)
{
	const struct source_variable *declared = &draft->kernel->arguments[index];
	const char *given = given_value(draft, index), *of_template;
	const struct source_variable argument = argument_type(draft, declared, &of_template);
	/* a word of the expression language, such as `in` and `range` */
	const bool is_word = !argument.is_pointer &&
			     (!name_is_valid(argument.name) || name_is_function(argument.name));
	CLEANUP(memory_free)
	char *name = string_format("%s%s", argument.name, is_word ? "_" : "");
	CLEANUP(memory_free) char *type = argument.is_pointer ? NULL : scalar_of(&argument);
	struct json *value;

	if (is_null(draft, index)) {
		value = scalar_new(json_new_int(0), "u64");
	} else if (argument.is_pointer) {
		value = json_new_string(name);
	} else if (!type) {
		value = scalar_new(json_new_string(DRAFT_MARK), DRAFT_MARK);
	} else if (strchr("iu", type[0])) {
		put_named(draft, draft->keys, name, key_of(&argument, given));
		value = json_new_string(name);
		if (strcmp(type, "i32") != 0)
			value = scalar_new(value, type);
	} else {
		value = scalar_new(
			given ? json_new_double(strtod(given, NULL)) : json_new_int(1), type);
	}
	json_push(draft->arguments, value);
}

/* Puts a parameter with powers of two around the value, or with just a value that is not one. */
static void put_integer(
	struct draft *draft, const char *name, long long value, long long low, long long high)
{
	struct json *list = json_new_array();
	const bool is_power = value > 1 && !(value & (value - 1));

	for (long long i = is_power ? value / 4 : value; i <= (is_power ? 4 * value : value);
		i = is_power ? 2 * i + !i : i + 1)
		if (i == value || (i >= low && i <= high))
			json_push(list, json_new_int(i));
	if (!is_known(draft, name))
		json_put_int(draft->defaults, name, value);
	put_named(draft, draft->parameters, name, list);
}

static void put_list(struct draft *draft, const char *name, const int *values, size_t count)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(list, json_new_int(values[i]));
	put_named(draft, draft->parameters, name, list);
}

static void put_threads(struct draft *draft, const char *name)
{
	static const int threads[] = {32, 64, 128, 256, 512, 1024};

	put_list(draft, name, threads, ARRAY_COUNT(threads));
}

static void add_template(struct draft *draft, size_t index)
{
	const struct source_variable *template = &draft->kernel->templates[index];
	const char *value = template_value(draft, index), *type = NULL;
	long long number;

	for (size_t i = 0; i < draft->kernel->argument_count && !type; i++)
		if (strcmp(draft->kernel->arguments[i].type, template->name) == 0)
			(void)argument_type(draft, &draft->kernel->arguments[i], &type);
	if (read_integer(value, &number))
		put_integer(draft, template->name, number, 1, 1024);
	else if (strcmp(template->type, "bool") == 0)
		put_list(draft, template->name, (const int[]){0, 1}, 2);
	else
		put_named(draft, draft->parameters, template->name,
			list_of(type ? type : DRAFT_MARK));
}

/* Returns the entry, e.g. "blas::sgemm<{BM}, {BN}>". */
static char *entry_of(struct draft *draft)
{
	const struct source_kernel *kernel = draft->kernel;
	struct text entry = {0};

	text_appendf(&entry, "%s%s%s", kernel->scope, kernel->name,
		kernel->is_flattened ? SOURCE_MEMBERS : "");
	for (size_t i = 0; i < kernel->template_count; i++) {
		text_appendf(&entry, "%s{%s}", i ? ", " : "<", kernel->templates[i].name);
		add_template(draft, i);
	}
	text_append(&entry, kernel->template_count ? ">" : "");
	return text_detach(&entry);
}

/* Recognises tunable integers; others are problem sizes or properties of the GPU. */
static bool is_tunable(const char *name)
{
	static const char *const words[] = {"BLOCK", "TILE", "THREADS", "UNROLL", "COARSE",
		"STAGES", "PER_THREAD", "VEC", "NUM_WARPS", "WARPS_PER", "CHUNK", "BLK", "BDIM"};
	static const char *const names[] = {
		"BM", "BN", "BK", "TM", "TN", "TK", "WM", "WN", "BX", "BY", "TX", "TY", NULL};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (strcasestr(name, words[i]))
			return true;
	return name_find(name, names) >= 0;
}

/* Returns whether the kernel, its launch or a condition reads the macro. */
static bool is_of_kernel(const struct draft *draft, const struct source_macro *macro)
{
	const struct name_set *defined = &draft->source->defined;
	const size_t length = strlen(macro->name);
	bool is_launch = false;

	for (size_t i = 0; i < 3; i++)
		is_launch |= (draft->site.grid[i] && strstr(draft->site.grid[i], macro->name)) ||
			     (draft->site.block[i] && strstr(draft->site.block[i], macro->name));
	return is_launch || name_set_has(&draft->used, macro->name, length) ||
	       (macro->is_condition &&
		       (macro->default_value || !name_set_has(defined, macro->name, length)));
}

/* Returns the extent that tiles of this macro cover, or NULL. *has_cover: such a tile covers
 * another dimension. */
static const char *covered_extent(const struct draft *draft, const char *macro, bool *has_cover)
{
	const char *extent = NULL;
	bool is_whole = true;

	*has_cover = false;
	for (size_t v = 0; v < draft->view_count; v++) {
		const struct tile_view *view = &draft->views[v];
		bool has_macro = false, has_whole = false;

		for (size_t i = 0; i < view->dimension_count; i++) {
			const struct tile_dimension *dimension = &view->dimensions[i];

			has_whole |= dimension->place == TILE_WHOLE;
			if (strcmp(dimension->tile, macro) != 0)
				continue;
			has_macro = true;
			is_whole &= dimension->place == TILE_WHOLE;
			extent = dimension->extent;
		}
		*has_cover |= has_macro && has_whole;
	}
	return is_whole ? extent : NULL;
}

/* Puts values for a tile's extent. Other extents of a tile that covers a whole dimension are
 * small. */
static void put_extent(struct draft *draft, const struct source_macro *macro)
{
	static const int of_products[] = {16, 32, 64, 128},
			 columns[] = {128, 256, 512, 1024, 2048, 4096}, rows[] = {1, 2, 4, 8, 16};
	bool has_cover;
	const char *covered = covered_extent(draft, macro->name, &has_cover);
	CLEANUP(memory_free) char *power = NULL;

	if (covered) {
		power = string_format(
			"min([c for c in [2**i for i in range(0, 21)] if c >= %s])", covered);
		json_put_string(draft->constants, macro->name, power);
	} else if (name_set_has(&draft->used, "mma", strlen("mma")) && !has_cover) {
		put_list(draft, macro->name, of_products, ARRAY_COUNT(of_products));
	} else if (macro->is_last_extent && !has_cover) {
		put_list(draft, macro->name, columns, ARRAY_COUNT(columns));
	} else {
		put_list(draft, macro->name, rows, ARRAY_COUNT(rows));
	}
}

static void add_parameter(struct draft *draft, const struct source_macro *macro)
{
	long long value;

	if ((macro->is_fixed && !is_tunable(macro->name)) || !is_of_kernel(draft, macro))
		return;
	if (read_integer(macro->default_value, &value))
		put_integer(draft, macro->name, value, 1, 1024);
	else if (macro->is_extent)
		put_extent(draft, macro);
	else if (strcmp(macro->name, "block_size_x") == 0)
		put_threads(draft, macro->name);
	else
		put_named(draft, draft->parameters, macro->name, list_of(DRAFT_MARK));
}

static bool reads_block_size(const struct draft *draft)
{
	return name_set_has(&draft->used, "blockDim", strlen("blockDim")) ||
	       name_set_has(&draft->used, "CUDA_KERNEL_LOOP", strlen("CUDA_KERNEL_LOOP"));
}

/* Returns the expression if it reads only allowed names, else the mark "?". */
static struct json *expression_or_mark(const struct name_set *allowed, const char *text)
{
	struct expression *expression = NULL;
	struct name_table names = {0};
	long long value;

	if (read_integer(text, &value))
		return json_new_int(value);
	name_table_add(&names, "sm_count");
	for (size_t i = 0; i < allowed->count; i++)
		name_table_add(&names, allowed->items[i]);
	if (!text || expression_compile(text, "", &names, &expression, NULL) != STATUS_OK)
		text = DRAFT_MARK;
	name_table_release(&names);
	expression_free(expression);
	return json_new_string(text);
}

/* Adds host variables as keys, or as parameters if they are numbers of threads. */
static void add_unknown(struct draft *draft, const char *text, bool is_of_block)
{
	for (const char *c = text; c && *c; c = text_after_word(c)) {
		CLEANUP(memory_free) char *name = span_copy(span_word(c));

		if (!name_is_valid(name) || is_known(draft, name) || name_is_function(name) ||
			strcmp(name, "sm_count") == 0)
			continue;
		if (is_of_block)
			put_threads(draft, name);
		else
			put_named(draft, draft->keys, name, json_new_object());
	}
}

/* Replaces e.g. 256 by a parameter, and 255 by the parameter minus 1. */
static void replace_number(char **expression, long long value, const char *name)
{
	CLEANUP(memory_free) char *number = string_format("%lld", value);
	CLEANUP(memory_free) char *less = string_format("%lld", value - 1);
	CLEANUP(memory_free) char *name_less = string_format("%s - 1", name);

	span_replace(expression, number, name);
	if (value > 2)
		span_replace(expression, less, name_less);
}

/* Returns the parameter whose default is the launch's number of threads, or NULL. */
static const char *parameter_of_threads(const struct draft *draft, long long threads)
{
	static const char *const words[] = {"BLOCK", "BLK", "TILE", "THREADS", "BDIM", "WARPS"};
	const struct json_at defaults = json_root(draft->defaults, "");
	struct json_at item = {0};
	int64_t value;

	while (json_next(&defaults, &item))
		for (size_t i = 0; i < ARRAY_COUNT(words); i++)
			if (json_get_int(&item, &value, NULL) == STATUS_OK && value == threads &&
				strcasestr(item.key, words[i]))
				return item.key;
	return NULL;
}

/* Replaces a block size such as "256" by a parameter if the kernel reads blockDim. */
static void parametrize_block(struct draft *draft, size_t axis)
{
	static const char *const names[] = {"block_x", "block_y", "block_z"};
	const long most = draft->kernel->threads_max ? draft->kernel->threads_max : 1024;
	struct launch_site *site = &draft->site;
	const char *name;
	long long threads;

	if (!read_integer(site->block[axis], &threads) || threads < 2 ||
		(threads == 32 && site->block_count > 1)) /* warps */
		return;
	name = parameter_of_threads(draft, threads);
	if (!name && (!reads_block_size(draft) || is_known(draft, names[axis])))
		return;
	if (!name) {
		name = names[axis];
		put_integer(draft, name, threads, axis ? 1 : 32, most);
	}
	for (size_t i = 0; i < site->grid_count; i++)
		if (site->grid[i] && (i == axis || site->block_count == 1))
			replace_number(&site->grid[i], threads, name);
	if (site->smem_bytes)
		replace_number(&site->smem_bytes, threads, name);
	free(site->block[axis]);
	site->block[axis] = string_copy(name);
}

/* Adds parameters for the block size of a kernel that reads blockDim and has no launch. */
static void invent_block(struct draft *draft)
{
	static const char *const macros[] = {"block_size_x", "block_size_y", "block_size_z"};
	static const char *const sizes[] = {"256", "4", "2"};
	const struct source_kernel *kernel = draft->kernel;
	struct launch_site *site = &draft->site;

	if (kernel->is_tile) {
		site->block[0] = string_copy("128");
		site->block_count = 1;
		return;
	}
	site->block_count = kernel->block_count ? kernel->block_count : 1;
	for (size_t i = 0; i < site->block_count; i++)
		if (is_known(draft, macros[i]))
			site->block[i] = string_copy(macros[i]);
		else if (reads_block_size(draft))
			site->block[i] = string_copy(i || site->block_count == 1 ? sizes[i] : "32");
}

static struct json *dimensions(const struct draft *draft, char *const *texts, size_t count)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < (count ? count : 1); i++)
		json_push(list, expression_or_mark(&draft->names, texts[i]));
	return list;
}

/* Sets the grid of a tile kernel to one block per tile. */
static void count_tiles(struct draft *draft)
{
	struct launch_site *site = &draft->site;

	for (size_t v = 0; v < draft->view_count; v++)
		for (size_t i = 0; i < draft->views[v].dimension_count; i++) {
			const struct tile_dimension *dimension = &draft->views[v].dimensions[i];

			if (dimension->place != TILE_AT_BLOCK || site->grid[dimension->axis])
				continue;
			site->grid[dimension->axis] = string_format(
				"ceil_div(%s, %s)", dimension->extent, dimension->tile);
			if (site->grid_count <= dimension->axis)
				site->grid_count = dimension->axis + 1;
		}
}

static struct json *launches_of(struct draft *draft, const char *entry)
{
	struct json *launch = json_new_object(), *launches = json_new_array();
	struct launch_site *site = &draft->site;

	if (!site->block_count ||
		(site->block_count == 1 && !site->block[0] && reads_block_size(draft)))
		invent_block(draft);
	for (size_t i = 0; i < site->block_count; i++)
		add_unknown(draft, site->block[i], true);
	for (size_t i = 0; i < site->block_count && !draft->kernel->is_tile; i++)
		parametrize_block(draft, i);
	if (!site->grid_count)
		count_tiles(draft);
	if (!site->grid_count)
		site->grid_count = draft->kernel->grid_count;
	for (size_t i = 0; i < site->grid_count; i++)
		if (!site->grid[i] && !draft->kernel->is_tile)
			site->grid[i] = grid_extent_read(
				draft->kernel->body, i, site->block[i], &draft->sizes);
		else
			add_unknown(draft, site->grid[i], false);
	if (draft->kernel->is_sized_at_launch)
		add_unknown(draft, site->smem_bytes, false);
	json_put_string(launch, "entry", entry);
	json_put(launch, "grid", dimensions(draft, site->grid, site->grid_count));
	json_put(launch, "block", dimensions(draft, site->block, site->block_count));
	if (draft->kernel->is_sized_at_launch)
		json_put(launch, "smem_bytes", expression_or_mark(&draft->names, site->smem_bytes));
	if (draft->kernel->syncs_grid)
		json_put_bool(launch, "cooperative", true);
	json_put(launch, "args", draft->arguments);
	json_push(launches, launch);
	return launches;
}

static void put_unless_empty(struct json *tree, const char *key, struct json *object)
{
	const struct json_at at = json_root(object, "");

	if (json_count(&at))
		json_put(tree, key, object);
	else
		json_free(object);
}

/* Makes a prune rule for tiles that exceed the registers and use the stack. */
static struct json *stack_rule(void)
{
	struct json *rules = json_new_array(), *rule = json_new_object();

	json_put_string(rule, "expr", "stack_bytes > 0");
	json_put_string(rule, "why", "a tile on the stack makes the kernel many times slower");
	json_push(rules, rule);
	return rules;
}

static bool is_structure(const struct source_kernel *kernel, const struct source_variable *argument)
{
	bool is_template = false;

	for (size_t i = 0; i < kernel->template_count; i++)
		is_template |= strcmp(kernel->templates[i].name, argument->type) == 0;
	return !argument->is_pointer && !argument->dtype && !is_template;
}

/* Adds remarks on other kernels, other declarations of this kernel, and integers that may be
 * parameters. */
static void add_remarks(
	const struct draft *draft, const char *file, bool chose_first, struct text *remarks)
{
	const struct kernel_source *source = draft->source;
	const struct source_kernel *kernel = draft->kernel;
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
	for (size_t i = 0; i < kernel->argument_count; i++)
		if (is_structure(kernel, &kernel->arguments[i]))
			format_put(remarks, format_shown,
				"the argument %s is of the type %s, whose members are not known: "
				"write a kernel with plain arguments that calls this one as a "
				"__device__ function, or let a program launch this kernel "
				"(templates/programs.md)\n",
				kernel->arguments[i].name, kernel->arguments[i].type);
	if (heads > 1)
		format_put(remarks, format_shown,
			"%s has %zu heads of %s, as branches of #if or by their arguments: the "
			"draft is of the first\n",
			file, heads, kernel->name);
	for (size_t i = 0; i < source->macro_count; i++)
		if (source->macros[i].is_fixed && !is_tunable(source->macros[i].name) &&
			name_set_has(&draft->used, source->macros[i].name,
				strlen(source->macros[i].name)))
			text_append_listed(&fixed, source->macros[i].name);
	if (fixed.length)
		format_put(remarks, format_shown,
			"%s defines %s: a parameter of such a name replaces its value\n", file,
			fixed.data);
}

struct json *draft_new(const struct kernel_source *source, const struct source_kernel *kernel,
	const char *text, const struct draft_names *names, struct text *remarks)
{
	struct draft draft = {.source = source,
		.kernel = kernel,
		.keys = json_new_object(),
		.tensors = json_new_object(),
		.parameters = json_new_object(),
		.defaults = json_new_object(),
		.constants = json_new_object(),
		.arguments = json_new_array()};
	struct json *tree = json_new_object(), *symbols = json_new_object(), *launches;
	const struct json_at key = json_root(draft.keys, "");
	CLEANUP(memory_free) char *entry = NULL;

	launch_site_find(text, source, kernel, &draft.site);
	text_append(remarks, text_string(&draft.site.unclear));
	if (kernel->is_tile)
		draft.view_count = tile_views_read(kernel, draft.views);
	entry = entry_of(&draft);
	json_put_string(tree, "format", "tiletune.own_kernel/1");
	json_put_string(tree, "source", names->source);
	if (kernel->is_tile)
		json_put_string(tree, "language", "tile");
	for (size_t i = 0; i < kernel->argument_count; i++)
		add_argument(&draft, i);
	source_words_of_kernel(text, kernel->name, &draft.used);
	add_remarks(&draft, names->file, names->chose_first, remarks);
	for (size_t i = 0; i < source->macro_count; i++)
		add_parameter(&draft, &source->macros[i]);
	launches = launches_of(&draft, entry);
	for (size_t i = 0; i < kernel->argument_count; i++)
		if (kernel->arguments[i].is_pointer && !is_null(&draft, i))
			add_tensor(&draft, &kernel->arguments[i]);
	for (size_t i = 0; i < source->symbol_count; i++) {
		const char *name = source->symbols[i].name;

		if (!name_set_has(&draft.used, name, strlen(name)))
			continue;
		add_tensor(&draft, &source->symbols[i]);
		json_put_string(symbols, name, name);
	}
	if (!json_count(&key))
		json_put_string(draft.keys, DRAFT_MARK, DRAFT_MARK);
	json_put(tree, "keys", draft.keys);
	put_unless_empty(tree, "tensors", draft.tensors);
	put_unless_empty(tree, "parameters", draft.parameters);
	put_unless_empty(tree, "defaults", draft.defaults);
	if (source->expects_kernel_tuner)
		json_put_int(draft.constants, "kernel_tuner", 1);
	put_unless_empty(tree, "constants", draft.constants);
	if (kernel->is_tile)
		json_put(tree, "prune", stack_rule());
	put_unless_empty(tree, "symbols", symbols);
	json_put(tree, "launches", launches);
	name_set_release(&draft.names);
	name_set_release(&draft.sizes);
	name_set_release(&draft.used);
	launch_site_release(&draft.site);
	tile_views_release(draft.views, draft.view_count);
	return tree;
}
