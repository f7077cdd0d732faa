/* SPDX-License-Identifier: MIT
 *
 * tiletune validate: checks that files are valid.
 *
 * Files are read by the program's normal readers and by the records that define their schemas
 * (configs/schemas). The table below has a row for each format.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json_list.h"
#include "base/memory.h"
#include "record/record_read.h"
#include "check/check.h"
#include "check/kernel_judgement.h"
#include "cli/common.h"
#include "format/kernel_json.h"
#include "format/journal_line.h"
#include "format/tuned.h"
#include "spec/sheet.h"
#include "advise/suite.h"

struct validate_options {
	struct common_options common;
	bool schema_only;
};

#define AT(member) offsetof(struct validate_options, member)

static const struct option validate_option_table[] = {
	OPTION("schema-only", 0, FLAG, schema_only, NULL),
	COMMON_OPTIONS,
	{0},
};

struct checked {
	const char *path;
	const struct folders *folders;
	bool schema_only;
	struct file_lines lines; /* lines of a journal, of which the first was read */
	struct text content;     /* content of other files */
	struct json_list list;   /* list that is read from the content */
	char format[64];         /* "tiletune.tuned/1"; "" while unknown */
};

static enum status read_tuned(struct checked *file, struct error *err)
{
	return tuned_check(&file->list, err);
}

static enum status read_journal(struct checked *file, struct error *err)
{
	return file->lines.line.data
		       ? journal_check(&file->lines, file->schema_only, err)
		       : error_set(err, STATUS_BAD_INPUT,
				 "%s: line 1: $: the member \"event\" is missing", file->path);
}

static enum status read_suite(struct checked *file, struct error *err)
{
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	CLEANUP(suite_release) struct suite suite = {0};
	const struct operation *operation;
	const struct family *family;

	TRY(suite_parse(&file->content, file->path, &suite, err));
	if (file->schema_only)
		return STATUS_OK;
	if (catalogue_load(file->folders->templates, suite.operation, &catalogue, err) !=
			STATUS_OK ||
		catalogue_operation(&catalogue, suite.operation, &operation, err) != STATUS_OK)
		return error_context(err, "%s: $.operation", file->path);
	for (size_t i = 0; suite.problems[i]; i++)
		if (problem_parse(operation, suite.problems[i], &problems, err) != STATUS_OK)
			return error_context(err, "%s: $.problems[%zu]", file->path, i);
	for (size_t i = 0; suite.families && suite.families[i]; i++)
		if (catalogue_family(&catalogue, operation, suite.families[i], &family, err) !=
			STATUS_OK)
			return error_context(err, "%s: $.families[%zu]", file->path, i);
	return STATUS_OK;
}

static enum status read_device(struct checked *file, struct error *err)
{
	CLEANUP(device_spec_release) struct device_spec *spec = NULL;

	return device_spec_parse(
		text_string(&file->content), file->content.length, file->path, &spec, err);
}

static enum status read_learned(struct checked *file, struct error *err)
{
	CLEANUP(learned_release) struct learned learned = {0};

	return learned_parse(&file->content, file->path, NULL, &learned, err);
}

static enum status read_record(
	const struct checked *file, const struct record *record, struct error *err)
{
	CLEANUP(json_release) struct json *root = NULL;

	TRY(json_parse(text_string(&file->content), file->content.length, file->path, &root, err));
	const struct json_at at = json_root(root, file->path);
	return record_check(record, &at, err);
}

/* Also tries the families unless only the form is checked. */
static enum status read_families(struct checked *file, struct error *err)
{
	const bool is_own = strcmp(file->format, "tiletune.own_kernel/1") == 0;
	CLEANUP(text_release) struct text notices = {0};
	enum status status;

	if (!file_is_regular(file->path))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: this file is read with its neighbours, so it cannot be a pipe",
			file->path);
	status = families_check(
		file->path, is_own, file->folders->templates, file->schema_only, &notices, err);
	common_notice_lines(text_string(&notices));
	return status;
}

static const struct {
	const char *format;
	const struct record *record; /* the record, if no other reader exists */
	enum status (*read)(struct checked *file, struct error *err);
} formats[] = {
	{"tiletune.tuned/1", .read = read_tuned},
	{"tiletune.journal/1", .read = read_journal},
	{"tiletune.suite/1", .read = read_suite},
	{"tiletune.device/1", .read = read_device},
	{"tiletune.device_defaults/1", .record = &device_defaults_record},
	{"tiletune.learned/1", .read = read_learned},
	{"tiletune.operation/1", .read = read_families},
	{"tiletune.family/1", .read = read_families},
	{"tiletune.own_kernel/1", .read = read_families},
	{"tiletune.check/1", .record = &check_document_record},
	{"tiletune.judgement/1", .record = &kernel_judgement_record},
	{"tiletune.kernel/1", .record = &kernel_document_record},
};

/* Reads the file and finds its format from the member "format" or from the first line of a
 * journal. */
