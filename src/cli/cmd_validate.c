/* SPDX-License-Identifier: MIT
 *
 * tiletune validate: are these files what they say they are?
 *
 * By the readers that tiletune works with, and by the records from which their schemas follow
 * (configs/schemas). One row per format in the table below.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advice.h"
#include "advise/sweep.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/record_read.h"
#include "candidate/bound_family.h"
#include "check/check_json.h"
#include "cli/common.h"
#include "engine/explanation.h"
#include "engine/kernel_json.h"
#include "family/family.h"
#include "format/journal_line.h"
#include "format/tuned.h"
#include "learn/correction.h"
#include "lookup/lookup.h"
#include "spec/sheet.h"
#include "tune/suite.h"

struct validate_options {
	struct common_options common;
	bool schema_only;
};

static const struct option validate_option_table[] = {
	{"schema-only", 0, OPTION_FLAG, offsetof(struct validate_options, schema_only), NULL,
		"check the form alone, not what our readers make of it", NULL},
	COMMON_OPTIONS(struct validate_options),
	{0},
};

/* One file under way. */
struct checked {
	const char *path;
	const struct folders *folders;
	bool schema_only;
	struct text content;
	char format[64]; /* "tiletune.tuned/1"; "" while unknown */
};

/* ---- readers ---- */
static enum status read_tuned(const struct checked *file, struct error *err)
{
	struct tuned tuned;
	enum status status = tuned_load(file->path, &tuned, err);

	if (status == STATUS_OK)
		tuned_release(&tuned);
	return status;
}

static enum status read_line(const struct json_at *at, struct error *err)
{
	const struct journal_line *line = journal_lines;
	enum status status;
	const char *event;
	void *value;

