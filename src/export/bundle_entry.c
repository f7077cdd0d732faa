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

/* Sets the names of the launches' entries and of the symbols to those in the code. */
static enum status take_names(
	struct kernel_store *store, const struct build *build, struct plan *plan, struct error *err)
{
	CLEANUP(memory_free)
	const struct compile_result **kernels =
		memory_zeroed(build->unit_count + 1, sizeof(*kernels));

	for (size_t i = 0; i < build->unit_count; i++)
		TRY(kernel_store_wait(store, &build->units[i], &kernels[i], err));
	for (size_t i = 0; i < plan->launch_count; i++)
		(void)kernel_take_entry(kernels[plan->launches[i].unit], &plan->launches[i]);
	return kernel_take_symbols(kernels, plan, err);
}

/* Returns whether problems that do not name the key have this value. */
static bool is_default(const struct problem *problem, size_t key)
{
	const struct operation *operation = problem->operation;
	const size_t count = operation->key_count;
	CLEANUP(memory_free)
	struct value *values = memory_copy(problem->values, count * sizeof(*values));
	CLEANUP(memory_free) bool *named = memory_zeroed(count, sizeof(*named));
	CLEANUP(problem_cleanup) struct problem *other = NULL;

	memset(named, true, count);
	named[key] = false;
	return problem_complete(operation, values, named, &other, NULL) == STATUS_OK &&
	       value_equal(other->values[key], problem->values[key]);
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

static void put_sizes(struct bundle *bundle, const struct problem *problem, struct ttl_entry *entry)
{
	const struct operation *operation = problem->operation;

	entry->sizes = bundle_next(bundle, TTL_TABLE_sizes, operation->key_count);
	for (size_t i = 0; i < operation->key_count; i++) {
		const struct ttl_size size = {
			put_value(bundle, &operation->keys[i], problem->values[i]),
			is_default(problem, i), 0};

		bundle_put(bundle, TTL_TABLE_sizes, &size);
	}
}

static void put_argument(
	struct bundle *bundle, const struct plan *plan, const struct plan_argument *from)
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
	}
	argument.name = bundle_put_text(bundle, name);
	bundle_put(bundle, TTL_TABLE_arguments, &argument);
}

static void put_step(struct bundle *bundle, const struct plan *plan, const struct plan_launch *from)
{
	struct ttl_step step = {.entry = bundle_put_text(bundle, from->entry),
		.unit = from->unit,
		.smem_dynamic_bytes = from->shape.smem_dynamic_bytes,
		.repeat = from->shape.repeat,
		.is_cooperative = from->shape.cooperative,
		.arguments = bundle_next(bundle, TTL_TABLE_arguments, from->argument_count)};

	memcpy(step.grid, from->shape.grid, sizeof(step.grid));
	memcpy(step.block, from->shape.block, sizeof(step.block));
	memcpy(step.cluster, from->shape.cluster, sizeof(step.cluster));
	for (size_t i = 0; i < from->argument_count; i++)
		put_argument(bundle, plan, &from->arguments[i]);
	bundle_put(bundle, TTL_TABLE_steps, &step);
}

static void put_map(struct bundle *bundle, const struct plan_tensor_map *from)
{
	struct ttl_map map = {.name = bundle_put_text(bundle, from->name),
		.buffer = from->buffer,
		.type = tensor_map_type(from->dtype),
		.rank = (uint32_t)from->rank,
		.swizzle = tensor_map_swizzle(from->swizzle_bytes),
		.l2_promotion = tensor_map_promotion(from->l2_promotion_bytes)};

	memcpy(map.dims, from->dims, sizeof(map.dims));
	memcpy(map.strides, from->strides, sizeof(map.strides));
	memcpy(map.box, from->box, sizeof(map.box));
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

/* Adds all of an entry except sizes and images. */
static void put_plan(struct bundle *bundle, const struct plan *plan, struct ttl_entry *entry)
{
	entry->tensor_count = (uint32_t)plan->tensor_count;
	entry->buffers = bundle_next(bundle, TTL_TABLE_buffers, plan->buffer_count);
	entry->maps = bundle_next(bundle, TTL_TABLE_maps, plan->tensor_map_count);
	entry->symbols = bundle_next(bundle, TTL_TABLE_symbols, plan->symbol_count);
	entry->steps = bundle_next(bundle, TTL_TABLE_steps, plan->launch_count);
	for (size_t i = 0; i < plan->buffer_count; i++)
		put_buffer(bundle, &plan->buffers[i]);
	for (size_t i = 0; i < plan->tensor_map_count; i++)
		put_map(bundle, &plan->tensor_maps[i]);
	for (size_t i = 0; i < plan->symbol_count; i++) {
		const struct ttl_symbol symbol = {bundle_put_text(bundle, plan->symbols[i].name),
			plan->symbols[i].unit, plan->symbols[i].buffer};

		bundle_put(bundle, TTL_TABLE_symbols, &symbol);
	}
	for (size_t i = 0; i < plan->launch_count; i++)
		put_step(bundle, plan, &plan->launches[i]);
}

enum status bundle_put_entry(struct bundle *bundle, const struct tuned_entry *from, size_t arch,
	bool *serves, struct error *err)
{
	const struct export_source *source = bundle->source;
	CLEANUP(export_kernel_release) struct export_kernel kernel = {0};
	CLEANUP(memory_free) char *configuration = tuned_row_configuration(&from->winner);
	struct ttl_entry entry = {.family = bundle_put_text(bundle, from->winner.result.family),
		.configuration = bundle_put_text(bundle, configuration),
		.is_default = arch > 0,
		.is_predicted = from->predicted,
		.time_us = from->winner.result.time.median,
		.images.first = bundle_count(bundle, TTL_TABLE_images)};

	TRY(export_kernel_open(source->catalogue, source->devices[arch], from, &kernel, err));
	bundle->changed += strcmp(from->winner.result.kernel_hash, kernel.build.kernel_hash) != 0;
	entry.kernel_hash = bundle_put_text(bundle, kernel.build.kernel_hash);
	TRY(take_names(bundle->stores[arch], &kernel.build, &kernel.plan, err));
	put_sizes(bundle, kernel.problem, &entry);
	put_plan(bundle, &kernel.plan, &entry);
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
