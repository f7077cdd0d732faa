/* SPDX-License-Identifier: MIT */
#include "report/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "spec/device_spec.h"

/* ---- data: gzip in base64, in a script element that no browser runs ---- */
static void append_gzip(struct text *page, const void *data, size_t size)
{
	z_stream stream = {0};
	CLEANUP(memory_free) unsigned char *packed = NULL;
	size_t room;

	/* 16: a gzip header; 15: the largest window */
	if (deflateInit2(&stream, 6, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		BUG("zlib does not start");
	room = deflateBound(&stream, size);
	packed = memory_zeroed(room, 1);
	stream.next_in = (Bytef *)(uintptr_t)data;
	stream.avail_in = (uInt)size; /* file_read() refuses more than 1 GiB */
	stream.next_out = packed;
	stream.avail_out = (uInt)room;
	if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
		BUG("zlib needs more room than it said");
	base64_append(page, packed, stream.total_out);
	deflateEnd(&stream);
}

static void append_block(struct text *page, const char *id, const struct text *content)
{
	text_appendf(page, "<script type=\"application/gzip\" id=\"%s\">", id);
	append_gzip(page, text_string(content), content->length);
	text_append(page, "</script>\n");
}

static enum status append_file(
	struct text *page, const char *path, const char *kind, size_t number, struct error *err)
{
	CLEANUP(text_release) struct text content = {0};
	CLEANUP(memory_free) char *id = string_format("%s%zu", kind, number);

	TRY(file_read(path, &content, err));
	append_block(page, id, &content);
	return STATUS_OK;
}

/* ---- data that the script lacks: titles, searches, rates of the device ---- */
static struct json *sheet_json(const struct device_spec *spec)
{
	struct json *sheet = json_new_object(), *rates = json_new_object();

	json_put_double(sheet, "dram_bytes_per_s", spec->dram_bytes_per_s);
	json_put_double(sheet, "clock_hz", spec->clock_hz);
	json_put_double(sheet, "tensor_clock_hz", spec->tensor_clock_hz);
	json_put_double(sheet, "sm_count", (double)spec->sm_count);
	for (int pipe = 0; pipe < PIPE_COUNT; pipe++) {
		struct json *of_pipe = json_new_object();

		for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
			if (spec->rate[pipe][dtype] > 0)
				json_put_double(
					of_pipe, dtype_names[dtype], spec->rate[pipe][dtype]);
		json_put(rates, pipe_names[pipe], of_pipe);
	}
	json_put(sheet, "rates", rates);
	return sheet;
}

struct sheets {
	const char *const *folders;
	struct device_spec **items;
	size_t count, capacity;
};

static void sheets_release(struct sheets *sheets)
{
	for (size_t i = 0; i < sheets->count; i++)
		device_spec_free(sheets->items[i]);
	free(sheets->items);
}

static void add_sheet(struct sheets *sheets, const struct gpu_model *device)
{
	struct device_spec *spec = NULL;

	if (!device || !device->sheet)
		return;
	for (size_t i = 0; i < sheets->count; i++)
		if (strcmp(sheets->items[i]->name, device->sheet) == 0)
			return;
	if (device_spec_load(device->sheet, sheets->folders, &spec, NULL) != STATUS_OK)
		return;
	ARRAY_GROW(sheets->items, sheets->count, sheets->capacity);
	sheets->items[sheets->count++] = spec;
}

static struct json *entry_json(const struct report *report, const struct report_entry *entry)
{
	struct json *json = json_new_object(), *searches = json_new_array();

	json_put_int(json, "source", entry->source - report->sources);
	if (entry->source->has_tuned)
		json_put_int(json, "tuned", entry->tuned - entry->source->tuned.entries);
	json_put_string(json, "label", entry->label);
	json_put_string(json, "operation", entry->operation);
	json_put_string(json, "problem", entry->problem);
	json_put_string(json, "title", entry->title);
	for (size_t i = 0; i < entry->search_count; i++) {
		struct json *search = json_new_object();

		json_put_string(search, "run", entry->searches[i].run->run.id);
		json_put_int(search, "number", entry->searches[i].problem->number);
		json_push(searches, search);
	}
	json_put(json, "searches", searches);
	return json;
}

static void append_index(
	struct text *page, const struct report *report, const char *const *config_folders)
{
	CLEANUP(json_release) struct json *index = json_new_object();
	CLEANUP(text_release) struct text text = {0};
	CLEANUP(sheets_release) struct sheets sheets = {.folders = config_folders};
	struct json *entries = json_new_array(), *rates = json_new_object();

	for (size_t i = 0; i < report->entry_count; i++)
		json_push(entries, entry_json(report, &report->entries[i]));
	for (size_t i = 0; i < report->entry_count; i++)
		add_sheet(&sheets, report->entries[i].device);
	for (size_t i = 0; i < sheets.count; i++)
		json_put(rates, sheets.items[i]->name, sheet_json(sheets.items[i]));
	json_put(index, "entries", entries);
	json_put(index, "sheets", rates);
	json_append(index, false, &text);
	append_block(page, "index", &text);
}

static enum status append_library(
	struct text *page, const char *path, size_t number, struct error *err)
{
	CLEANUP(json_release) struct json *json = NULL;
	struct json_at root;

	TRY(json_load(path, &json, err));
	root = json_root(json, path);
	TRY(json_expect_format(&root, "tiletune.versus/1", err));
	return append_file(page, path, "library", number, err);
}

static enum status append_data(struct text *page, const struct report *report,
	const char *const *config_folders, struct error *err)
{
	append_index(page, report, config_folders);
	for (size_t i = 0; i < report->source_count; i++) {
		const struct report_source *source = &report->sources[i];

		if (source->has_tuned)
			TRY(append_file(page, source->path, "tuned", i, err));
		if (source->journal_path)
			TRY(append_file(page, source->journal_path, "journal", i, err));
	}
	for (size_t i = 0; report->libraries && report->libraries[i]; i++)
		TRY(append_library(page, report->libraries[i], i, err));
	return STATUS_OK;
}

struct format_text report_tile(const char *configuration)
{
	static const char *const names[] = {"BM", "BN", "BK"};
	struct format_text tile = {0};
	size_t length = 0;
	struct pair pair;

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strchr(configuration, '{') && pair_find(configuration, names[i], &pair) &&
			length + (size_t)pair.value_length + 2 < sizeof(tile.text))
			length += (size_t)snprintf(tile.text + length, sizeof(tile.text) - length,
				"%s%.*s", length ? "x" : "", pair.value_length, pair.value);
	return tile;
}

static void append_winner(struct text *page, const struct report_entry *entry, bool several)
{
	const struct result *winner = entry->winner;

	format_put(page, format_xml, "<tr><th scope=\"row\">%s %s</th>", entry->operation,
		entry->title);
	if (several)
		format_put(page, format_xml, "<td>%s</td>", entry->label);
	if (!winner) {
		text_append(page, "<td colspan=\"5\">no candidate has a time</td></tr>\n");
		return;
	}
	format_put(page, format_xml, "<td>%s</td><td>%s%s</td><td>",
		report_tile(entry->configuration).text, format_time(winner->time.median).text,
		entry->predicted ? " (predicted)" : "");
	if (entry->tflops > 0)
		format_put(page, format_xml, "%s", format_number(entry->tflops).text);
	format_put(page, format_xml, "</td><td>%s</td><td>%s</td></tr>\n", winner->family,
		entry->configuration);
}

static void append_winners(struct text *page, const struct report *report)
{
	const bool several = report->source_count > 1;

	text_appendf(page,
		"<table><thead><tr><th>Problem</th>%s<th>Tile</th><th>Time</th><th>TFLOP/s</th>"
		"<th>Family</th><th>Configuration</th></tr></thead><tbody>\n",
		several ? "<th>File</th>" : "");
	for (size_t i = 0; i < report->entry_count; i++)
		append_winner(page, &report->entries[i], several);
	text_append(page, "</tbody></table>\n");
}

static void append_title(struct text *page, const struct report *report)
{
	const struct report_entry *first = &report->entries[0];

	if (report->entry_count == 1)
		format_put(page, format_xml, "%s %s", first->operation, first->title);
	else
		format_put(page, format_xml, "%zu problems", report->entry_count);
	format_put(page, format_xml, " on %s", first->device->name);
}

enum status page_write(const struct report *report, const char *const *config_folders,
	struct text *page, struct error *err)
{
	CLEANUP(text_release)
	struct text title = {0}, policy = {0}, winners = {0}, data = {0};

	append_title(&title, report);
	text_appendf(
		&policy, "script-src '%s'; style-src '%s'", page_script_digest, page_style_digest);
	append_winners(&winners, report);
	TRY(append_data(&data, report, config_folders, err));
	text_fill(page_template_html,
		(const struct text_part[]){{"TITLE", text_string(&title)},
			{"POLICY", text_string(&policy)}, {"STYLE", page_style_css},
			{"WINNERS", text_string(&winners)}, {"DATA", text_string(&data)},
			{"SCRIPT", page_script_js}, {0}},
		page);
	return STATUS_OK;
}
