/* SPDX-License-Identifier: MIT */
#include "candidate/launch_work.h"
#include "candidate/bound_family.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/format_text.h"
#include "base/memory.h"
#include "candidate/configuration.h"
#include "family/operation.h"

/* Returns the FLOP/s of tensor cores for the type in the key "dtype", or 0 if they lack the
 * type. */
static struct value tensor_flop_per_s(
	const struct problem *problem, const struct device_spec *device, enum pipe pipe)
{
	for (size_t i = 0; i < problem->operation->key_count; i++) {
		int dtype;

		if (strcmp(problem->operation->keys[i].name, "dtype") != 0 ||
			problem->values[i].type != VALUE_STRING)
			continue;
		dtype = dtype_find(problem->values[i].string);
		if (dtype >= 0)
			return value_real(device->rate[pipe][dtype] * (double)device->sm_count *
					  device->tensor_clock_hz);
	}
	return value_real(0);
}

static void set_rates(const struct scope *scope, const struct problem *problem,
	const struct device_spec *device, struct value *values)
{
	values[scope_extra_index(scope, EXTRA_DRAM_BYTES_PER_S)] =
		value_real(device->dram_bytes_per_s);
	values[scope_extra_index(scope, EXTRA_L2_BYTES_PER_S)] =
		value_real(device->l2_bytes_per_clock * device->clock_hz);
	values[scope_extra_index(scope, EXTRA_TENSOR_MMA_FLOP_PER_S)] =
		tensor_flop_per_s(problem, device, PIPE_TENSOR_MMA);
	values[scope_extra_index(scope, EXTRA_TENSOR_WGMMA_FLOP_PER_S)] =
		tensor_flop_per_s(problem, device, PIPE_TENSOR_WGMMA);
	values[scope_extra_index(scope, EXTRA_LAUNCH_US)] = value_real(device->launch_us);
}

/* Returns the values of keys, device names and extras (rates of the device sheet, others 0). */
static struct value *fixed_values(const struct family *family, const struct problem *problem,
	const struct device_spec *device)
{
	const struct scope *scope = &family->scope;
	struct value *values = memory_zeroed(scope->parameter_at, sizeof(*values));

	if (problem->operation != family->operation)
		BUG("a problem of %s bound to %s", problem->operation->name, family->name);
	for (size_t i = 0; i < scope->device_at; i++)
		values[i] = problem->values[i];
	for (size_t i = scope->device_at; i < scope->extra_at; i++)
		values[i] = device_spec_value(device, i - scope->device_at);
	for (size_t i = scope->extra_at; i < scope->parameter_at; i++)
		values[i] = value_int(0);
	set_rates(scope, problem, device, values);
	return values;
}

static enum status all_hold(const struct expression_list *list, const struct value *values,
	bool *hold, struct text *why_not, struct error *err)
{
	*hold = true;
	for (size_t i = 0; i < list->count && *hold; i++) {
		TRY(expression_test(list->items[i], values, hold, err));
		if (!*hold && why_not)
			text_append(why_not, expression_text(list->items[i]));
	}
	return STATUS_OK;
}

enum status family_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *applies, struct text *why_not, struct error *err)
{
	CLEANUP(memory_free) struct value *values = fixed_values(family, problem, device);

	return all_hold(&family->requires, values, applies, why_not, err);
}

enum status family_competes(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *competes, struct error *err)
{
	CLEANUP(memory_free) struct value *values = fixed_values(family, problem, device);

	return all_hold(&family->competes, values, competes, NULL, err);
}

/* Limits the dynamic shared memory to that of the device, and converts rows of tiles from elements
 * to bytes. */
static void computed_fit(struct computed_list *list, const struct device_spec *device,
	const struct launch_work *work)
{
	for (size_t i = 0; i < list->count; i++) {
		struct computed *computed = &list->items[i];
		const size_t tile = computed->offset / sizeof(struct work_tile),
			     member = computed->offset % sizeof(struct work_tile);

		if (computed->list == COMPUTED_DIRECT &&
			computed->offset == offsetof(struct launch_shape, smem_dynamic_bytes))
			computed->high = (double)device->smem_per_block_bytes;
		if (computed->list != offsetof(struct launch_work, tiles) ||
			(member != offsetof(struct work_tile, row_bytes) &&
				member != offsetof(struct work_tile, row_offset_bytes)))
			continue;
		computed->scale = work->tiles[tile].element_bytes;
		computed->high = (double)(UINT32_MAX / work->tiles[tile].element_bytes);
	}
}

