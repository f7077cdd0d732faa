/* SPDX-License-Identifier: MIT */
#include "expr/value.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool value_as_int(struct value value, int64_t *integer)
{
	if (value.type == VALUE_INT)
		*integer = value.integer;
	else if (value.type == VALUE_BOOL)
		*integer = value.boolean;
	else
		return false;
	return true;
}

bool value_as_real(struct value value, double *real)
{
	int64_t integer;
	if (value.type == VALUE_REAL)
		*real = value.real;
	else if (value_as_int(value, &integer))
		*real = (double)integer;
	else
		return false;
	return true;
}

bool value_whole(struct value value, int64_t *integer)
{
	if (value.type != VALUE_REAL)
		return value_as_int(value, integer);
	if (!(value.real >= -0x1p63 && value.real < 0x1p63) || trunc(value.real) != value.real)
		return false;
	*integer = (int64_t)value.real;
	return true;
}

/* A long double holds all 64-bit integers and doubles exactly. */
static bool as_exact(struct value value, long double *exact)
{
	int64_t integer;

	_Static_assert(LDBL_MANT_DIG >= 64, "a long double must hold 64 bits");
	if (value_as_int(value, &integer))
		*exact = (long double)integer;
	else if (value.type == VALUE_REAL)
		*exact = (long double)value.real;
	else
		return false;
	return true;
}

enum value_order value_compare(struct value a, struct value b)
{
	long double left, right;

	if (!as_exact(a, &left) || !as_exact(b, &right))
		return VALUE_UNORDERED;
	return left < right    ? VALUE_LESS
	       : left > right  ? VALUE_GREATER
	       : left == right ? VALUE_EQUAL
			       : VALUE_UNORDERED;
}

bool value_equal(struct value a, struct value b)
{
	if (a.type == VALUE_INT && b.type == VALUE_INT)
		return a.integer == b.integer;
	if (a.type == VALUE_STRING && b.type == VALUE_STRING)
		return a.string == b.string || strcmp(a.string, b.string) == 0;
	if (a.type == VALUE_LIST && b.type == VALUE_LIST) {
		if (a.list->count != b.list->count || a.list->is_tuple != b.list->is_tuple)
			return false;
		for (size_t i = 0; i < a.list->count; i++)
			if (!value_equal(a.list->items[i], b.list->items[i]))
				return false;
		return true;
	}
	return value_compare(a, b) == VALUE_EQUAL;
}

bool value_truth(struct value value)
{
	switch (value.type) {
	case VALUE_NONE:
		return false;
	case VALUE_BOOL:
		return value.boolean;
	case VALUE_INT:
		return value.integer != 0;
	case VALUE_REAL:
		return value.real != 0;
	case VALUE_STRING:
		return value.string[0] != 0;
	case VALUE_LIST:
		return value.list->count != 0;
	}
	return false;
}

const char *value_type_name(enum value_type type)
{
	static const char *const names[] = {
		[VALUE_NONE] = "nothing",
		[VALUE_BOOL] = "a boolean",
		[VALUE_INT] = "an integer",
		[VALUE_REAL] = "a real number",
		[VALUE_STRING] = "a string",
		[VALUE_LIST] = "a list",
	};
	return names[type];
}

/* Appends a real with a point or an exponent, so that the text is not an integer. */
static void real_format(double real, struct text *text)
{
	const size_t before = text->length;
	text_append_real(text, real);
	if (!strpbrk(text->data + before, ".einf"))
		text_append(text, ".0");
}

void value_format(struct value value, struct text *text)
{
	switch (value.type) {
	case VALUE_NONE:
		text_append(text, "none");
		break;
	case VALUE_BOOL:
		text_append(text, value.boolean ? "true" : "false");
		break;
	case VALUE_INT:
		text_appendf(text, "%" PRId64, value.integer);
		break;
	case VALUE_REAL:
		real_format(value.real, text);
		break;
	case VALUE_STRING:
		text_append(text, value.string);
		break;
	case VALUE_LIST:
		text_append(text, value.list->is_tuple ? "(" : "[");
		for (size_t i = 0; i < value.list->count; i++) {
			text_append(text, i ? ", " : "");
			value_format(value.list->items[i], text);
		}
		text_append(text, !value.list->is_tuple    ? "]"
				  : value.list->count == 1 ? ",)"
							   : ")");
		break;
	}
}

struct json *value_to_json(struct value value)
{
	struct json *list;

	switch (value.type) {
	case VALUE_BOOL:
		return json_new_bool(value.boolean);
	case VALUE_INT:
		return json_new_int(value.integer);
	case VALUE_REAL:
		return json_new_double(value.real);
	case VALUE_STRING:
		return json_new_string(value.string);
	case VALUE_LIST:
		list = json_new_array();
		for (size_t i = 0; i < value.list->count; i++)
			json_push(list, value_to_json(value.list->items[i]));
		return list;
	case VALUE_NONE:
		break;
	}
	BUG("an unbound value cannot be written as JSON");
}

enum {
	FIRST_BLOCK_BYTES = 500,
	ALIGNMENT = 16
};

struct value_arena_block {
	struct value_arena_block *next;
	size_t used, size;
	_Alignas(ALIGNMENT) unsigned char bytes[];
};

void *value_arena_take(struct value_arena *arena, size_t size)
{
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct value_arena_block *block = arena->blocks;
	if (!block || block->size - block->used < size) {
		/* The first block is small, because most expressions are short. */
		size_t room = block ? 2 * block->size : FIRST_BLOCK_BYTES;
		room = size > room ? size : room;
		block = memory_zeroed(1, sizeof(*block) + room);
		block->size = room;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	void *piece = block->bytes + block->used;
	block->used += size;
	return piece;
}

char *value_arena_copy_string(struct value_arena *arena, const char *string, size_t length)
{
	char *copy = value_arena_take(arena, length + 1);
	memcpy(copy, string, length);
	return copy;
}

void *value_arena_extend(struct value_arena *arena, void *items, size_t count, size_t item_size)
{
	void *extended;
	if (count & (count - 1)) /* The capacity grows at powers of two. */
		return items;
	extended = value_arena_take(arena, (2 * count + !count) * item_size);
	if (count)
		memcpy(extended, items, count * item_size);
	return extended;
}

void value_list_push(struct value_list *list, const struct value *value, struct value_arena *arena)
{
	list->items = value_arena_extend(arena, list->items, list->count, sizeof(*list->items));
	list->items[list->count++] = *value;
}

void value_arena_release(struct value_arena *arena)
{
	while (arena->blocks) {
		struct value_arena_block *next = arena->blocks->next;
		free(arena->blocks);
		arena->blocks = next;
	}
}
