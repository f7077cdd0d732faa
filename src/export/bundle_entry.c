/* SPDX-License-Identifier: MIT */
#include "export/bundle_entry.h"

#include <string.h>

#include "base/memory.h"
#include "candidate/launch_work.h"
#include "candidate/composite.h"
#include "engine/row.h"
#include "measure/candidate_kernels.h"

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

/* ---- plans ---- */
/* A plan on its way into the tables, with the family that says how its numbers are computed. */
struct launches {
	const struct bound_family *bound;
	const struct value *values;
	const struct operation *operation; /* whose keys arguments may be; NULL: a composite's */
	const struct plan *plan;
	size_t at; /* launches of the plan that are written */
};

/* Whether the expression is the key's value, and stays so where that alone is one less. */
static bool is_key(const struct launches *launches, const struct expression *expression, size_t key)
{
	const size_t count = launches->bound->family->names.count;
	CLEANUP(memory_free)
	struct value *values = memory_copy(launches->values, count * sizeof(*values));
	const int64_t size = values[key].integer;
	int64_t same, less;

	values[key] = value_int(size - 1);
	return expression_int(expression, launches->values, &same, NULL) == STATUS_OK &&
	       expression_int(expression, values, &less, NULL) == STATUS_OK && same == size &&
	       less == size - 1;
}

/* The key whose value the expression is ("M", "(batch - 1)*rows_a + M" of one product), or
 * TTL_NONE. */
static int32_t key_of(const struct launches *launches, const struct expression *expression)
{
	const struct operation *operation = launches->operation;

	for (size_t i = 0; operation && expression && i < operation->key_count; i++)
		if (!operation->keys[i].values && !operation->keys[i].is_real &&
			launches->values[i].integer <= INT32_MAX && is_key(launches, expression, i))
			return (int32_t)i;
	return TTL_NONE;
}

static void put_argument(struct bundle *bundle, const struct launches *launches,
	const struct plan_argument *from, const struct argument *named)
{
	const struct plan *plan = launches->plan;
	struct ttl_argument argument = {.index = from->index, .key = TTL_NONE};

	switch (from->kind) {
	case ARGUMENT_BUFFER:
		argument.kind = TTL_BUFFER;
		argument.name = bundle_put_text(bundle, plan->buffers[from->index].name);
		break;
	case ARGUMENT_TENSOR_MAP:
		argument.kind = TTL_MAP;
		argument.name = bundle_put_text(bundle, plan->tensor_maps[from->index].name);
		break;
	default:
		argument.kind = from->kind == ARGUMENT_INT32     ? TTL_I32
				: from->kind == ARGUMENT_FLOAT32 ? TTL_F32
								 : TTL_NUMBER;
		argument.index = plan_argument_bytes(from->kind);
		/* 0: a tensor that a step's problem does not have */
		argument.name = bundle_put_text(
			bundle, named->expression ? expression_text(named->expression) : "0");
		argument.bits = (int64_t)plan_argument_bits(from);
		if (!dtype_is_float(argument_dtype(from->kind)))
			argument.key = key_of(launches, named->expression);
	}
	bundle_put(bundle, TTL_TABLE_arguments, &argument);
}

/* A plan has the active launches of a family in its order, a composite's of its steps. */
static enum status put_launches(struct bundle *bundle, struct launches *launches, struct error *err)
{
	const struct family *family = launches->bound->family;
	const struct composite *composite = launches->bound->composite;

