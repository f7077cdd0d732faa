/* SPDX-License-Identifier: MIT */
#include "export/bundle_entry.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/row.h"
#include "plan/tensor_map.h"

static const size_t item_bytes[] = {
#define TTL_TABLE(name, type) sizeof(type),
	TTL_TABLES(TTL_TABLE)
#undef TTL_TABLE
};

/* ---- tables ---- */
uint32_t bundle_count(const struct bundle *bundle, enum ttl_table table)
{
	return (uint32_t)(bundle->tables[table].length / item_bytes[table]);
}

void bundle_put(struct bundle *bundle, enum ttl_table table, const void *item)
{
	text_append_bytes(&bundle->tables[table], item, item_bytes[table]);
}

struct ttl_range bundle_next(const struct bundle *bundle, enum ttl_table table, size_t count)
{
	return (struct ttl_range){bundle_count(bundle, table), (uint32_t)count};
}

struct ttl_range bundle_since(const struct bundle *bundle, enum ttl_table table, uint32_t first)
{
	return (struct ttl_range){first, bundle_count(bundle, table) - first};
}

ttl_text bundle_put_text(struct bundle *bundle, const char *string)
{
	struct text *texts = &bundle->tables[TTL_TABLE_texts];
	const size_t size = strlen(string) + 1;
	const char *found = texts->length ? memmem(texts->data, texts->length, string, size) : NULL;

	if (!found) {
		text_append_bytes(texts, string, size);
		found = texts->data + texts->length - size;
	}
	return (ttl_text)(found - texts->data);
}

/* ---- sizes that an entry is valid for: its own, and smaller values of one key, if the same
 * kernel is launched in the same way except for numbers and dimensions that equal the key's
 * value ---- */
enum {
	SMALLER_SIZES_MAX = 255
};

/* Sets the launches' entries to their names in the code. */
static enum status take_names(
	struct kernel_store *store, const struct build *build, struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->launch_count; i++) {
		const struct compile_result *compiled;

		TRY(kernel_store_wait(
			store, &build->units[plan->launches[i].unit], &compiled, err));
		(void)kernel_take_entry(compiled, &plan->launches[i]);
	}
	return STATUS_OK;
}

struct entry_source {
	const struct tuned_row *row;
	const struct export_kernel *kernel;
	bool *given; /* per key: its value is not the default */
	size_t arch;
	struct plan below; /* the plan for a size that is smaller by one; no launches if there is
			      none */
};

static void entry_source_release(struct entry_source *source)
{
	plan_release(&source->below);
	free(source->given);
}

/* The problem with one key changed, or removed if size is NULL. Returns NULL if there is no such
 * problem. */
static struct problem *other_problem(
	const struct problem *problem, const bool *given, size_t key, const int64_t *size)
{
	const size_t count = problem->operation->key_count;
	CLEANUP(memory_free)
	struct value *values = memory_copy(problem->values, count * sizeof(*values));
	CLEANUP(memory_free) bool *named = memory_copy(given, count * sizeof(*named));
	struct problem *other = NULL;

	named[key] = size != NULL;
	if (size)
		values[key] = value_int(*size);
	return problem_complete(problem->operation, values, named, &other, NULL) == STATUS_OK
		       ? other
		       : NULL;
}

/* Makes the plan of the entry's kernel for another size. *found is false if that size needs
 * another kernel. */
static enum status other_plan(struct bundle *bundle, const struct entry_source *source, size_t key,
	int64_t size, struct plan *plan, bool *found, struct error *err)
{
	CLEANUP(problem_cleanup)
	struct problem *problem = other_problem(source->kernel->problem, source->given, key, &size);
	CLEANUP(candidate_release) struct candidate candidate = {0};
	CLEANUP(memory_free) struct value *values = NULL;
	CLEANUP(build_release) struct build build = {0};
	struct error reason;

	*found =
		problem && row_candidate(bundle->source->catalogue, problem, source->kernel->device,
				   source->row, &candidate, NULL, &reason) == STATUS_OK;
	if (!*found)
		return STATUS_OK;
	if (!(values = candidate_values(&candidate, err)))
		return STATUS_FAILED;
	TRY(candidate_plan(candidate.bound, values, plan, err));
	TRY(candidate_build(candidate.bound, values, &build, err));
	*found = strcmp(build.kernel_hash, source->kernel->build.kernel_hash) == 0;
	return *found ? take_names(bundle->stores[source->arch], &build, plan, err) : STATUS_OK;
}