static struct launch launch_specialise(const struct launch *launch,
	const struct device_spec *device, const struct plan_buffer *tensors,
	const struct value *values, size_t first)
{
	struct launch copy = {.work = launch_work_copy(&launch->work),
		.when = launch->when ? expression_specialise(launch->when, values) : NULL,
		.computed = computed_specialise(&launch->computed, values, first),
		.shape_count = launch->shape_count};

	for (size_t i = 0; i < copy.work.tile_count; i++) {
		struct work_tile *tile = &copy.work.tiles[i];

		tile->element_bytes = (uint32_t)dtype_size(tensors[tile->tensor].dtype);
		tile->pitch_bytes = tensors[tile->tensor].ld * tile->element_bytes;
		tile->row_bytes *= tile->element_bytes;
		tile->row_offset_bytes *= tile->element_bytes;
	}
	computed_fit(&copy.computed, device, &copy.work);
	return copy;
}

/* `fixed` has the values of the names before the parameters. Its strings must outlive the model. */
static enum status model_fill(struct bound_model *model, const struct family *family,
	const struct problem *problem, const struct device_spec *device, const struct value *fixed,
	struct error *err)
{
	const struct scope *scope = &family->scope;
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(scope->all.count, sizeof(*values));

	memcpy(values, fixed, scope->extra_at * sizeof(*values)); /* extras stay unbound */
	model->launches = memory_zeroed(family->launch_count + 1, sizeof(*model->launches));
	model->tensors = memory_zeroed(family->operation->tensor_count, sizeof(*model->tensors));
	if (operation_tensors_evaluate(family->operation, values, model->tensors, err) != STATUS_OK)
		return error_context(err, "%s", problem->title);
	model->launch_count = family->launch_count;
	for (size_t i = 0; i < family->launch_count; i++)
		model->launches[i] = launch_specialise(
			&family->launches[i], device, model->tensors, values, scope->parameter_at);
	TRY(problem_flop(problem, &model->flop, err));
	return problem_min_bytes(problem, &model->min_bytes, err);
}

static void launch_release(struct launch *launch)
{
	launch_work_release(&launch->work);
	computed_list_release(&launch->computed);
	expression_free(launch->when);
}

static void model_release(struct bound_model *model)
{
	for (size_t i = 0; i < model->launch_count; i++)
		launch_release(&model->launches[i]);
	free(model->launches);
	free(model->tensors);
}

/* ---- limits of the GPU, as constraints ---- */
/* Returns whether the family states this limit itself, with a better reason. */
static bool limit_is_said(const struct family *family, const char *name)
{
	const int index = name_table_find(&family->scope.all, name);

	for (size_t i = 0; i < family->constraints.count; i++) {
		size_t count;
		const int *indices =
			expression_indices(family->constraints.items[i].expression, &count);

		for (size_t k = 0; k < count; k++)
			if (indices[k] == index)
				return true;
	}
	return false;
}

static enum status add_constraint(struct bound_family *bound, const char *text, const char *why,
	const char *where, struct error *err)
{
	struct expression_list *limits = &bound->limits;
	struct expression *made;

	TRY(expression_compile(text, where, &bound->family->names, &made, err));
	limits->items = memory_resize(limits->items, limits->count + 1, sizeof(*limits->items));
	limits->items[limits->count++] = made;
	space_add_constraint(bound->space, made, why);
	return STATUS_OK;
}

static enum status add_limit(struct bound_family *bound, const struct launch *launch,
	const char *limit, const char *why, const void *member, struct error *err)
{
	const struct computed *computed = launch_computed(launch, member);
	CLEANUP(memory_free)
	char *text = launch->when
			     ? string_format("not (%s) or %s", expression_text(launch->when), limit)
			     : string_copy(limit);

	return add_constraint(bound, text, why,
		computed ? expression_where(computed->expression) : bound->family->file, err);
}

