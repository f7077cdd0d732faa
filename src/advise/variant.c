/* SPDX-License-Identifier: MIT */
#include "advise/variant.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Padding by more than a quarter is rarely faster. */
static const double growth_max_ratio = 0.25;
static const double shrink_max_ratio = 0.125;
/* Several coarse multiples are tried, because the tile that fills the last wave is not known. */
enum {
	COARSE_MULTIPLE = 64,
	COARSE_STEPS_UP = 3,
	COARSE_STEPS_DOWN = 2,
};

struct handle {
	const struct advice_axis *axis;
	int64_t value;
	int64_t *multiples;
	size_t multiple_count;
};

struct variant_making {
	const struct problem *asked;
	bool *given; /* per key: the user gave it */
	struct handle *handles;
	size_t handle_count;
	struct variant_list *list;
};

const char *const variant_kind_names[] = {[VARIANT_PAD] = "pad",
	[VARIANT_PITCH] = "pitch",
	[VARIANT_CHOOSE] = "choose",
	[VARIANT_SHRINK] = "shrink",
	NULL};

void variant_describe(const struct variant *variant, struct text *text)
{
	for (size_t i = 0; i < variant->change_count; i++)
		text_appendf(text, "%s%s %" PRId64 " -> %" PRId64, i ? ", " : "",
			variant->changes[i].name, variant->changes[i].from, variant->changes[i].to);
}

void variant_list_release(struct variant_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		problem_free(list->items[i].problem);
	free(list->items);
	*list = (struct variant_list){0};
}

static bool is_known(const struct variant_making *making, const struct problem *problem)
{
	if (strcmp(problem->text, making->asked->text) == 0)
		return true;
	for (size_t i = 0; i < making->list->count; i++)
		if (strcmp(making->list->items[i].problem->text, problem->text) == 0)
			return true;
	return false;
}

/* The operation may reject the variant: a given pitch may now be too small. */
static void add(struct variant_making *making, const struct variant *variant)
{
	const struct operation *operation = making->asked->operation;
	struct variant_list *list = making->list;
	CLEANUP(memory_free)
	struct value *values = memory_copy(
		making->asked->values, operation->key_count * sizeof(*making->asked->values));
	CLEANUP(memory_free)
	bool *given = memory_copy(making->given, operation->key_count * sizeof(*given));
	struct problem *problem = NULL;

	for (size_t i = 0; i < variant->change_count; i++) {
		values[variant->changes[i].key] = value_int(variant->changes[i].to);
		given[variant->changes[i].key] = true;
	}
	if (problem_complete(operation, values, given, &problem, NULL) != STATUS_OK ||
		is_known(making, problem)) {
		problem_free(problem);
		return;
	}
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count] = *variant;
	list->items[list->count++].problem = problem;
}

static enum variant_kind kind_of(const struct handle *handle, int64_t to)
{
	if (handle->axis->is_pitch)
		return VARIANT_PITCH;
	if (to < handle->value)
		return VARIANT_SHRINK;
	return handle->axis->is_padding ? VARIANT_PAD : VARIANT_CHOOSE;
}

static bool in_reach(const struct handle *handle, int64_t to)
{
	double from = (double)handle->value;

	if (to < 1 || to == handle->value)
		return false;
	if (to < handle->value)
		return (double)to >= from * (1 - shrink_max_ratio);
	/* always try the smallest alignment */
	return (double)to <= from * (1 + growth_max_ratio) ||
	       to == (handle->value / handle->multiples[0] + 1) * handle->multiples[0];
}

static void change(const struct variant_making *making, const struct handle *handle, int64_t to,
	struct variant *variant)
{
	const size_t key = handle->axis->key;

	if (in_reach(handle, to) && variant->change_count < VARIANT_CHANGES_MAX)
		variant->changes[variant->change_count++] = (struct variant_change){.key = key,
			.name = making->asked->operation->keys[key].name,
			.from = handle->value,
			.to = to};
}

static void add_single(struct variant_making *making, const struct handle *handle, int64_t to)
{
	struct variant variant = {.kind = kind_of(handle, to)};

	change(making, handle, to, &variant);
	if (variant.change_count)
		add(making, &variant);
}

