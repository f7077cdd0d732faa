/* SPDX-License-Identifier: MIT */
#include "advise/variant.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* ---- texts of problems as lists of settings ---- */
static void push(struct setting_list *list, const char *name, size_t length, const char *value)
{
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = (struct setting){
		.name = string_copy_bytes(name, length), .value = string_copy(value)};
}

/* "A=B=value" */
static void push_piece(struct setting_list *list, char *piece)
{
	char *value = strrchr(piece, '=');

	if (!value) {
		struct setting *last = list->count ? &list->items[list->count - 1] : NULL;
		char *joined;

		if (!last)
			return;
		joined = string_format("%s,%s", last->value, piece);
		free(last->value);
		last->value = joined;
		return;
	}
	*value++ = '\0';
	for (char *name = piece; *name;) {
		size_t length;

		name += strspn(name, " \t=");
		length = strcspn(name, " \t=");
		if (length)
			push(list, name, length, value);
		name += length;
	}
}

void setting_list_parse(const char *text, struct setting_list *list)
{
	CLEANUP(memory_free) char *copy = string_copy(text);
	char *rest = copy, *piece;

	*list = (struct setting_list){0};
	while ((piece = strsep(&rest, ",")) != NULL)
		push_piece(list, piece);
}

void setting_list_copy(const struct setting_list *from, struct setting_list *to)
{
	*to = (struct setting_list){0};
	for (size_t i = 0; i < from->count; i++)
		push(to, from->items[i].name, strlen(from->items[i].name), from->items[i].value);
}

void setting_list_release(struct setting_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].name);
		free(list->items[i].value);
	}
	free(list->items);
	*list = (struct setting_list){0};
}

static struct setting *find(const struct setting_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	return NULL;
}

void setting_list_set(struct setting_list *list, const char *name, int64_t value)
{
	struct setting *found = find(list, name);
	char *text = string_format("%" PRId64, value);

	if (found) {
		free(found->value);
		found->value = text;
		return;
	}
	push(list, name, strlen(name), text);
	free(text);
}

void setting_list_add(struct setting_list *list, const char *name, const char *value)
{
	push(list, name, strlen(name), value);
}

bool setting_list_has(const struct setting_list *list, const char *name)
{
	return find(list, name) != NULL;
}

void setting_list_remove(struct setting_list *list, const char *name)
{
	struct setting *found = find(list, name);

	if (!found)
		return;
	free(found->name);
	free(found->value);
	*found = list->items[--list->count];
}

bool setting_list_integer(const struct setting_list *list, const char *name, int64_t *value)
{
	const struct setting *found = find(list, name);
	char *end;

	if (!found)
		return false;
	errno = 0;
	*value = strtoll(found->value, &end, 10);
	return end != found->value && !*end && errno == 0;
}

char *setting_list_text(const struct setting_list *list)
{
	struct text text = {0};

	for (size_t i = 0; i < list->count; i++)
		text_appendf(
			&text, "%s%s=%s", i ? "," : "", list->items[i].name, list->items[i].value);
	return text_detach(&text);
}

/* ---- variants ---- */
/* How far a size may grow or shrink: padding by more than a quarter hardly ever pays. */
static const double growth_max_ratio = 0.25;
static const double shrink_max_ratio = 0.125;
/* From this multiple on not only the nearest one is tried: the tile that a wave ends with is not
 * known here. */
enum {
	COARSE_MULTIPLE = 64,
	COARSE_STEPS_UP = 3,
	COARSE_STEPS_DOWN = 2,
};

/* What may be changed: a key of the text, or one part of its alias. */
struct handle {
	const struct advice_axis *axis;
	const char *name;
	int64_t value;
	int64_t *multiples;
	size_t multiple_count;
};