static bool is_sized(const struct plan_argument *argument, const struct plan_argument *below)
{
	return argument->integer != below->integer;
}

/* Returns whether the memory that the entry reserves is large enough, and symbols keep their size.
 */
static bool fits_buffers(const struct plan *plan, const struct plan *smaller)
{
	for (size_t i = 0; i < plan->symbol_count; i++)
		if (smaller->buffers[plan->symbols[i].buffer].bytes !=
			plan->buffers[plan->symbols[i].buffer].bytes)
			return false;
	for (size_t i = 0; i < plan->buffer_count; i++)
		if (smaller->buffers[i].bytes > plan->buffers[i].bytes ||
			!smaller->buffers[i].bytes != !plan->buffers[i].bytes)
			return false;
	return true;
}

/* Returns whether the smaller plan equals the entry's plan after `size` is replaced in the places
 * where `below` differs from the entry's plan; changes the smaller plan. Plans of a family have the
 * same buffers, maps and symbols, but not always the same launches. */
static bool is_same_plan(const struct plan *plan, const struct plan *below, struct plan *smaller,
	int64_t value, int64_t size)
{
	if (below->launch_count != plan->launch_count ||
		smaller->launch_count != plan->launch_count || !fits_buffers(plan, smaller))
		return false;
	memcpy(smaller->buffers, plan->buffers, plan->buffer_count * sizeof(*plan->buffers));
	smaller->workspace_bytes = plan->workspace_bytes;
	for (size_t i = 0; i < plan->tensor_map_count; i++)
		for (size_t k = 0; k < TENSOR_MAP_RANK_MAX; k++) {
			const uint64_t dim = plan->tensor_maps[i].dims[k];
			uint64_t *other = &smaller->tensor_maps[i].dims[k];

			if (dim != below->tensor_maps[i].dims[k] && dim == (uint64_t)value &&
				*other == (uint64_t)size)
				*other = dim;
		}
	for (size_t i = 0; i < plan->launch_count; i++) {
		const struct plan_launch *of_plan = &plan->launches[i];
		const struct plan_launch *of_below = &below->launches[i];
		struct plan_launch *of_smaller = &smaller->launches[i];

		if (of_below->argument_count != of_plan->argument_count ||
			of_smaller->argument_count != of_plan->argument_count)
			return false;
		for (size_t k = 0; k < of_plan->argument_count; k++)
			if (is_sized(&of_plan->arguments[k], &of_below->arguments[k]) &&
				of_plan->arguments[k].integer == value &&
				of_smaller->arguments[k].integer == size)
				of_smaller->arguments[k].integer = value;
	}
	return record_equal(&plan_record, plan, smaller);
}

/* Finds the first key that may be smaller, and its smallest value. */
static enum status find_smaller(struct bundle *bundle, struct entry_source *source,
	struct ttl_entry *entry, struct error *err)
{
	const struct problem *problem = source->kernel->problem;
	const struct operation *operation = problem->operation;

	entry->up_to = TTL_NONE;
	for (size_t i = 0; i < operation->key_count && entry->up_to == TTL_NONE; i++) {
		const struct key *key = &operation->keys[i];
		const int64_t value = problem->values[i].integer;
		bool same =
			!key->values && !key->is_real && !key->is_constant && value <= INT32_MAX;

		if (same && value > 1) {
			plan_release(&source->below);
			TRY(other_plan(bundle, source, i, value - 1, &source->below, &same, err));
		}
		for (int64_t size = value - 1;
			same && size > 0 && value - size <= SMALLER_SIZES_MAX; size--) {
			CLEANUP(plan_release) struct plan smaller = {0};

			TRY(other_plan(bundle, source, i, size, &smaller, &same, err));
			same = same && is_same_plan(&source->kernel->plan, &source->below, &smaller,
					       value, size);
			if (same) {
				entry->up_to = (int32_t)i;
				entry->least = size;
			}
		}
	}
	return STATUS_OK;
}

/* Stores an integer directly, and a choice or real number as text. */
static int64_t put_value(struct bundle *bundle, const struct key *key, struct value value)
{
	CLEANUP(text_release) struct text text = {0};

	if (!key->values && !key->is_real)
		return value.integer;
	value_format(value, &text);
	return bundle_put_text(bundle, text_string(&text));
}