static int64_t round_up(int64_t value, int64_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

static void vary(struct variant_making *making, const struct handle *handle)
{
	for (size_t i = 0; i < handle->multiple_count; i++) {
		int64_t multiple = handle->multiples[i];
		bool coarse = multiple >= COARSE_MULTIPLE && !handle->axis->is_pitch;
		int64_t up = round_up(handle->value, multiple);
		int64_t down = handle->value / multiple * multiple;

		for (int step = 0; step < (coarse ? COARSE_STEPS_UP : 1); step++)
			add_single(making, handle, up + step * multiple);
		if (handle->axis->is_pitch)
			continue;
		for (int step = 0; step < (coarse ? COARSE_STEPS_DOWN : 1); step++)
			add_single(making, handle, down - step * multiple);
	}
}

static bool has_multiple(const struct handle *handle, int64_t multiple)
{
	for (size_t i = 0; i < handle->multiple_count; i++)
		if (handle->multiples[i] == multiple)
			return true;
	return false;
}

static void vary_together(struct variant_making *making, bool pitches, int64_t multiple)
{
	struct variant variant = {.kind = pitches ? VARIANT_PITCH : VARIANT_PAD};

	for (size_t i = 0; i < making->handle_count; i++) {
		const struct handle *handle = &making->handles[i];

		if (handle->axis->is_pitch == pitches && handle->axis->is_padding &&
			has_multiple(handle, multiple))
			change(making, handle, round_up(handle->value, multiple), &variant);
	}
	if (variant.change_count > 1)
		add(making, &variant);
}

static void making_release(struct variant_making *making)
{
	for (size_t i = 0; i < making->handle_count; i++)
		free(making->handles[i].multiples);
	free(making->handles);
	free(making->given);
}

static void make_all(struct variant_making *making)
{
	for (size_t i = 0; i < making->handle_count; i++)
		vary(making, &making->handles[i]);
	for (size_t i = 0; i < making->handle_count; i++)
		for (size_t k = 0; k < making->handles[i].multiple_count; k++)
			vary_together(making, making->handles[i].axis->is_pitch,
				making->handles[i].multiples[k]);
}

int variant_roundness(const struct problem *problem)
{
	const struct advice_list *advice = &problem->operation->advice;
	const int enough = 7;
	int sum = 0;

	for (size_t i = 0; i < advice->count; i++) {
		int64_t value;
		int twos = 0;

		if (advice->items[i].is_pitch ||
			!value_as_int(problem->values[advice->items[i].key], &value))
			continue;
		while (twos < enough && value % (INT64_C(2) << twos) == 0)
			twos++;
		sum += twos;
	}
	return sum;
}

void variant_find_given(const struct operation *operation, const char *text, bool *given)
{
	for (size_t i = 0; i < operation->key_count; i++) {
		const char *name = operation->keys[i].name;

		for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
			const char *end = at + strlen(name);

			given[i] |= (at == text || strchr("=, \t", at[-1])) &&
				    end[strspn(end, " \t")] == '=';
		}
	}
}

enum status variants_make(
	const struct problem *asked, const char *text, struct variant_list *list, struct error *err)
{
	const struct operation *operation = asked->operation;
	const struct advice_list *advice = &operation->advice;
	CLEANUP(making_release)
	struct variant_making making = {.asked = asked,
		.list = list,
		.given = memory_zeroed(operation->key_count + 1, sizeof(*making.given)),
		.handles = memory_zeroed(advice->count + 1, sizeof(*making.handles))};

	*list = (struct variant_list){0};
	if (!advice->count) {
		error_set(err, STATUS_BAD_INPUT,
			"%s: the member \"advise\", which says which sizes may change, is missing",
			operation->file);
		return error_hint(err,
			"show the waves of a range of sizes instead: -p %s=1000:2000:100",
			operation->key_count ? operation->keys[0].name : "n");
	}
	variant_find_given(operation, text, making.given);
	for (size_t i = 0; i < advice->count; i++) {
		struct handle *handle = &making.handles[making.handle_count];

		*handle = (struct handle){.axis = &advice->items[i]};
		if (!value_as_int(asked->values[handle->axis->key], &handle->value))
			continue;
		TRY(advice_multiples(
			asked, handle->axis, &handle->multiples, &handle->multiple_count, err));
		making.handle_count += handle->multiple_count > 0;
	}
	make_all(&making);
	return STATUS_OK;
}