static enum status add_block_limit(
	struct bound_family *bound, const struct launch *launch, struct error *err)
{
	const uint32_t *block = launch->work.shape.block;
	CLEANUP(text_release) struct text limit = {0}, least = {0};

	text_append_char(&limit, '(');
	for (size_t i = 0; i < launch->block_count; i++) {
		CLEANUP(memory_free) char *threads = launch_text(launch, &block[i]);

		text_appendf(&limit, "%s(%s)", i ? " * " : "", threads);
		text_appendf(&least, " and (%s) >= 1", threads);
		if (i == 2)
			text_appendf(&least, " and (%s) <= 64", threads);
	}
	text_appendf(&limit, " <= %" PRId64 "%s)", bound->device->max_threads_per_block,
		text_string(&least));
	return add_limit(
		bound, launch, limit.data, GPU_LIMIT ": threads of a block", &block[0], err);
}

/* Adds a constraint for a number of a launch that JSON gives as an expression. */
static enum status add_range(struct bound_family *bound, const struct launch *launch,
	const uint32_t *member, int64_t least, int64_t most, const char *why, struct error *err)
{
	CLEANUP(memory_free) char *text = launch_text(launch, member), *limit = NULL;

	if (!launch_computed(launch, member))
		return STATUS_OK;
	limit = string_format("%" PRId64 " <= (%s) <= %" PRId64, least, text, most);
	return add_limit(bound, launch, limit, why, member, err);
}

/* Adds constraints for limits of the device. Registers are known only after compilation. */
static enum status add_limits(struct bound_family *bound, struct error *err)
{
	const struct family *family = bound->family;
	const bool threads = !limit_is_said(family, "max_threads_per_block"),
		   smem = !limit_is_said(family, "smem_per_block_bytes");

	for (size_t i = 0; i < family->launch_count; i++) {
		const struct launch *launch = &family->launches[i];
		const struct launch_shape *shape = &launch->work.shape;

		if (threads)
			TRY(add_block_limit(bound, launch, err));
		for (size_t k = 0; k < launch->grid_count; k++) {
			const struct computed *blocks = launch_computed(launch, &shape->grid[k]);
			struct value constant;

			if (blocks && !expression_constant(blocks->expression, &constant))
				TRY(add_range(bound, launch, &shape->grid[k], 1, launch_grid_max[k],
					GPU_LIMIT ": blocks of a grid", err));
		}
		if (smem)
			TRY(add_range(bound, launch, &shape->smem_dynamic_bytes, 0,
				bound->device->smem_per_block_bytes,
				GPU_LIMIT ": shared memory of a block", err));
	}
	return STATUS_OK;
}

/* Adds one constraint per line of `--where`, so that each is applied as early as possible. */
static enum status add_conditions(struct bound_family *bound, const char *lines, struct error *err)
{
	for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
		CLEANUP(memory_free) char *line = NULL;

		length = strcspn(lines, "\n");
		line = string_copy_bytes(lines, length);
		TRY(add_constraint(bound, line, "from --where or --config", "--where", err));
	}
	return STATUS_OK;
}

static enum status build_space(struct bound_family *bound, const char *where, struct error *err)
{
	const struct family *family = bound->family;
	struct space *space = bound->space;

	for (size_t i = 0; i < family->parameter_count; i++)
		space_add_parameter(space, family->parameters[i].values);
	for (size_t i = 0; i < family->constant_count; i++)
		space_add_derived(space, family->constants[i].expression);
	for (size_t i = 0; i < family->constraints.count; i++)
		space_add_constraint(space, family->constraints.items[i].expression,
			family->constraints.items[i].why);
	TRY(add_limits(bound, err));
	return where ? add_conditions(bound, where, err) : STATUS_OK;
}

enum status family_bind(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct error *err)
{
	CLEANUP(bound_family_drop) struct bound_family *made = memory_zeroed(1, sizeof(*made));
	CLEANUP(memory_free) struct value *fixed = fixed_values(family, problem, device);

	*bound = NULL;
	*made = (struct bound_family){.family = family,
		.problem = problem,
		.device = device,
		.space = space_new(&family->names, family->scope.parameter_at)};
	TRY(build_space(made, where, err));
	TRY(space_bind(made->space, fixed, err));
	TRY(model_fill(&made->model, family, problem, device, fixed, err));
	*bound = made;
	made = NULL;
	return STATUS_OK;
}

