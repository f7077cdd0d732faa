/* SPDX-License-Identifier: MIT */
#include "family/computed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/buffer.h"

void computed_list_release(struct computed_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		expression_free(list->items[i].expression);
	free(list->items);
	*list = (struct computed_list){0};
}

static void release_member(void *field)
{
	computed_list_release(field);
}

const struct record_custom computed_list_member = {NULL, NULL, release_member};

/* Uses the range of the member's type if the table states none. */
static void range_fill(struct computed *computed)
{
	const int width = 8 * (int)computed->size;

	if (computed->low < computed->high)
		return;
	if (computed->kind == RECORD_KIND_REAL) {
		computed->low = -INFINITY;
		computed->high = INFINITY;
	} else if (computed->kind == RECORD_KIND_INT) {
		computed->low = -ldexp(1, width - 1);
		computed->high = ldexp(1, width - 1) - 1;
	} else {
		computed->high = ldexp(1, width < 64 ? width : 63) - 1;
	}
}

struct computed *computed_add(struct computed_list *list, struct expression *expression,
	const struct record_member *member)
{
	struct computed *added;

	list->items = memory_resize(list->items, list->count + 1, sizeof(*list->items));
	added = &list->items[list->count++];
	*added = (struct computed){.expression = expression,
		.list = COMPUTED_DIRECT,
		.kind = member->kind,
		.size = member->size,
		.low = member->low,
		.high = member->high,
		.names = member->names,
		.expected = member->expected,
		.repeat = 1,
		.scale = 1,
		.reads = COMPUTED_ALL};

	range_fill(added);
	return added;
}

struct computed_list computed_specialise(
	const struct computed_list *list, const struct value *values, size_t first)
{
	struct computed_list made = {.count = list->count};

	if (!list->count)
		return made;
	made.items = memory_copy(list->items, list->count * sizeof(*list->items));
	for (size_t i = 0; i < list->count; i++) {
		struct computed *computed = &made.items[i];
		const int *indices;
		size_t count;

		computed->expression = expression_specialise(computed->expression, values);
		computed->reads = 0;
		indices = expression_indices(computed->expression, &count);
		while (count--)
			computed->reads |= computed_bit((size_t)indices[count], first);
	}
	return made;
}

struct computed *computed_find(const struct computed_list *list, size_t offset)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].list == COMPUTED_DIRECT && list->items[i].offset == offset)
			return &list->items[i];
	return NULL;
}

static enum status computed_refuse(const struct computed *computed, double found, struct error *err)
{
	return error_set(err, STATUS_BAD_INPUT, "%s: expected %s, found %g",
		expression_where(computed->expression),
		computed->expected ? computed->expected : "a number that its member can hold",
		found);
}

static enum status put_real(
	const struct computed *computed, const struct value *values, double *to, struct error *err)
{
	TRY(expression_real(computed->expression, values, to, err));
	return isfinite(*to) && *to >= computed->low && *to <= computed->high
		       ? STATUS_OK
		       : computed_refuse(computed, *to, err);
}

static enum status put_integer(
	const struct computed *computed, const struct value *values, void *to, struct error *err)
{
	const int64_t least = (int64_t)computed->low,
		      most = computed->high < 0x1p63 ? (int64_t)computed->high : INT64_MAX;
	int64_t number;

	TRY(expression_int(computed->expression, values, &number, err));
	if (number >= least && number <= most) {
		number *= computed->scale;
		memcpy(to, &number, computed->size);
		return STATUS_OK;
	}
	if (!computed->expected)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a number from %" PRId64 " to %" PRId64 ", found %" PRId64,
			expression_where(computed->expression), least, most, number);
	return error_set(err, STATUS_BAD_INPUT, "%s: expected %s, found %" PRId64,
		expression_where(computed->expression), computed->expected, number);
}

static enum status put_enum(
	const struct computed *computed, const struct value *values, void *to, struct error *err)
{
	const char *name;
	int found;

	TRY(expression_string(computed->expression, values, &name, err));
	found = name_find(name, computed->names);
	memcpy(to, &found, computed->size);
	if (found >= 0)
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "%s: expected %s, found \"%s\"",
		expression_where(computed->expression),
		computed->expected ? computed->expected : "a known name", name);
	return computed->names == dtype_names ? dtype_list_types(err) : STATUS_BAD_INPUT;
}

static enum status put(
	const struct computed *computed, const struct value *values, void *to, struct error *err)
{
	switch (computed->kind) {
	case RECORD_KIND_BOOL:
		return expression_test(computed->expression, values, to, err);
	case RECORD_KIND_REAL:
		return put_real(computed, values, to, err);
	case RECORD_KIND_ENUM:
		return put_enum(computed, values, to, err);
	default:
		return put_integer(computed, values, to, err);
	}
}

static enum status put_lanes(const struct computed *computed, struct value *values, size_t lane,
	char *to, struct error *err)
{
	for (size_t i = 0; i < computed->repeat; i++, to += computed->size) {
		values[lane] = value_int((int64_t)i);
		TRY(put(computed, values, to, err));
	}
	return STATUS_OK;
}

static char *place_of(const struct computed *computed, void *base)
{
	char *data = base;

	if (computed->list != COMPUTED_DIRECT)
		memcpy(&data, data + computed->list, sizeof(data));
	return data + computed->offset;
}

enum status computed_evaluate(const struct computed_list *list, size_t count, void *base,
	struct value *values, size_t lane, uint64_t changed, struct error *err)
{
	/* value of the last condition, now and in the previous evaluation */
	bool holds = true, held = true;

	for (size_t i = 0; i < count; i++) {
		const struct computed *computed = &list->items[i];
		char *to = place_of(computed, base);
		const bool stays = changed != COMPUTED_ALL && !(computed->reads & changed);

		if (computed->is_condition) {
			held = holds = *(const bool *)to;
			if (!stays)
				TRY(put(computed, values, to, err));
			holds = *(const bool *)to;
			continue;
		}
		/* A member skipped under a false condition must be computed once the condition
		 * holds. */
		if (computed->is_conditional ? !holds || (stays && held) : stays)
			continue;
		TRY(computed->repeat > 1 ? put_lanes(computed, values, lane, to, err)
					 : put(computed, values, to, err));
	}
	return STATUS_OK;
}
