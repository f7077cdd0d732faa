/* SPDX-License-Identifier: MIT */
#include "html/html_column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	ALPHABET_SIZE = sizeof(HTML_ALPHABET) - 1
};

static void begin_cell(struct html_column *column)
{
	ARRAY_GROW(column->offsets, column->count, column->capacity);
	column->offsets[column->count++] = column->cells.length;
}

static void end_cell(struct html_column *column)
{
	text_append_bytes(&column->cells, "", 1);
}

void html_column_number(struct html_column *column, double value)
{
	begin_cell(column);
	if (!isfinite(value))
		text_append(&column->cells, "null");
	else if (value == rint(value) && fabs(value) < 1e15)
		text_appendf(&column->cells, "%.0f", value);
	else
		text_appendf(&column->cells, "%.5g", value);
	end_cell(column);
}

void html_column_string(struct html_column *column, const char *value)
{
	begin_cell(column);
	if (value)
		html_json_string(&column->cells, value);
	else
		text_append(&column->cells, "null");
	end_cell(column);
}

void html_json_string(struct text *json, const char *value)
{
	text_append_char(json, '"');
	for (const unsigned char *at = (const unsigned char *)value; *at; at++) {
		if (*at == '"' || *at == '\\')
			text_appendf(json, "\\%c", *at);
		else if (*at < 0x20 || *at == '<' || *at == '&')
			text_appendf(json, "\\u%04x", *at);
		else
			text_append_char(json, (char)*at);
	}
	text_append_char(json, '"');
}

/* ---- writing ---- */
struct keyed {
	const char *cell;
	size_t row;
};

static int compare_cells(const void *a_, const void *b_)
{
	const struct keyed *a = a_, *b = b_;
	int order = strcmp(a->cell, b->cell);

	return order ? order : (a->row > b->row) - (a->row < b->row);
}

static void write_plain(const struct html_column *column, struct text *json)
{
	for (size_t i = 0; i < column->count; i++) {
		text_append_char(json, i ? ',' : '[');
		text_append(json, column->cells.data + column->offsets[i]);
	}
	text_append(json, column->count ? "]" : "[]");
}

static void write_codes(
	const struct html_column *column, const size_t *codes, size_t distinct, struct text *json)
{
	size_t width = distinct <= 1 ? 0 : distinct <= ALPHABET_SIZE ? 1 : 2;

	text_appendf(json, "],\"w\":%zu,\"s\":\"", width);
	for (size_t i = 0; i < column->count && width; i++) {
		if (width == 2)
			text_append_char(json, HTML_ALPHABET[codes[i] / ALPHABET_SIZE]);
		text_append_char(json, HTML_ALPHABET[codes[i] % ALPHABET_SIZE]);
	}
	text_append(json, "\"}");
}

static void write_dictionary(const struct html_column *column, const struct keyed *sorted,
	size_t distinct, struct text *json)
{
	size_t *codes = memory_zeroed(column->count + 1, sizeof(*codes)), code = 0;

	text_append(json, "{\"d\":[");
	for (size_t i = 0; i < column->count; i++) {
		bool new = !i || strcmp(sorted[i - 1].cell, sorted[i].cell) != 0;

		code += new &&i;
		codes[sorted[i].row] = code;
		if (new)
			text_appendf(json, "%s%s", i ? "," : "", sorted[i].cell);
	}
	write_codes(column, codes, distinct, json);
	free(codes);
}

bool html_column_write(struct html_column *column, const char *name, struct text *json)
{
	struct keyed *sorted = memory_zeroed(column->count + 1, sizeof(*sorted));
	size_t distinct = 0;
	bool empty;

	for (size_t i = 0; i < column->count; i++)
		sorted[i] =
			(struct keyed){.cell = column->cells.data + column->offsets[i], .row = i};
	qsort(sorted, column->count, sizeof(*sorted), compare_cells);
	for (size_t i = 0; i < column->count; i++)
		distinct += !i || strcmp(sorted[i - 1].cell, sorted[i].cell) != 0;
	empty = !distinct || (distinct == 1 && strcmp(sorted[0].cell, "null") == 0);
	if (!empty) {
		html_json_string(json, name);
		text_append_char(json, ':');
		if (distinct <= (size_t)ALPHABET_SIZE * ALPHABET_SIZE &&
			distinct <= column->count / 2 + 1)
			write_dictionary(column, sorted, distinct, json);
		else
			write_plain(column, json);
	}
	free(sorted);
	text_clear(&column->cells);
	column->count = 0;
	return !empty;
}

void html_column_release(struct html_column *column)
{
	text_release(&column->cells);
	free(column->offsets);
	*column = (struct html_column){0};
}
