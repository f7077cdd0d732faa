/* SPDX-License-Identifier: MIT */
#include "html/html_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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

/* ---- what the columns hold ---- */
enum {
	DETAIL_MAX = 160,
	NAME_SIZE = 64
};

typedef const struct report_candidate candidate_t;
typedef double number_of(candidate_t *candidate);
typedef const char *string_of(candidate_t *candidate);

/* ---- the score ---- */
#define LAUNCH_NUMBER(member)                                                                      \
	static double launch_##member(candidate_t *candidate)                                      \
	{                                                                                          \
		const struct launch_score *launch = report_longest(&candidate->evaluation->score); \
                                                                                                   \
		return launch ? (double)launch->member : NAN;                                      \
	}
LAUNCH_NUMBER(tiles)
LAUNCH_NUMBER(slots_per_wave)
LAUNCH_NUMBER(waves)
LAUNCH_NUMBER(waves_exact)
LAUNCH_NUMBER(wave_efficiency_ratio)
LAUNCH_NUMBER(tile_efficiency_ratio)
LAUNCH_NUMBER(blocks_per_sm)
LAUNCH_NUMBER(occupancy_ratio)
LAUNCH_NUMBER(regs_per_thread)
LAUNCH_NUMBER(smem_bytes)
LAUNCH_NUMBER(bank_conflict_ratio)
LAUNCH_NUMBER(lines_per_row_ratio)
LAUNCH_NUMBER(sectors_per_row_ratio)
LAUNCH_NUMBER(dram_bytes)
LAUNCH_NUMBER(l2_bytes)
LAUNCH_NUMBER(arithmetic_intensity)

static const char *limiter(candidate_t *candidate)
{
	const struct launch_score *launch = report_longest(&candidate->evaluation->score);

	return launch ? occupancy_limiter_name(launch->occupancy_limiter) : NULL;
}

static const char *bound(candidate_t *candidate)
{
	const struct launch_score *launch = report_longest(&candidate->evaluation->score);

	return launch ? bound_kind_name(launch->bound) : NULL;
}

/* ---- the measurement ---- */
static double family(candidate_t *candidate)
{
	return (double)candidate->family;
}

static double low(candidate_t *candidate)
{
	return isfinite(report_time_us(candidate)) ? candidate->evaluation->time.ci95_low : NAN;
}

static double high(candidate_t *candidate)
{
	return isfinite(report_time_us(candidate)) ? candidate->evaluation->time.ci95_high : NAN;
}

static double samples(candidate_t *candidate)
{
	return (double)candidate->evaluation->sample_count;
}

static double final(candidate_t *candidate)
{
	return candidate->final && candidate->final->sample_count ? candidate->final->time.median
								  : NAN;
}

static double measured_rank(candidate_t *candidate)
{
	return candidate->measured_rank ? (double)candidate->measured_rank : NAN;
}

static double model_rank(candidate_t *candidate)
{
	return candidate->model_rank ? (double)candidate->model_rank : NAN;
}

static double spill_bytes(candidate_t *candidate)
{
	const struct evaluation *evaluation = candidate->evaluation;
	double bytes = 0;

	if (!evaluation->resources)
		return NAN;
	for (size_t i = 0; i < evaluation->launch_count; i++)
		bytes += evaluation->resources[i].spill_store_bytes +
			 evaluation->resources[i].spill_load_bytes;
	return bytes;
}

static double relative_error(candidate_t *candidate)
{
	const struct verification *verification = &candidate->evaluation->verification;

	return verification->done ? verification->max_rel_error : NAN;
}

static double at_s(candidate_t *candidate)
{
	return candidate->evaluation->at_s > 0 ? candidate->evaluation->at_s : NAN;
}

static const char *outcome(candidate_t *candidate)
{
	return outcome_name(candidate->evaluation->outcome);
}