	for (size_t i = 0; composite && i < composite->step_count; i++) {
		launches->bound = composite->steps[i].candidate.bound;
		launches->values = composite->steps[i].values;
		TRY(put_launches(bundle, launches, err));
	}
	for (size_t i = 0; !composite && i < family->launch_count; i++) {
		const struct launch *named = &family->launches[i];
		const struct plan_launch *from = &launches->plan->launches[launches->at];
		struct ttl_step step = {0};
		bool is_active;

		TRY(expression_test(named->when, launches->values, &is_active, err));
		if (!is_active)
			continue;
		step.arguments = bundle_next(bundle, TTL_TABLE_arguments, from->argument_count);
		for (size_t k = 0; k < from->argument_count; k++)
			put_argument(
				bundle, launches, &from->arguments[k], &named->arguments.items[k]);
		step.entry = bundle_put_text(bundle, from->entry);
		step.unit = from->unit;
		memcpy(step.grid, from->shape.grid, sizeof(step.grid));
		memcpy(step.block, from->shape.block, sizeof(step.block));
		memcpy(step.cluster, from->shape.cluster, sizeof(step.cluster));
		step.smem_dynamic_bytes = from->shape.smem_dynamic_bytes;
		step.repeat = from->shape.repeat;
		bundle_put(bundle, TTL_TABLE_steps, &step);
		launches->at++;
	}
	return STATUS_OK;
}

