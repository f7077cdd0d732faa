/* SPDX-License-Identifier: MIT */
#include "html/html_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_schema.h"
#include "report/format.h"
#include "report/report_candidate.h"

/* ---- one column ---- */
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

/* ---- what the columns hold: the numbers and names of three records ---- */
enum {
	COLUMNS_MAX = 96,
	DETAIL_MAX = 160,
	NAME_SIZE = 64
};

/* What neither an evaluation nor its score has as one number. */
struct view {
	double family, time, low, high, samples, remeasured, predicted, measured_rank, model_rank,
		spill_bytes;
};

#define VIEW(field, help) RECORD_VALUE(struct view, field, #field, help)
static const struct record_member view_members[] = {
	VIEW(family, "index among the families"),
	VIEW(time, "in the search"),
	VIEW(low, "of the 95% interval"),
	VIEW(high, "of the 95% interval"),
	VIEW(samples, "how many"),
	VIEW(remeasured, "when the best were timed again, interleaved"),
	VIEW(predicted, "by the model"),
	VIEW(measured_rank, "by time"),
	VIEW(model_rank, "by the model"),
	VIEW(spill_bytes, "stored and loaded, of all launches"),
};
static RECORD_DEFINE(struct view, view_record, view_members, .name = "candidate");

static struct view view_of(const struct report_candidate *candidate)
{
	const struct evaluation *evaluation = candidate->evaluation, *again = candidate->remeasured;
	struct view view = {.family = (double)candidate->family,
		.time = report_time_us(candidate),
		.low = NAN,
		.high = NAN,
		.samples = (double)evaluation->time.count,
		.remeasured = again && again->time.count ? again->time.median : NAN,
		.predicted = report_predicted_us(candidate),
		.measured_rank = candidate->measured_rank ? (double)candidate->measured_rank : NAN,
		.model_rank = candidate->model_rank ? (double)candidate->model_rank : NAN,
		.spill_bytes = evaluation->resources ? 0 : NAN};

	if (isfinite(view.time)) {
		view.low = evaluation->time.ci95_low;
		view.high = evaluation->time.ci95_high;
	}
	for (size_t i = 0; evaluation->resources && i < evaluation->launch_count; i++)
		view.spill_bytes += evaluation->resources[i].spill_store_bytes +
				    evaluation->resources[i].spill_load_bytes;
	return view;
}

/* What stands elsewhere: text, and the time of the longest launch alone. */
static bool is_left_out(const struct record_member *member)
{
	switch (member->kind) {
	case RECORD_KIND_INT:
	case RECORD_KIND_UINT:
	case RECORD_KIND_REAL:
		return strcmp(member->name, "predicted_time_us") == 0;
	case RECORD_KIND_ENUM:
		return false;
	default:
		return true;
	}
}

static void each_cell(const struct report_candidate *candidate,
	void (*each)(const struct record_cell *cell, void *context), void *context)
{
	const struct view view = candidate ? view_of(candidate) : (struct view){0};

	record_cells(&view_record, candidate ? &view : NULL, each, context);
	record_cells(&launch_score_record,
		candidate ? report_longest(&candidate->evaluation->score) : NULL, each, context);
	record_cells(&evaluation_record, candidate ? candidate->evaluation : NULL, each, context);
}

struct columns {
	struct html_column items[COLUMNS_MAX];
	const char *names[COLUMNS_MAX];
	size_t at; /* in the row that is being filled */
};

static void add_cell(const struct record_cell *cell, void *context)
{
	struct columns *columns = context;
	struct html_column *column = &columns->items[columns->at];

	if (is_left_out(cell->member))
		return;
	if (columns->at >= COLUMNS_MAX)
		BUG("more than %d columns of a candidate", COLUMNS_MAX);
	columns->names[columns->at++] = cell->member->name;
	if (cell->member->kind == RECORD_KIND_ENUM)
		html_column_string(column, record_cell_string(cell));
	else
		html_column_number(column, record_cell_number(cell));
}