static const struct {
	const char *name;
	number_of *of;
} numbers[] = {
	{"family", family},
	{"time", report_time_us},
	{"low", low},
	{"high", high},
	{"samples", samples},
	{"final", final},
	{"predicted", report_predicted_us},
	{"measured_rank", measured_rank},
	{"model_rank", model_rank},
	{"tiles", launch_tiles},
	{"slots_per_wave", launch_slots_per_wave},
	{"waves", launch_waves},
	{"waves_exact", launch_waves_exact},
	{"wave_efficiency_ratio", launch_wave_efficiency_ratio},
	{"tile_efficiency_ratio", launch_tile_efficiency_ratio},
	{"blocks_per_sm", launch_blocks_per_sm},
	{"occupancy_ratio", launch_occupancy_ratio},
	{"regs_per_thread", launch_regs_per_thread},
	{"smem_bytes", launch_smem_bytes},
	{"spill_bytes", spill_bytes},
	{"bank_conflict_ratio", launch_bank_conflict_ratio},
	{"lines_per_row_ratio", launch_lines_per_row_ratio},
	{"sectors_per_row_ratio", launch_sectors_per_row_ratio},
	{"dram_bytes", launch_dram_bytes},
	{"l2_bytes", launch_l2_bytes},
	{"arithmetic_intensity", launch_arithmetic_intensity},
	{"max_rel_error", relative_error},
	{"at_s", at_s},
};

static const struct {
	const char *name;
	string_of *of;
} strings[] = {{"outcome", outcome}, {"occupancy_limiter", limiter}, {"bound", bound}};

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
static const char *value_of(const char *configuration, const char *name, char value[NAME_SIZE])
{
	size_t length = strlen(name);

	for (const char *at = configuration; at; at = strchr(at, ','), at += at != NULL)
		if (strncmp(at, name, length) == 0 && at[length] == '=') {
			string_put(value, NAME_SIZE, at + length + 1);
			value[strcspn(value, ",")] = '\0';
			return value;
		}
	return NULL;
}

static void write_parameter(const struct report_entry *entry, size_t family_number,
	const char *name, struct html_column *column, struct text *json)
{
	char *title = string_format("%zu %s", family_number, name);
	char value[NAME_SIZE];

	for (size_t i = 0; i < entry->candidate_count; i++) {
		const struct report_candidate *candidate = &entry->candidates[i];

		html_column_string(column,
			candidate->family == family_number
				? value_of(candidate->evaluation->configuration, name, value)
				: NULL);
	}
	if (html_column_write(column, title, json))
		text_append_char(json, ',');
	free(title);
}

static void write_parameters(const struct report_entry *entry, size_t family_number,
	struct html_column *column, struct text *json)
{
	const char *example = NULL;
	char name[NAME_SIZE];

	for (size_t i = 0; i < entry->candidate_count && !example; i++)
		if (entry->candidates[i].family == family_number)
			example = entry->candidates[i].evaluation->configuration;
	for (const char *at = example; at && *at;) {
		size_t length = strcspn(at, ",");

		string_put(name, sizeof(name), at);
		name[strcspn(name, "=,")] = '\0';
		write_parameter(entry, family_number, name, column, json);
		at += length + (at[length] == ',');
	}
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
	for (size_t k = 0; k < ARRAY_COUNT(numbers); k++) {
		for (size_t i = 0; i < entry->candidate_count; i++)
			html_column_number(&column, numbers[k].of(&entry->candidates[i]));
		if (html_column_write(&column, numbers[k].name, page))
			text_append_char(page, ',');
	}
	for (size_t k = 0; k < ARRAY_COUNT(strings); k++) {
		for (size_t i = 0; i < entry->candidate_count; i++)
			html_column_string(&column, strings[k].of(&entry->candidates[i]));
		if (html_column_write(&column, strings[k].name, page))
			text_append_char(page, ',');
	}
	write_details(entry, &column, page);
	for (size_t i = 0; i < entry->family_name_count; i++)
		write_parameters(entry, i, &column, page);
	/* so that no comma hangs */
	text_append(page, "\"end\":[]}}</script>\n");
	html_column_release(&column);
}
