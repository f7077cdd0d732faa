/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/memory.h"

static void text_reserve(struct text *text, size_t more)
{
	size_t needed = text->length + more + 1;

	if (needed <= text->capacity)
		return;
	text->capacity = text->capacity ? text->capacity : 64;
	while (text->capacity < needed)
		text->capacity *= 2;
	text->data = memory_resize(text->data, text->capacity, 1);
}

void text_append_bytes(struct text *text, const void *data, size_t size)
{
	text_reserve(text, size);
	if (size)
		memcpy(text->data + text->length, data, size);
	text->length += size;
	text->data[text->length] = '\0';
}

void text_append(struct text *text, const char *string)
{
	text_append_bytes(text, string, strlen(string));
}

void text_append_char(struct text *text, char c)
{
	text_append_bytes(text, &c, 1);
}

void text_append_args(struct text *text, const char *format, va_list args)
{
	va_list again;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		BUG("a format that vsnprintf refuses: %s", format);
	text_reserve(text, (size_t)length);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
	text->length += (size_t)length;
}

void text_appendf(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_append_args(text, format, args);
	va_end(args);
}

void text_append_real(struct text *text, double real)
{
	char digits[40];

	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, real);
		if (strtod(digits, NULL) == real)
			break;
	}
	text_append(text, digits);
}

void text_append_names(struct text *text, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		text_appendf(text, "%s%s", i ? ", " : "", names[i]);
}

void text_append_listed(struct text *text, const char *string)
{
	if (text->length)
		text_append(text, ", ");
	text_append(text, string);
}

void text_cut(struct text *text, size_t length)
{
	text->length = length;
	if (text->data)
		text->data[length] = '\0';
}

void text_clear(struct text *text)
{
	text_cut(text, 0);
}

const char *text_string(const struct text *text)
{
	return text->data ? text->data : "";
}

char *text_detach(struct text *text)
{
	char *data;

	text_reserve(text, 0);
	data = text->data;
	data[text->length] = '\0';
	*text = (struct text){0};
	return data;
}

void text_release(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}