static void put_sizes(struct bundle *bundle, struct entry_source *source, struct ttl_entry *entry)
{
	const struct problem *problem = source->kernel->problem;
	const struct operation *operation = problem->operation;
	const size_t count = operation->key_count;
	CLEANUP(memory_free) bool *all = memory_zeroed(count + 1, sizeof(*all));

	memset(all, true, count);
	source->given = memory_zeroed(count + 1, sizeof(*source->given));
	entry->sizes = bundle_next(bundle, TTL_TABLE_sizes, count);
	for (size_t i = 0; i < count; i++) {
		CLEANUP(problem_cleanup)
		struct problem *without = other_problem(problem, all, i, NULL);
		const bool is_default =
			without && value_equal(without->values[i], problem->values[i]);
		const struct ttl_size size = {
			put_value(bundle, &operation->keys[i], problem->values[i]), is_default, 0};

		source->given[i] = !is_default;
		bundle_put(bundle, TTL_TABLE_sizes, &size);
	}
}

/* ---- plans ---- */
/* `below` is the same argument for a size that is smaller by one, or NULL. */
static void put_argument(struct bundle *bundle, const struct plan *plan,
	const struct plan_argument *from, const struct plan_argument *below)
{
	struct ttl_argument argument = {.index = from->index};
	const char *name = "";

	switch (from->kind) {
	case ARGUMENT_BUFFER:
		argument.kind = TTL_BUFFER;
		name = plan->buffers[from->index].name;
		break;
	case ARGUMENT_TENSOR_MAP:
		argument.kind = TTL_MAP;
		name = plan->tensor_maps[from->index].name;
		break;
	default:
		argument.kind = from->kind == ARGUMENT_INT32     ? TTL_I32
				: from->kind == ARGUMENT_FLOAT32 ? TTL_F32
								 : TTL_NUMBER;
		argument.index = plan_argument_bytes(from->kind);
		argument.bits = (int64_t)plan_argument_bits(from);
		argument.is_sized = below && is_sized(from, below);
	}
	argument.name = bundle_put_text(bundle, name);
	bundle_put(bundle, TTL_TABLE_arguments, &argument);
}

static void put_step(struct bundle *bundle, const struct plan *plan, const struct plan_launch *from,
	const struct plan_launch *below)
{
	struct ttl_step step = {.entry = bundle_put_text(bundle, from->entry),
		.unit = from->unit,
		.smem_dynamic_bytes = from->shape.smem_dynamic_bytes,
		.repeat = from->shape.repeat,
		.arguments = bundle_next(bundle, TTL_TABLE_arguments, from->argument_count)};

	memcpy(step.grid, from->shape.grid, sizeof(step.grid));
	memcpy(step.block, from->shape.block, sizeof(step.block));
	memcpy(step.cluster, from->shape.cluster, sizeof(step.cluster));
	for (size_t i = 0; i < from->argument_count; i++)
		put_argument(
			bundle, plan, &from->arguments[i], below ? &below->arguments[i] : NULL);
	bundle_put(bundle, TTL_TABLE_steps, &step);
}

static void put_map(struct bundle *bundle, const struct plan_tensor_map *from,
	const struct plan_tensor_map *below)
{
	struct ttl_map map = {.name = bundle_put_text(bundle, from->name),
		.buffer = from->buffer,
		.type = tensor_map_type(from->dtype),
		.rank = from->rank,
		.swizzle = tensor_map_swizzle(from->swizzle_bytes),
		.l2_promotion = tensor_map_promotion(from->l2_promotion_bytes)};

	memcpy(map.dims, from->dims, sizeof(map.dims));
	memcpy(map.strides, from->strides, sizeof(map.strides));
	memcpy(map.box, from->box, sizeof(map.box));
	for (uint32_t i = 0; below && i < from->rank; i++)
		map.sized |= (uint32_t)(from->dims[i] != below->dims[i]) << i;
	bundle_put(bundle, TTL_TABLE_maps, &map);
}