enum status family_bind_if_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct text *left_out, struct error *err)
{
	CLEANUP(text_release) struct text why = {0};
	bool applies = false;

	*bound = NULL;
	TRY(family_applies(family, problem, device, &applies, &why, err));
	if (applies)
		return family_bind(family, problem, device, where, bound, err);
	if (left_out)
		format_put(left_out, format_shown, "%s does not apply: needs %s\n", family->name,
			text_string(&why));
	return STATUS_OK;
}

enum status family_bind_applicable(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct bound_family **bound, struct error *err)
{
	CLEANUP(text_release) struct text left_out = {0};

	TRY(family_bind_if_applies(family, problem, device, NULL, bound, &left_out, err));
	return *bound ? STATUS_OK
		      : error_set(err, STATUS_BAD_INPUT, "%.*s", (int)left_out.length - 1,
				left_out.data);
}

enum status bound_family_expect_memory(const struct bound_family *bound, struct error *err)
{
	const double most = (double)bound->device->dram_bytes;
	double bytes = 0;

	for (size_t i = 0; i < bound->family->operation->tensor_count; i++)
		bytes += (double)bound->model.tensors[i].bytes;
	if (most <= 0 || bytes <= most)
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT,
		"%s: the tensors need more than the %.4g GB of memory of %s: %.4g GB",
		bound->problem->title, most * 1e-9, bound->device->title, bytes * 1e-9);
}

void bound_family_free(struct bound_family *bound)
{
	if (!bound)
		return;
	model_release(&bound->model);
	space_free(bound->space);
	for (size_t i = 0; i < bound->limits.count; i++)
		expression_free(bound->limits.items[i]);
	free(bound->limits.items);
	free(bound);
}

void bound_family_drop(struct bound_family **bound)
{
	bound_family_free(*bound);
}

static enum status check_example(const struct family *family, const struct device_spec *device,
	const struct example *example, bool is_legal, const struct json_at *at, struct error *err)
{
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(bound_family_drop) struct bound_family *bound = NULL;
	struct value values[SPACE_PARAMETERS_MAX] = {0};
	choice choices[SPACE_PARAMETERS_MAX];
	bool given[SPACE_PARAMETERS_MAX];
	struct json_at config;
	const char *violated;

	json_find(at, "config", &config);
	if (problem_parse(family->operation, example->problem, &problems, err) != STATUS_OK)
		return error_context(err, "%s: %s", family->file, family->name);
	if (problems.count != 1)
		return json_error_of(at, "problem", err, "exactly one problem");
	TRY(family_bind_if_applies(family, problems.items[0], device, NULL, &bound, NULL, err));
	if (!bound)
		return STATUS_OK;
	TRY(configuration_from_json(bound, &config, values, given, err));
	TRY(configuration_examine(bound, values, choices, &violated, err));
	if (is_legal && violated)
		return json_invalid(at, err, "this configuration is illegal: %s", violated);
	return is_legal || violated
		       ? STATUS_OK
		       : json_invalid(at, err,
				 "this configuration is legal, but it is listed as illegal");
}

static enum status check_examples(const struct family *family, const struct device_spec *device,
	bool is_legal, struct error *err)
{
	const struct example_list *examples = &family->examples;
	const struct example *list = is_legal ? examples->legal : examples->illegal;
	const size_t count = is_legal ? examples->legal_count : examples->illegal_count;
	const struct json_at root = json_root(family->tree, family->file);
	struct json_at all, some;

	if (!count)
		return STATUS_OK;
	json_find(&root, "examples", &all);
	json_find(&all, is_legal ? "legal" : "illegal", &some);
	for (size_t i = 0; i < count; i++) {
		const struct json_at at = json_item(&some, i);

		TRY(check_example(family, device, &list[i], is_legal, &at, err));
	}
	return STATUS_OK;
}

enum status family_examples_check(
	const struct family *family, const struct device_spec *device, struct error *err)
{
	TRY(check_examples(family, device, true, err));
	return check_examples(family, device, false, err);
}
