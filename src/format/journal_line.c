/* SPDX-License-Identifier: MIT */
#include "format/journal_line.h"

#include <math.h>
#include <stdio.h>
#include <zlib.h>

#include "record/record_read.h"

static const struct record_rule text_rule = {.expected = "a text that is not empty"};

#define PROBLEM_NUMBER(type) RECORD_VALUE(type, problem, "problem", .low = 0, .high = INFINITY)

/* The reader of journals handles the last members of each line. */
#define CHECKSUM RECORD_COMMENT("checksum")
#define LINE_END RECORD_COMMENT("run"), CHECKSUM

static const struct record_member options_members[] = {
	RECORD_VALUE(
		struct journal_options, where, "where", .flags = RECORD_OPTIONAL | RECORD_NULLABLE),
};
static RECORD_DEFINE(
	struct journal_options, options_record, options_members, .name = "options", .open = true);

static const struct record_member run_members[] = {
	RECORD_CONSTANT("format", "tiletune.journal/1"),
	RECORD_FLAT(struct journal_run, run, run_line_record),
	RECORD_VALUE(struct journal_run, signature, "signature", .rule = &text_rule),
	RECORD_VALUE(
		struct journal_run, resumes, "resumes", .flags = RECORD_OPTIONAL | RECORD_NULLABLE),
	RECORD_VALUE(struct journal_run, run.device_kind, "device_kind", .rule = &device_kind_rule),
	RECORD_NESTED(struct journal_run, device, gpu_model_record, "device"),
	RECORD_NESTED(
		struct journal_run, options, options_record, "options", .flags = RECORD_OPTIONAL),
	CHECKSUM,
};
RECORD_DEFINE(
	struct journal_run, journal_run_record, run_members, .name = "run_line", .open = true);

static const struct record_member parameter_members[] = {
	RECORD_VALUE(struct journal_parameter, name, "name", .rule = &text_rule),
	RECORD_STRINGS(struct journal_parameter, values, "values"),
};
static RECORD_DEFINE(struct journal_parameter, parameter_record, parameter_members,
	.name = "parameter", .open = true);

static const struct record_member family_members[] = {
	RECORD_VALUE(struct journal_family, name, "name", .rule = &family_name_rule),
	RECORD_RECORDS(
		struct journal_family, parameters, parameter_count, parameter_record, "parameters"),
	RECORD_VALUE(struct journal_family, product, "product",
		.flags = RECORD_OPTIONAL | RECORD_KEPT, .low = 0, .high = INFINITY),
	RECORD_VALUE(struct journal_family, legal, "legal", .flags = RECORD_OPTIONAL | RECORD_KEPT),
};
static RECORD_DEFINE(
	struct journal_family, family_record, family_members, .name = "family", .open = true);

static const struct record_member problem_members[] = {
	RECORD_VALUE(struct journal_problem, number, "number", .low = 0, .high = INFINITY),
	RECORD_VALUE(struct journal_problem, operation, "operation", .rule = &text_rule),
	RECORD_VALUE(struct journal_problem, problem, "text", .rule = &text_rule),
	RECORD_MAP(struct journal_problem, keys.items, keys.count, named_value_record, "problem"),
	RECORD_RECORDS(struct journal_problem, families, family_count, family_record, "families"),
	LINE_END,
};
RECORD_DEFINE(struct journal_problem, journal_problem_record, problem_members,
	.name = "problem_line", .open = true);

static const struct record_member result_members[] = {
	PROBLEM_NUMBER(struct journal_result),
	RECORD_FLAT(struct journal_result, result, result_record),
	LINE_END,
};

static enum status result_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct journal_result *line = value;

	TRY(result_record.check(&line->result, at, context, err));
	return line->result.outcome == OUTCOME_OK && !line->result.time.count
		       ? json_invalid(at, err, "the member \"time_us\" is missing")
		       : STATUS_OK;
}

RECORD_DEFINE(struct journal_result, journal_result_record, result_members, .name = "result_line",
	.open = true, .check = result_check);

static const struct record_member entry_members[] = {
	PROBLEM_NUMBER(struct journal_entry),
	RECORD_NESTED(struct journal_entry, entry, tuned_entry_record, "entry"),
	LINE_END,
};
RECORD_DEFINE(struct journal_entry, journal_entry_record, entry_members, .name = "entry_line",
	.open = true);

#define SECONDS(field)                                                                             \
	RECORD_VALUE(struct journal_finish, field, #field, .flags = RECORD_OPTIONAL,               \
		.absent = NAN, .low = 0, .high = INFINITY)
static const struct record_member finish_members[] = {
	RECORD_VALUE(struct journal_finish, run, "run"),
	RECORD_VALUE(struct journal_finish, status, "status"),
	SECONDS(elapsed_s),
	SECONDS(compile_s),
	RECORD_VALUE(struct journal_finish, workers, "workers", .flags = RECORD_OPTIONAL),
	SECONDS(device_s),
	CHECKSUM,
};
#undef SECONDS
RECORD_DEFINE(struct journal_finish, journal_finish_record, finish_members, .name = "finish_line",
	.open = true);

RECORD_RELEASE(journal_result_release, journal_result_record);
RECORD_RELEASE(journal_entry_release, journal_entry_record);

static const struct journal_line {
	const char *event;
	const struct record *record;
} journal_lines[] = {
	{"run", &journal_run_record},
	{"problem", &journal_problem_record},
	{"evaluation", &journal_result_record},
	{"final", &journal_result_record},
	{"entry", &journal_entry_record},
	{"finish", &journal_finish_record},
	{NULL, NULL},
};

static const char checksum_key[] = ",\"checksum\":\"";

enum {
	CHECKSUM_DIGITS = 8
};

static void checksum_of(const char *line, size_t length, char digits[CHECKSUM_DIGITS + 1])
{
	snprintf(digits, CHECKSUM_DIGITS + 1, "%08lx",
		crc32(0, (const unsigned char *)line, (unsigned)length) & 0xffffffff);
}

void journal_line_put(const char *event, struct json *line, const char *run_id, struct text *text)
{
	const size_t start = text->length;
	CLEANUP(memory_free) char *printed = NULL;
	char digits[CHECKSUM_DIGITS + 1];

	if (run_id)
		json_put_string(line, "run", run_id);
	printed = json_print(line, false);
	text_appendf(text, "{\"event\":\"%s\",%s", event, printed + 1);
	text_cut(text, text->length - 1);
	checksum_of(text->data + start, text->length - start, digits);
	text_appendf(text, "%s%s\"}\n", checksum_key, digits);
}

enum status journal_line_check(
	const char *line, size_t length, const char *where, struct error *err)
{
	const size_t key_length = strlen(checksum_key);
	const size_t end_length = key_length + CHECKSUM_DIGITS + strlen("\"}");
	const char *end = line + length - end_length;
	char digits[CHECKSUM_DIGITS + 1];

	if (length <= end_length || strncmp(end, checksum_key, key_length) != 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: the line of %zu characters does not end with a checksum", where,
			length);
	checksum_of(line, length - end_length, digits);
	if (strncmp(end + key_length, digits, CHECKSUM_DIGITS) == 0)
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT,
		"%s: the line is damaged: it has the checksum %.*s, but its content gives %s",
		where, CHECKSUM_DIGITS, end + key_length, digits);
}

enum status journal_form_check(const struct json_at *at, struct error *err)
{
	const struct journal_line *line = journal_lines;
	const char *event;

	TRY(json_member_string(at, "event", &event, err));
	while (line->event && strcmp(line->event, event) != 0)
		line++;
	return line->event ? record_check(line->record, at, err) : STATUS_OK;
}