	if (json_member_string(at, "event", &event, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	while (line->event && strcmp(line->event, event) != 0)
		line++;
	if (!line->event)
		return STATUS_OK;
	value = memory_zeroed(1, line->record->size);
	status = record_from_json(line->record, at, value, NULL, err);
	if (status == STATUS_OK)
		record_release(line->record, value);
	free(value);
	return status;
}

/* Every whole line; what a kill tore is the reader's to judge. */
static enum status journal_form(const struct checked *file, struct error *err)
{
	enum status status = STATUS_OK;
	const char *line = text_string(&file->content);

	for (size_t number = 1; *line && status == STATUS_OK; number++) {
		const size_t length = strcspn(line, "\n");
		char *where = string_format("%s: line %zu", file->path, number);
		struct json *root = NULL;

		if (length && json_parse(line, length, where, &root, NULL) == STATUS_OK) {
			const struct json_at at = json_root(root, where);

			status = read_line(&at, err);
		}
		json_free(root);
		free(where);
		line += length + (line[length] == '\n');
	}
	return status;
}

static enum status read_journal(const struct checked *file, struct error *err)
{
	struct journal_record record;
	enum status status = journal_read(file->path, &record, err);

	if (status == STATUS_OK)
		journal_record_release(&record);
	return status;
}

static enum status suite_form(const struct checked *file, struct error *err)
{
	struct suite suite;
	enum status status = suite_load(file->path, file->folders->roots, &suite, err);

	if (status == STATUS_OK)
		suite_release(&suite);
	return status;
}

static enum status read_suite(const struct checked *file, struct error *err)
{
	struct problem_list problems = {0};
	const struct operation *operation;
	struct catalogue catalogue = {0};
	struct suite suite;
	enum status status = suite_load(file->path, file->folders->roots, &suite, err);

	if (status != STATUS_OK)
		return status;
	status = catalogue_load(
		(const char *const *)file->folders->templates, suite.operation, &catalogue, err);
	if (status == STATUS_OK)
		status = catalogue_operation(&catalogue, suite.operation, &operation, err);
	if (status != STATUS_OK)
		error_context(err, "%s: $.operation", file->path);
	for (size_t i = 0; status == STATUS_OK && suite.problems[i]; i++) {
		status = problem_parse(operation, suite.problems[i], &problems, err);
		if (status != STATUS_OK)
			error_context(err, "%s: $.problems[%zu]", file->path, i);
	}
	for (size_t i = 0; status == STATUS_OK && suite.families[i]; i++) {
		const struct family *family;

		status = catalogue_family(&catalogue, operation, suite.families[i], &family, err);
		if (status != STATUS_OK)
			error_context(err, "%s: $.families[%zu]", file->path, i);
	}
	problem_list_release(&problems);
	catalogue_release(&catalogue);
	suite_release(&suite);
	return status;
}

static enum status read_device(const struct checked *file, struct error *err)
{
	struct device_spec *spec;
	enum status status = device_spec_parse(
		text_string(&file->content), file->content.length, file->path, &spec, err);

	if (status == STATUS_OK)
		device_spec_free(spec);
	return status;
}

static enum status read_correction(const struct checked *file, struct error *err)
{
	struct correction *correction;
	struct catalogue catalogue = {0};
	enum status status = catalogue_load(
		(const char *const *)file->folders->templates, NULL, &catalogue, err);

	if (status == STATUS_OK)
		status = correction_load(file->path, NULL, &catalogue, &correction, err);
	if (status == STATUS_OK)
		correction_free(correction);
	catalogue_release(&catalogue);
	return status;
}

static enum status read_record(
	const struct checked *file, const struct record *record, struct error *err)
{
	void *value = memory_zeroed(1, record->size);
	struct json *root = NULL;
	enum status status = json_parse(
		text_string(&file->content), file->content.length, file->path, &root, err);

	if (status == STATUS_OK) {
		const struct json_at at = json_root(root, file->path);

		status = record_from_json(record, &at, value, NULL, err);
	}
	record_release(record, value);
	free(value);
	json_free(root);
	return status;
}

/* Whether the family's own examples are what they say, on the default device; the tests try them on
 * one sheet of every compute capability. */
static enum status check_examples(
	const struct checked *file, const struct catalogue *catalogue, struct error *err)
{
	char *stem = string_copy(path_name(file->path));
	struct device_spec *device;
	enum status status = device_spec_load(NULL, NULL, &device, err);

	stem[strcspn(stem, ".")] = 0;
	for (size_t i = 0; i < catalogue->family_count && status == STATUS_OK; i++) {
		const struct family *family = catalogue->families[i];
		const char *slash = strrchr(family_name(family), '/');

		if (strcmp(slash ? slash + 1 : family_name(family), stem) == 0 &&
			!family_is_composite(family))
			status = family_examples_check(family, device, err);
	}
	device_spec_free(device);
	free(stem);
	return status;
}

/* An operation or family: its folder is loaded as the catalogue loads it, other families too. */
static enum status read_template(const struct checked *file, struct error *err)
{
	char *folder = path_parent(file->path), *templates = path_parent(folder);
	char *resolved = realpath(folder, NULL);
	char **others = file->folders->templates;
	const char **folders;
	struct catalogue catalogue = {0};
	size_t count = 0;
	enum status status;

	if (strcmp(folder, ".") == 0) {
		free(templates);
		templates = string_copy("..");
	}
	while (others[count])
		count++;
	folders = memory_zeroed(count + 2, sizeof(*folders));
	folders[0] = templates;
	memcpy(folders + 1, others, count * sizeof(*folders));
	status = catalogue_load(folders, path_name(resolved ? resolved : folder), &catalogue, err);
	if (status == STATUS_OK) {
		if (!file->schema_only)
			status = check_examples(file, &catalogue, err);
		catalogue_release(&catalogue);
	}
	free(folders);
	free(resolved);
	free(templates);
	free(folder);
	return status;
}

static const struct {
	const char *format;
	/* what looks at the form: a function or, where nothing else reads it, a record */
	enum status (*form)(const struct checked *file, struct error *err);
	const struct record *record;
	enum status (*read)(const struct checked *file, struct error *err);
} formats[] = {
	{"tiletune.tuned/1", .form = read_tuned},
	{"tiletune.journal/1", .form = journal_form, .read = read_journal},
	{"tiletune.suite/1", .form = suite_form, .read = read_suite},
	{"tiletune.device/1", .form = read_device},
	{"tiletune.device_defaults/1", .record = &device_defaults_record},
	{"tiletune.correction/1", .form = read_correction},
	{"tiletune.operation/1", .form = read_template},
	{"tiletune.family/1", .form = read_template},
	{"tiletune.explain/1", .record = &explain_document_record},
	{"tiletune.check/1", .record = &check_document_record},
	{"tiletune.lookup/1", .record = &lookup_document_record},
	{"tiletune.kernel/1", .record = &kernel_document_record},
	{"tiletune.advise/1", .record = &advise_record},
	{"tiletune.sweep/1", .record = &sweep_record},
};

/* ---- formats ---- */
/* What the file says that it is: "format" of the whole, or of a journal's first line. */
static enum status find_format(struct checked *file, struct error *err)
{
	const char *content = text_string(&file->content);
	size_t line = strcspn(content, "\n");
	struct json *root = NULL;
	struct json_at at, event;
	const char *format = NULL;
	enum status status;

	/* a journal is not one JSON text unless it has one line */
	if (json_parse(content, line, file->path, &root, NULL) == STATUS_OK) {
		at = json_root(root, file->path);
		if (json_find(&at, "event", &event)) {
			string_put(file->format, sizeof(file->format), "tiletune.journal/1");
			json_free(root);
			return STATUS_OK;
		}
		json_free(root);
		root = NULL;
	}
	status = json_parse(content, file->content.length, file->path, &root, err);
	if (status != STATUS_OK)
		return status;
	at = json_root(root, file->path);
	status = json_expect(&at, JSON_OBJECT, err);
	if (status == STATUS_OK)
		status = json_member_string(&at, "format", &format, err);
	if (status == STATUS_OK)
		string_put(file->format, sizeof(file->format), format);
	json_free(root);
	return status;
}

/* The schema of a format that we only describe, below one of the roots; the caller frees it. */
static char *schema_find(const struct checked *file)
{
	const char *name = file->format;

	if (!string_starts_with(name, "tiletune.") || !string_ends_with(name, "/1"))
		return NULL;
	name += strlen("tiletune.");
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz_") != strlen(name) - strlen("/1"))
		return NULL;
	for (char **root = file->folders->roots; *root; root++) {
		char *path = string_format("%s/configs/schemas/%.*s.schema.json", *root,
			(int)(strlen(name) - strlen("/1")), name);

		if (file_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

static enum status unknown_format(const struct checked *file, struct error *err)
{
	const char *names[ARRAY_COUNT(formats) + 1] = {NULL};
	struct text list = {0};
	const char *nearest;
	char *schema = schema_find(file);

	for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
		names[i] = formats[i].format;
		text_appendf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	error_set(err, STATUS_BAD_INPUT, "%s: $.format: expected one of %s, found \"%s\"",
		file->path, text_string(&list), file->format);
	nearest = name_nearest(file->format, names);
	if (schema)
		error_hint(
			err, "tiletune does not read this format; its JSON Schema is %s", schema);
	else if (nearest)
		error_hint(err, "did you mean \"%s\"?", nearest);
	free(schema);
	text_release(&list);
	return STATUS_BAD_INPUT;
}

static enum status check_file(struct checked *file, struct error *err)
{
	enum status status = file_read(file->path, &file->content, err);

	if (status == STATUS_OK)
		status = find_format(file, err);
	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
		if (strcmp(formats[i].format, file->format) != 0)
			continue;
		if (formats[i].record)
			status = read_record(file, formats[i].record, err);
		else if (formats[i].form)
			status = formats[i].form(file, err);
		if (status == STATUS_OK && formats[i].read && !file->schema_only)
			status = formats[i].read(file, err);
		return status;
	}
	return unknown_format(file, err);
}

static struct json *verdict(const struct checked *file, enum status status, const struct error *err)
{
	struct json *json = json_new_object();

	json_put_string(json, "file", file->path);
	json_put_string(json, "format", file->format[0] ? file->format : NULL);
	json_put_bool(json, "ok", status == STATUS_OK);
	if (status != STATUS_OK)
		json_put_string(json, "error", err->message);
	if (status != STATUS_OK && err->hint[0])
		json_put_string(json, "hint", err->hint);
	return json;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct validate_options *options = options_;
	struct folders folders = folders_find(&options->common.paths);
	struct json *verdicts = json_new_array();
	size_t bad = 0;
	bool failed = false;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < positional->count; i++) {
		struct checked file = {.path = positional->items[i],
			.folders = &folders,
			.schema_only = options->schema_only};
		struct error reason = {0};
		enum status found = check_file(&file, &reason);

		bad += found != STATUS_OK;
		failed |= found == STATUS_FAILED;
		if (options->common.json)
			json_push(verdicts, verdict(&file, found, &reason));
		else if (found == STATUS_OK)
			printf("%s: ok (%s)\n", file.path, file.format);
		else
			printf("%s%s%s\n", reason.message, reason.hint[0] ? "\n  hint: " : "",
				reason.hint);
		text_release(&file.content);
	}
	if (options->common.json)
		status = common_write_json("-", verdicts, err);
	if (status == STATUS_OK && bad)
		status = error_set(err, failed ? STATUS_FAILED : STATUS_BAD_INPUT,
			"validate: %zu of %zu files are not what they should be", bad,
			positional->count);
	json_free(verdicts);
	folders_release(&folders);
	return status;
}

const struct command command_validate = {
	.name = "validate",
	.summary = "Check files of any of our formats with the readers that use them",
	.arguments = "FILE...",
	.description = "Tuned files, journals (plain or gzip), suites, device sheets, operations, "
		       "families,\n"
		       "explanations. The format is the one that the file names. Exit code 2 if "
		       "any is bad.",
	.examples = "  tiletune validate tuned.json tuned.journal.jsonl\n"
		    "  tiletune validate templates/gemm/mma.json --json",
	.options = validate_option_table,
	.options_size = sizeof(struct validate_options),
	.positional_min = 1,
	.positional_max = 100000,
	.run = run,
};