struct making {
	const struct operation *operation;
	struct setting_list settings;
	const struct problem *asked;
	struct handle *handles;
	size_t handle_count, handle_capacity;
	struct variant_list *list;
	struct error *err;
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

static bool is_known(const struct making *making, const struct problem *problem)
{
	if (strcmp(problem->text, making->asked->text) == 0)
		return true;
	for (size_t i = 0; i < making->list->count; i++)
		if (strcmp(making->list->items[i].problem->text, problem->text) == 0)
			return true;
	return false;
}

/* A variant that the operation refuses (a pitch that was given is too small now) is none. */
static void add(struct making *making, const struct variant *variant)
{
	struct variant_list *list = making->list;
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(setting_list_release) struct setting_list settings = {0};
	CLEANUP(memory_free) char *text = NULL;

	setting_list_copy(&making->settings, &settings);
	for (size_t i = 0; i < variant->change_count; i++)
		setting_list_set(&settings, variant->changes[i].name, variant->changes[i].to);
	text = setting_list_text(&settings);
	if (problem_parse(making->operation, text, &problems, NULL) == STATUS_OK &&
		problems.count == 1 && !is_known(making, problems.items[0])) {
		ARRAY_GROW(list->items, list->count, list->capacity);
		list->items[list->count] = *variant;
		list->items[list->count++].problem = problems.items[0];
		problems.count = 0;
	}
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
	/* the least alignment is always worth a look */
	return (double)to <= from * (1 + growth_max_ratio) ||
	       to == (handle->value / handle->multiples[0] + 1) * handle->multiples[0];
}

static void add_single(struct making *making, const struct handle *handle, int64_t to)
{
	struct variant variant = {.kind = kind_of(handle, to),
		.changes = {{.name = handle->name, .from = handle->value, .to = to}},
		.change_count = 1};

	if (in_reach(handle, to))
		add(making, &variant);
}

static int64_t round_up(int64_t value, int64_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

static void vary(struct making *making, const struct handle *handle)
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

/* All padded sizes, or all pitches, to one multiple. */
static void vary_together(struct making *making, bool pitches, int64_t multiple)
{
	struct variant variant = {.kind = pitches ? VARIANT_PITCH : VARIANT_PAD};

	for (size_t i = 0; i < making->handle_count; i++) {
		const struct handle *handle = &making->handles[i];
		int64_t to = round_up(handle->value, multiple);

		if (handle->axis->is_pitch != pitches || !handle->axis->is_padding ||
			!has_multiple(handle, multiple) || !in_reach(handle, to) ||
			variant.change_count == VARIANT_CHANGES_MAX)
			continue;
		variant.changes[variant.change_count++] = (struct variant_change){
			.name = handle->name, .from = handle->value, .to = to};
	}
	if (variant.change_count > 1)
		add(making, &variant);
}

static enum status add_handle(
	struct making *making, const struct advice_axis *axis, const char *name, int64_t value)
{
	struct handle *handle;

	ARRAY_GROW(making->handles, making->handle_count, making->handle_capacity);
	handle = &making->handles[making->handle_count++];
	*handle = (struct handle){.axis = axis, .name = name, .value = value};
	TRY(advice_multiples(
		making->asked, axis, &handle->multiples, &handle->multiple_count, making->err));
	if (!handle->multiple_count)
		making->handle_count--;
	return STATUS_OK;
}

/* The key itself, or, where the text has its alias, each part of that. */
static enum status add_handles(struct making *making, const struct advice_axis *axis)
{
	size_t count;
	const char *const *parts = advice_alias_parts(making->operation, axis->key, &count);
	bool aliased = count > 0;
	int64_t value;

	for (size_t i = 0; i < count; i++)
		aliased = aliased && setting_list_has(&making->settings, parts[i]);
	for (size_t i = 0; aliased && i < count; i++)
		if (setting_list_integer(&making->settings, parts[i], &value))
			TRY(add_handle(making, axis, parts[i], value));
	if (aliased || !value_as_int(making->asked->values[axis->key], &value))
		return STATUS_OK;
	return add_handle(making, axis, making->operation->keys[axis->key].name, value);
}

static void making_release(struct making *making)
{
	for (size_t i = 0; i < making->handle_count; i++)
		free(making->handles[i].multiples);
	free(making->handles);
	setting_list_release(&making->settings);
}

static void make_all(struct making *making)
{
	for (size_t i = 0; i < making->handle_count; i++)
		vary(making, &making->handles[i]);
	for (size_t i = 0; i < making->handle_count; i++)
		for (size_t k = 0; k < making->handles[i].multiple_count; k++)
			vary_together(making, making->handles[i].axis->is_pitch,
				making->handles[i].multiples[k]);
}

enum status variants_make(const struct operation *operation, const char *text,
	struct variant_list *list, struct error *err)
{
	const struct advice_list *advice = &operation->advice;
	CLEANUP(making_release)
	struct making making = {.operation = operation, .list = list, .err = err};
	CLEANUP(problem_list_release) struct problem_list asked = {0};

	*list = (struct variant_list){0};
	if (!advice->count)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an operation that says which sizes may change (\"advise\" in "
			"its operation.json), found none",
			operation->name);
	TRY(problem_parse(operation, text, &asked, err));
	if (asked.count != 1)
		return error_set(err, STATUS_BAD_INPUT,
			"problem \"%s\": expected one problem, found %zu", text, asked.count);
	making.asked = asked.items[0];
	setting_list_parse(text, &making.settings);
	for (size_t i = 0; i < advice->count; i++)
		TRY(add_handles(&making, &advice->items[i]));
	make_all(&making);
	return STATUS_OK;
}