static void write_columns(const struct report_entry *entry, struct text *json)
{
	CLEANUP(memory_free) struct columns *columns = memory_zeroed(1, sizeof(*columns));

	for (size_t i = 0; i < entry->candidate_count; i++) {
		columns->at = 0;
		each_cell(&entry->candidates[i], add_cell, columns);
	}
	for (size_t i = 0; i < columns->at; i++) {
		if (html_column_write(&columns->items[i], columns->names[i], json))
			text_append_char(json, ',');
		html_column_release(&columns->items[i]);
	}
}

static void add_name(const struct record_cell *cell, void *context)
{
	struct text *json = context;

	if (is_left_out(cell->member))
		return;
	text_append_char(json, '[');
	html_json_string(json, cell->member->name);
	text_append_char(json, ',');
	html_json_string(json, cell->member->help);
	text_append(json, "],");
}

void html_data_names(struct text *page)
{
	text_append(page, "<script type=\"application/json\" id=\"columns\">[");
	each_cell(NULL, add_name, page);
	text_append(page, "[]]</script>\n");
}

static void write_details(
	const struct report_entry *entry, struct html_column *column, struct text *json)
{
	for (size_t i = 0; i < entry->candidate_count; i++) {
		const char *detail = entry->candidates[i].evaluation->detail;
		char words[DETAIL_MAX + 1];

		if (detail) {
			size_t end = strnlen(detail, DETAIL_MAX);

			/* not inside of a character of UTF-8 */
			while (end && end == DETAIL_MAX &&
				((unsigned char)detail[end] & 0xc0) == 0x80)
				end--;
			memcpy(words, detail, end);
			words[end] = '\0';
		}
		html_column_string(column, detail ? words : NULL);
	}
	if (html_column_write(column, "detail", json))
		text_append_char(json, ',');
}

/* ---- parameters: each family's own columns, "0 BM" ---- */
static void write_parameter(const struct report_entry *entry, size_t family_number,
	const struct pair *parameter, struct html_column *column, struct text *json)
{
	CLEANUP(memory_free)
	char *name = string_copy_bytes(parameter->name, (size_t)parameter->name_length);
	CLEANUP(memory_free) char *title = string_format("%zu %s", family_number, name);

	for (size_t i = 0; i < entry->candidate_count; i++) {
		const struct report_candidate *candidate = &entry->candidates[i];
		char value[NAME_SIZE];
		struct pair pair;
		bool there = candidate->family == family_number &&
			     pair_find(candidate->evaluation->configuration, name, &pair);

		if (there)
			snprintf(value, sizeof(value), "%.*s", pair.value_length, pair.value);
		html_column_string(column, there ? value : NULL);
	}
	if (html_column_write(column, title, json))
		text_append_char(json, ',');
}

static void write_parameters(const struct report_entry *entry, size_t family_number,
	struct html_column *column, struct text *json)
{
	const char *example = "";
	struct pair pair;

	for (size_t i = 0; i < entry->candidate_count && !*example; i++)
		if (entry->candidates[i].family == family_number)
			example = entry->candidates[i].evaluation->configuration;
	while (pair_next(&example, &pair))
		write_parameter(entry, family_number, &pair, column, json);
}

void html_data(const struct report_entry *entry, size_t index, struct text *page)
{
	struct html_column column = {0};

	text_appendf(page,
		"<script type=\"application/json\" class=\"data\" data-entry=\"%zu\">"
		"{\"n\":%zu,\"flop\":%.17g,\"winner\":%td,\"families\":[",
		index, entry->candidate_count, entry->flop,
		entry->winner_index == SIZE_MAX ? -1 : (ptrdiff_t)entry->winner_index);
	for (size_t i = 0; i < entry->family_name_count; i++) {
		text_append(page, i ? "," : "");
		html_json_string(page, entry->family_names[i]);
	}
	text_append(page, "],\"columns\":{");
	write_columns(entry, page);
	write_details(entry, &column, page);
	for (size_t i = 0; i < entry->family_name_count; i++)
		write_parameters(entry, i, &column, page);
	/* so that no comma hangs */
	text_append(page, "\"end\":[]}}</script>\n");
	html_column_release(&column);
}