static void put_buffer(struct bundle *bundle, const struct plan_buffer *from)
{
	static const enum ttl_role roles[] = {[BUFFER_INPUT] = TTL_INPUT,
		[BUFFER_OUTPUT] = TTL_OUTPUT,
		[BUFFER_INOUT] = TTL_INOUT,
		[BUFFER_WORKSPACE] = TTL_WORKSPACE};
	const struct ttl_buffer buffer = {.name = bundle_put_text(bundle, from->name),
		.dtype = bundle_put_text(bundle, dtype_names[from->dtype]),
		.role = roles[from->role],
		.init = from->init == BUFFER_INIT_ONCE   ? TTL_INIT_ONCE
			: from->init == BUFFER_INIT_EACH ? TTL_INIT_EACH
							 : TTL_INIT_NONE,
		.bytes = from->bytes,
		.rows = from->rows,
		.columns = from->columns,
		.ld = from->ld};

	bundle_put(bundle, TTL_TABLE_buffers, &buffer);
}

/* Adds all of an entry except sizes and images. `below` is the plan for a size that is smaller
 * by one, or NULL. */
static void put_plan(struct bundle *bundle, const struct plan *plan, const struct plan *below,
	struct ttl_entry *entry)
{
	entry->tensor_count = (uint32_t)plan->tensor_count;
	entry->buffers = bundle_next(bundle, TTL_TABLE_buffers, plan->buffer_count);
	entry->maps = bundle_next(bundle, TTL_TABLE_maps, plan->tensor_map_count);
	entry->symbols = bundle_next(bundle, TTL_TABLE_symbols, plan->symbol_count);
	entry->steps = bundle_next(bundle, TTL_TABLE_steps, plan->launch_count);
	for (size_t i = 0; i < plan->buffer_count; i++)
		put_buffer(bundle, &plan->buffers[i]);
	for (size_t i = 0; i < plan->tensor_map_count; i++)
		put_map(bundle, &plan->tensor_maps[i], below ? &below->tensor_maps[i] : NULL);
	for (size_t i = 0; i < plan->symbol_count; i++) {
		const struct ttl_symbol symbol = {bundle_put_text(bundle, plan->symbols[i].name),
			plan->symbols[i].unit, plan->symbols[i].buffer};

		bundle_put(bundle, TTL_TABLE_symbols, &symbol);
	}
	for (size_t i = 0; i < plan->launch_count; i++)
		put_step(bundle, plan, &plan->launches[i], below ? &below->launches[i] : NULL);
}

enum status bundle_put_entry(struct bundle *bundle, const struct tuned_entry *from, size_t arch,
	bool *serves, struct error *err)
{
	const struct export_source *source = bundle->source;
	CLEANUP(export_kernel_release) struct export_kernel kernel = {0};
	CLEANUP(entry_source_release)
	struct entry_source sizes = {.row = &from->winner, .kernel = &kernel, .arch = arch};
	CLEANUP(memory_free) char *configuration = tuned_row_configuration(&from->winner);
	struct ttl_entry entry = {.family = bundle_put_text(bundle, from->winner.family),
		.configuration = bundle_put_text(bundle, configuration),
		.is_default = arch > 0,
		.is_predicted = from->predicted,
		.time_us = from->winner.time.median,
		.images.first = bundle_count(bundle, TTL_TABLE_images)};

	TRY(export_kernel_open(source->catalogue, source->devices[arch], from, &kernel, err));
	bundle->changed += strcmp(from->winner.kernel_hash, kernel.build.kernel_hash) != 0;
	entry.kernel_hash = bundle_put_text(bundle, kernel.build.kernel_hash);
	TRY(take_names(bundle->stores[arch], &kernel.build, &kernel.plan, err));
	put_sizes(bundle, &sizes, &entry);
	TRY(find_smaller(bundle, &sizes, &entry, err));
	put_plan(bundle, &kernel.plan, entry.up_to == TTL_NONE ? NULL : &sizes.below, &entry);
	TRY(bundle_put_images(bundle, &kernel, arch, err));
	for (size_t other = 1; arch == 0 && source->devices[other]; other++) {
		TRY(bundle_serves(bundle, from, &kernel, other, &serves[other], err));
		if (serves[other])
			TRY(bundle_put_images(bundle, &kernel, other, err));
	}
	entry.images = bundle_since(bundle, TTL_TABLE_images, entry.images.first);
	bundle_put(bundle, TTL_TABLE_entries, &entry);
	return STATUS_OK;
}