/* ---- characters ---- */
size_t utf8_length(const char *text, size_t size)
{
	const unsigned char *c = (const unsigned char *)text;
	const size_t length = !size         ? 0
			      : c[0] < 0x80 ? 1
			      : c[0] < 0xc2 ? 0
			      : c[0] < 0xe0 ? 2
			      : c[0] < 0xf0 ? 3
			      : c[0] < 0xf5 ? 4
					    : 0;

	if (length > size)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* refuse overlong forms, surrogates and values beyond Unicode */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
		(c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return length;
}

void text_append_shown(struct text *text, const char *string, const char *kept)
{
	bool begins_line = true;
	size_t length;

	for (size_t left = strlen(string); left; string += length, left -= length) {
		const unsigned char c = (unsigned char)*string;
		const bool control = (c < 0x20 && !strchr(kept, c)) || c == 0x7f;
		const bool commands = (begins_line && string_starts_with(string, "::")) ||
				      string_starts_with(string, "##[") ||
				      string_starts_with(string, "##vso[");

		begins_line = c == '\n' || (begins_line && (c == ' ' || c == '\t'));
		length = utf8_length(string, left);
		if (!length || control || commands) {
			length = 1;
			text_appendf(text, "\\x%02x", c);
		} else if (c == 0xc2 && (unsigned char)string[1] < 0xa0) {
			text_appendf(text, "\\x%02x", (unsigned char)string[1]);
		} else {
			text_append_bytes(text, string, length);
		}
	}
}

/* ---- strings ---- */
char *string_copy(const char *string)
{
	return string ? memory_copy(string, strlen(string) + 1) : NULL;
}

char *string_copy_bytes(const char *data, size_t length)
{
	char *copy = memory_zeroed(length + 1, 1);

	if (length)
		memcpy(copy, data, length);
	return copy;
}

char *string_format(const char *format, ...)
{
	struct text text = {0};
	va_list args;

	va_start(args, format);
	text_append_args(&text, format, args);
	va_end(args);
	return text_detach(&text);
}

bool string_starts_with(const char *string, const char *prefix)
{
	return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool string_ends_with(const char *string, const char *suffix)
{
	size_t length = strlen(string), tail = strlen(suffix);

	return length >= tail && strcmp(string + length - tail, suffix) == 0;
}

int string_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void string_put(char *destination, size_t size, const char *source)
{
	snprintf(destination, size, "%s", source ? source : "");
}

int name_find(const char *name, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

enum {
	NAME_LENGTH_MAX = 63
};

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t low = a < b ? a : b;

	return low < c ? low : c;
}

/* The case-insensitive optimal string alignment distance. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t rows[3][NAME_LENGTH_MAX + 1];
	size_t length_a = strlen(a), length_b = strlen(b);
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	if (length_a > NAME_LENGTH_MAX || length_b > NAME_LENGTH_MAX)
		return NAME_LENGTH_MAX;
	for (size_t j = 0; j <= length_b; j++)
		last[j] = j;
	for (size_t i = 1; i <= length_a; i++) {
		size_t *free_row = before;

		row[0] = i;
		for (size_t j = 1; j <= length_b; j++) {
			int ca = tolower((unsigned char)a[i - 1]);
			int cb = tolower((unsigned char)b[j - 1]);

			row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (ca != cb));
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
				tolower((unsigned char)a[i - 2]) == cb &&
				before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		before = last;
		last = row;
		row = free_row;
	}
	return last[length_b];
}

static void copy_digits(const char *from, char digits[NAME_LENGTH_MAX + 1])
{
	size_t count = 0;

	for (; *from && count < NAME_LENGTH_MAX; from++)
		if (isdigit((unsigned char)*from))
			digits[count++] = *from;
	digits[count] = '\0';
}

static size_t digit_distance(const char *a, const char *b)
{
	char of_a[NAME_LENGTH_MAX + 1], of_b[NAME_LENGTH_MAX + 1];

	copy_digits(a, of_a);
	copy_digits(b, of_b);
	return edit_distance(of_a, of_b);
}

/* The first letter and the digits are the same, as in fp16 and "float16". */
static bool is_abbreviation(const char *name, const char *of)
{
	return tolower((unsigned char)name[0]) == tolower((unsigned char)of[0]) &&
	       of[strcspn(of, "0123456789")] && !digit_distance(name, of);
}

/* bf17 may be a mistyped bf16, but fp64 is not fp32, and h300 not b200. */
static bool is_near(const char *name, const char *other, size_t distance)
{
	const size_t of_digits = digit_distance(name, other);

	return distance < strlen(other) && (!of_digits || distance <= 1);
}

const char *name_nearest(const char *name, const char *const *names)
{
	size_t allowed = strlen(name) < 4 ? 1 : strlen(name) < 8 ? 2 : 3;
	const char *nearest = NULL, *begun = NULL, *abbreviation = NULL;

	for (; *names; names++) {
		size_t distance = edit_distance(name, *names);

		if (distance == 0)
			return *names;
		if (!begun && strlen(name) >= 3 && strncasecmp(*names, name, strlen(name)) == 0)
			begun = *names;
		if (!abbreviation && is_abbreviation(*names, name))
			abbreviation = *names;
		if (distance <= allowed && is_near(name, *names, distance)) {
			nearest = *names;
			allowed = distance - 1;
		}
	}
	return begun ? begun : nearest ? nearest : abbreviation; /* "H200" means h200-sxm */
}

struct unit {
	const char *name;
	double factor;
};

static enum status parse_with_units(const char *string, const struct unit *unit,
	const char *expectation, double *value, struct error *err)
{
	char *end;
	const double number = strtod(string, &end);
	const bool is_number =
		end > string && number >= 0 && number < 1e18 && !isspace((unsigned char)string[0]);

	while (is_number && unit->name && strcmp(end, unit->name) != 0)
		unit++;
	if (!is_number || !unit->name)
		return error_set(
			err, STATUS_BAD_INPUT, "expected %s, found \"%s\"", expectation, string);
	*value = number * unit->factor;
	return STATUS_OK;
}

enum status text_parse_ratio(const char *string, double *ratio, struct error *err)
{
	static const struct unit units[] = {{"%", 0.01}, {"", 1}, {0}};
	static const char expectation[] = "a ratio such as 5% or 0.05 (1 and more with %)";

	TRY(parse_with_units(string, units, expectation, ratio, err));
	return *ratio < 1 || string_ends_with(string, "%")
		       ? STATUS_OK
		       : error_set(err, STATUS_BAD_INPUT, "expected %s, found \"%s\"", expectation,
				 string);
}

enum status text_parse_duration(const char *string, double *seconds, struct error *err)
{
	static const struct unit units[] = {
		{"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}, {0}};

	return parse_with_units(
		string, units, "a duration with its unit, such as 30s, 500ms or 2m", seconds, err);
}

enum status name_hint(const char *name, const char *const *names, struct error *err)
{
	const char *nearest = name_nearest(name, names);

	if (nearest)
		error_hint(err, "did you mean \"%s\"?", nearest);
	return STATUS_BAD_INPUT;
}

enum status name_hint_or_list(const char *name, const char *const *names, struct error *err)
{
	const size_t most = 6;
	const char *nearest = name_nearest(name, names);
	CLEANUP(text_release) struct text known = {0};

	for (size_t i = 0; names[i] && i <= most; i++)
		text_append_listed(&known, i < most ? names[i] : "...");
	if (nearest)
		error_hint(err, "did you mean %s?", nearest);
	else if (known.length)
		error_hint(err, "known names: %s", known.data);
	return STATUS_BAD_INPUT;
}

enum status name_unknown(
	const char *what, const char *name, const char *const *names, struct error *err)
{
	CLEANUP(text_release) struct text known = {0};

	text_append_names(&known, names);
	error_set(err, STATUS_BAD_INPUT, "unknown %s \"%s\"; known names: %s", what, name,
		known.length ? known.data : "none");
	return name_hint(name, names, err);
}

/* Returns the slot of the name, or a free one. */
static uint32_t *name_slot(const struct name_set *set, const char *name, size_t length)
{
	for (size_t at = hash_bytes(name, length, 0);; at++) {
		uint32_t *slot = &set->slots[at & (set->slot_count - 1)];
		const char *item = *slot ? set->items[*slot - 1] : NULL;

		if (!item || (strncmp(item, name, length) == 0 && !item[length]))
			return slot;
	}
}

static void name_set_grow(struct name_set *set)
{
	set->slot_count = set->slot_count ? 2 * set->slot_count : 16;
	free(set->slots);
	set->slots = memory_zeroed(set->slot_count, sizeof(*set->slots));
	for (size_t i = 0; i < set->count; i++)
		*name_slot(set, set->items[i], strlen(set->items[i])) = (uint32_t)i + 1;
}

size_t name_set_add(struct name_set *set, const char *name, size_t length)
{
	uint32_t *slot;

	if (2 * (set->count + 1) > set->slot_count)
		name_set_grow(set);
	slot = name_slot(set, name, length);
	if (*slot)
		return *slot - 1;
	ARRAY_GROW(set->items, set->count + 1, set->capacity);
	set->items[set->count++] = string_copy_bytes(name, length);
	set->items[set->count] = NULL;
	*slot = (uint32_t)set->count;
	return set->count - 1;
}

size_t name_set_has(const struct name_set *set, const char *name, size_t length)
{
	return set->count ? *name_slot(set, name, length) : 0;
}

void name_set_release(struct name_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->items[i]);
	free(set->items);
	free(set->slots);
	*set = (struct name_set){0};
}