static enum status find_format(struct checked *file, struct error *err)
{
	CLEANUP(json_release) struct json *line = NULL;
	struct json_at at, event;
	const char *format;

	bool any;

	TRY(file_lines_open(file->path, &file->lines, err));
	TRY(file_lines_next(&file->lines, &any, err));
	/* a journal has one JSON text per line */
	if (json_parse(file->lines.line.data, file->lines.line.length, file->path, &line, NULL) ==
		STATUS_OK) {
		at = json_root(line, file->path);
		if (json_find(&at, "event", &event)) {
			string_put(file->format, sizeof(file->format), "tiletune.journal/1");
			return STATUS_OK;
		}
	}
	if (string_ends_with(file->path, ".cu")) {
		error_set(err, STATUS_BAD_INPUT, "%s: this is a CUDA source, not JSON", file->path);
		return error_hint(err, "draft the JSON of its kernel: tiletune new %s", file->path);
	}
	TRY(file_lines_rest(&file->lines, &file->content, err));
	TRY(json_list_open(text_string(&file->content), file->content.length, file->path, "entries",
		&file->list, err));
	TRY(json_expect(&file->list.root, JSON_OBJECT, err));
	TRY(own_kernel_refuse_t1(&file->list.root, err));
	TRY(json_member_string(&file->list.root, "format", &format, err));
	string_put(file->format, sizeof(file->format), format);
	return STATUS_OK;
}

static enum status unknown_format(const struct checked *file, struct error *err)
{
	const char *names[ARRAY_COUNT(formats) + 1] = {NULL};
	CLEANUP(text_release) struct text list = {0};

	for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
		names[i] = formats[i].format;
	text_append_names(&list, names);
	error_set(err, STATUS_BAD_INPUT, "%s: $.format: expected one of %s, found \"%s\"",
		file->path, text_string(&list), file->format);
	return name_hint(file->format, names, err);
}

static enum status check_file(struct checked *file, struct error *err)
{
	TRY(find_format(file, err));
	for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
		if (strcmp(formats[i].format, file->format) == 0)
			return formats[i].record ? read_record(file, formats[i].record, err)
						 : formats[i].read(file, err);
	return unknown_format(file, err);
}

/* If a message is about another of the given files, returns that file, else NULL. Templates are
 * read by folder, so an error may come from a neighbouring file. */
static const char *is_about(const char *message, const char *path, const struct string_list *files)
{
	for (size_t i = 0; i < files->count; i++) {
		const size_t length = strlen(files->items[i]);

		if (strcmp(files->items[i], path) != 0 &&
			strncmp(message, files->items[i], length) == 0 && message[length] == ':')
			return files->items[i];
	}
	return NULL;
}

static struct json *verdict(const struct checked *file, enum status status, const struct error *err)
{
	struct json *json = json_new_object();

	json_put_string(json, "file", file->path);
	json_put_string(json, "format", file->format[0] ? file->format : NULL);
	json_put_bool(json, "ok", status == STATUS_OK);
	if (err->message[0])
		json_put_string(json, "error", err->message);
	if (err->hint[0])
		json_put_string(json, "hint", err->hint);
	return json;
}

static enum status validate_run(
	void *options_, const struct string_list *positional, struct error *err)
{
	const struct validate_options *options = options_;
	CLEANUP(folders_release)
	struct folders folders = folders_of(&options->common.paths, positional->items[0]);
	CLEANUP(json_release) struct json *verdicts = json_new_array();
	size_t bad = 0, skipped = 0;
	bool failed = false;

	for (size_t i = 0; i < positional->count; i++) {
		struct checked file = {.path = positional->items[i],
			.folders = &folders,
			.schema_only = options->schema_only};
		struct error reason = {0};
		const enum status found = check_file(&file, &reason);
		const char *other = is_about(reason.message, file.path, positional);

		if (other) { /* the error is in the other file; this one may be valid */
			error_set(&reason, found, "%s: skipped, because %s is invalid", file.path,
				other);
			skipped++;
		}
		bad += found != STATUS_OK && !other;
		failed |= found == STATUS_FAILED;
		if (options->common.json)
			json_push(verdicts, verdict(&file, found, &reason));
		else if (found == STATUS_OK)
			common_print(stdout, "%s: ok (%s)\n", file.path, file.format);
		else {
			common_print_lines(stdout, reason.message);
			common_print(
				stdout, reason.hint[0] ? "\n  hint: %s\n" : "%s\n", reason.hint);
		}
		json_list_release(&file.list);
		text_release(&file.content);
		file_lines_close(&file.lines);
	}
	if (options->common.json)
		TRY(common_write_json("-", verdicts, err));
	return bad + skipped
		       ? error_set(err, failed ? STATUS_FAILED : STATUS_BAD_INPUT,
				 "validate: %zu of %zu files are invalid", bad, positional->count)
		       : STATUS_OK;
}

const struct command command_validate = {
	.name = "validate",
	COMMAND_OPTIONS(struct validate_options, validate_option_table),
	.positional_min = 1,
	.positional_max = 100000,
	.run = validate_run,
};