static void put_map(struct bundle *bundle, const struct launches *launches, size_t index)
{
	const struct plan_tensor_map *from = &launches->plan->tensor_maps[index];
	struct ttl_map map = {.name = bundle_put_text(bundle, from->name),
		.buffer = from->buffer,
		.type = tensor_map_type(from->dtype),
		.rank = from->rank,
		.swizzle = tensor_map_swizzle(from->swizzle_bytes),
		.l2_promotion = tensor_map_promotion(from->l2_promotion_bytes)};

	memcpy(map.dims, from->dims, sizeof(map.dims));
	memcpy(map.strides, from->strides, sizeof(map.strides));
	memcpy(map.box, from->box, sizeof(map.box));
	for (size_t i = 0; i < TTL_RANK_MAX; i++)
		map.keys[i] =
			i < from->rank && launches->operation
				? key_of(launches,
					  launches->bound->family->tensor_maps[index].dims.items[i])
				: TTL_NONE;
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

/* Launches by the names that the code has for their entries. */
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

/* Everything of an entry but sizes and images. */
static enum status put_plan(struct bundle *bundle, const struct candidate *candidate,
	const struct plan *plan, const struct value *values, struct ttl_entry *entry,
	struct error *err)
{
	const struct bound_family *bound = candidate->bound;
	struct launches launches = {.bound = bound,
		.values = values,
		.operation = bound->composite ? NULL : bound->problem->operation,
		.plan = plan};

	entry->tensor_count = (uint32_t)plan->tensor_count;
	entry->buffers = bundle_next(bundle, TTL_TABLE_buffers, plan->buffer_count);
	entry->maps = bundle_next(bundle, TTL_TABLE_maps, plan->tensor_map_count);
	entry->symbols = bundle_next(bundle, TTL_TABLE_symbols, plan->symbol_count);
	entry->steps = bundle_next(bundle, TTL_TABLE_steps, plan->launch_count);
	for (size_t i = 0; i < plan->buffer_count; i++)
		put_buffer(bundle, &plan->buffers[i]);
	for (size_t i = 0; i < plan->tensor_map_count; i++)
		put_map(bundle, &launches, i);
	for (size_t i = 0; i < plan->symbol_count; i++) {
		const struct ttl_symbol symbol = {bundle_put_text(bundle, plan->symbols[i].name),
			plan->symbols[i].unit, plan->symbols[i].buffer};

		bundle_put(bundle, TTL_TABLE_symbols, &symbol);
	}
	return put_launches(bundle, &launches, err);
}

/* ---- sizes: for which of them the same kernel may be launched in the same way but for its
 * arguments and tensor maps ---- */
enum {
	SMALLER_SIZES_MAX = 255
};

/* An entry that is being written, and the entry of a smaller problem. */
struct smaller {
	const struct tuned_row *row;
	const struct export_kernel *kernel;
	const struct ttl_entry *entry;
	const bool *given; /* keys that have not their defaults */
	size_t arch;
	int32_t key;
	int64_t size;
};

/* The problem with the key changed, or left out where it has no size. NULL: there is none. */
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

#define ITEMS(bundle, name, type, range)                                                           \
	((type *)(void *)(bundle)->tables[TTL_TABLE_##name].data + (range).first)

/* Whether the other entry is the same once its size stands where the key does. */
static bool same_entry(
	struct bundle *bundle, const struct smaller *smaller, const struct ttl_entry *other)
{
	const struct ttl_entry *entry = smaller->entry;
	const struct ttl_buffer *buffers =
		ITEMS(bundle, buffers, struct ttl_buffer, entry->buffers);
	const struct ttl_buffer *b = ITEMS(bundle, buffers, struct ttl_buffer, other->buffers);
	const struct ttl_map *maps = ITEMS(bundle, maps, struct ttl_map, entry->maps);
	struct ttl_map *m = ITEMS(bundle, maps, struct ttl_map, other->maps);
	const struct ttl_step *steps = ITEMS(bundle, steps, struct ttl_step, entry->steps);
	struct ttl_step *s = ITEMS(bundle, steps, struct ttl_step, other->steps);

	if (entry->steps.count != other->steps.count)
		return false;
	/* a launch copies as much as the entry says */
	for (size_t i = 0; i < entry->symbols.count; i++) {
		const struct ttl_symbol *symbol =
			ITEMS(bundle, symbols, struct ttl_symbol, entry->symbols) + i;

		if (b[symbol->buffer].bytes != buffers[symbol->buffer].bytes)
			return false;
	}
	for (size_t i = 0; i < entry->buffers.count; i++)
		if (b[i].bytes > buffers[i].bytes || !b[i].bytes != !buffers[i].bytes)
			return false;
	for (size_t i = 0; i < entry->maps.count; i++) {
		for (size_t k = 0; k < maps[i].rank; k++)
			if (m[i].keys[k] == smaller->key && m[i].dims[k] == (uint64_t)smaller->size)
				m[i].dims[k] = maps[i].dims[k];
		if (memcmp(&m[i], &maps[i], sizeof(m[i])) != 0)
			return false;
	}
	for (size_t i = 0; i < entry->steps.count; i++) {
		const struct ttl_argument *arguments =
			ITEMS(bundle, arguments, struct ttl_argument, steps[i].arguments);
		struct ttl_argument *a =
			ITEMS(bundle, arguments, struct ttl_argument, s[i].arguments);

		for (size_t k = 0; k < steps[i].arguments.count; k++) {
			if (a[k].key == smaller->key && a[k].bits == smaller->size)
				a[k].bits = arguments[k].bits;
			if (memcmp(&a[k], &arguments[k], sizeof(a[k])) != 0)
				return false;
		}
		s[i].arguments.first = steps[i].arguments.first;
		if (memcmp(&s[i], &steps[i], sizeof(s[i])) != 0)
			return false;
	}
	return true;
}

/* Whether the smaller problem is the entry's but for arguments and maps: its own entry is made. */
static enum status try_smaller(
	struct bundle *bundle, const struct smaller *smaller, bool *same, struct error *err)
{
	const struct export_source *source = bundle->source;
	const size_t key = (size_t)smaller->key;
	CLEANUP(problem_cleanup)
	struct problem *problem =
		other_problem(smaller->kernel->problem, smaller->given, key, &smaller->size);
	CLEANUP(candidate_release) struct candidate candidate = {0};
	CLEANUP(memory_free) struct value *values = NULL;
	CLEANUP(plan_release) struct plan plan = {0};
	CLEANUP(build_release) struct build build = {0};
	size_t lengths[TTL_TABLE_COUNT];
	struct ttl_entry other = {0};
	struct error reason;

	*same = false;
	if (!problem || row_candidate(source->catalogue, problem, smaller->kernel->device,
				smaller->row, &candidate, NULL, &reason) != STATUS_OK)
		return STATUS_OK;
	if (!(values = candidate_values(&candidate, err)))
		return STATUS_FAILED;
	TRY(candidate_plan(candidate.bound, values, &plan, err));
	TRY(candidate_build(candidate.bound, values, &build, err));
	if (strcmp(build.kernel_hash, smaller->kernel->build.kernel_hash) != 0)
		return STATUS_OK;
	TRY(take_names(bundle->stores[smaller->arch], &build, &plan, err));
	for (size_t i = 0; i < TTL_TABLE_COUNT; i++)
		lengths[i] = bundle->tables[i].length;
	TRY(put_plan(bundle, &candidate, &plan, values, &other, err));
	*same = same_entry(bundle, smaller, &other);
	for (size_t i = 0; i < TTL_TABLE_COUNT; i++)
		bundle->tables[i].length = lengths[i];
	return STATUS_OK;
}

/* A choice and a real number as text, an integer as it is. */
static int64_t put_size(struct bundle *bundle, const struct key *key, struct value value)
{
	CLEANUP(text_release) struct text text = {0};

	if (!key->values && !key->is_real)
		return value.integer;
	value_format(value, &text);
	return bundle_put_text(bundle, text_string(&text));
}

static enum status put_sizes(struct bundle *bundle, const struct tuned_row *row,
	const struct export_kernel *kernel, size_t arch, struct ttl_entry *entry, struct error *err)
{
	const struct operation *operation = kernel->problem->operation;
	const size_t count = operation->key_count;
	CLEANUP(memory_free) struct ttl_size *sizes = memory_zeroed(count + 1, sizeof(*sizes));
	CLEANUP(memory_free) bool *given = memory_zeroed(count + 1, sizeof(*given));

	memset(given, true, count);
	for (size_t i = 0; i < count; i++) {
		struct problem *without = other_problem(kernel->problem, given, i, NULL);

		sizes[i].is_default =
			without && value_equal(without->values[i], kernel->problem->values[i]);
		problem_free(without);
	}
	for (size_t i = 0; i < count; i++)
		given[i] = !sizes[i].is_default;
	for (size_t i = 0; i < count; i++) {
		const struct value value = kernel->problem->values[i];
		struct smaller smaller = {
			row, kernel, entry, given, arch, (int32_t)i, value.integer};
		bool same = !operation->keys[i].values && !operation->keys[i].is_constant &&
			    !kernel->candidate.bound->composite;

		sizes[i].high = put_size(bundle, &operation->keys[i], value);
		sizes[i].low = sizes[i].high;
		while (same && sizes[i].low > 1 &&
			sizes[i].high - sizes[i].low < SMALLER_SIZES_MAX) {
			smaller.size = sizes[i].low - 1;
			TRY(try_smaller(bundle, &smaller, &same, err));
			sizes[i].low -= same;
		}
	}
	entry->sizes = bundle_next(bundle, TTL_TABLE_sizes, count);
	for (size_t i = 0; i < count; i++)
		bundle_put(bundle, TTL_TABLE_sizes, &sizes[i]);
	return STATUS_OK;
}

enum status bundle_put_entry(struct bundle *bundle, const struct tuned_entry *from, size_t arch,
	bool *serves, struct error *err)
{
	const struct export_source *source = bundle->source;
	CLEANUP(export_kernel_release) struct export_kernel kernel = {0};
	CLEANUP(memory_free) struct value *values = NULL;
	CLEANUP(memory_free) char *configuration = tuned_row_configuration(&from->winner);
	struct ttl_entry entry = {.family = bundle_put_text(bundle, from->winner.family),
		.configuration = bundle_put_text(bundle, configuration),
		.is_default = arch > 0,
		.is_predicted = from->predicted,
		.time_us = from->winner.time.median,
		.images.first = bundle_count(bundle, TTL_TABLE_images)};

	TRY(export_kernel_open(source->catalogue, source->devices[arch], from, &kernel, err));
	if (!(values = candidate_values(&kernel.candidate, err)))
		return STATUS_FAILED;
	bundle->changed += strcmp(from->winner.kernel_hash, kernel.build.kernel_hash) != 0;
	entry.kernel_hash = bundle_put_text(bundle, kernel.build.kernel_hash);
	TRY(take_names(bundle->stores[arch], &kernel.build, &kernel.plan, err));
	TRY(put_plan(bundle, &kernel.candidate, &kernel.plan, values, &entry, err));
	TRY(put_sizes(bundle, &from->winner, &kernel, arch, &entry, err));
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
