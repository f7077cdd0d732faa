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
#include "cli/families_check.h"
#include "engine/explanation.h"
#include "engine/kernel_json.h"
#include "family/family.h"
#include "format/journal_line.h"
#include "format/tuned.h"
#include "import/t1.h"
#include "learn/learned.h"
#include "lookup/lookup.h"
#include "spec/sheet.h"
#include "tune/suite.h"

struct validate_options {
	struct common_options common;
	bool schema_only;
};

#define AT(member) offsetof(struct validate_options, member)

static const struct option validate_option_table[] = {
	OPTION("schema-only", 0, FLAG, schema_only, NULL,
		"check the form alone, not what our readers make of it"),
	COMMON_OPTIONS,
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
	CLEANUP(tuned_release) struct tuned tuned = {0};

	return tuned_load(file->path, &tuned, err);
}

static enum status read_line(const struct json_at *at, struct error *err)
{
	const struct journal_line *line = journal_lines;
	CLEANUP(memory_free) void *value = NULL;
	const char *event;

	TRY(json_member_string(at, "event", &event, err));
	while (line->event && strcmp(line->event, event) != 0)
		line++;
	if (!line->event)
		return STATUS_OK;
	value = memory_zeroed(1, line->record->size);
	TRY(record_from_json(line->record, at, value, NULL, err));
	record_release(line->record, value);
	return STATUS_OK;
}

/* Every whole line; what a kill tore is the reader's to judge. */
static enum status journal_form(const struct checked *file, struct error *err)
{
	const char *line = text_string(&file->content);

	for (size_t number = 1; *line; number++) {
		const size_t length = strcspn(line, "\n");
		CLEANUP(memory_free)
		char *where = string_format("%s: line %zu", file->path, number);
		CLEANUP(json_release) struct json *root = NULL;

		if (length && json_parse(line, length, where, &root, NULL) == STATUS_OK) {
			const struct json_at at = json_root(root, where);

			TRY(read_line(&at, err));
		}
		line += length + (line[length] == '\n');
	}
	return STATUS_OK;
}

static enum status read_journal(const struct checked *file, struct error *err)
{
	CLEANUP(journal_record_release) struct journal_record record = {0};

	TRY(journal_read(file->path, &record, err));
	return record.bad_lines ? error_set(err, STATUS_BAD_INPUT, "%s", record.bad_line)
				: STATUS_OK;
}

static enum status suite_form(const struct checked *file, struct error *err)
{
	CLEANUP(suite_release) struct suite suite = {0};

	return suite_load(file->path, file->folders->roots, &suite, err);
}

static enum status read_suite(const struct checked *file, struct error *err)
{
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	CLEANUP(suite_release) struct suite suite = {0};
	const struct operation *operation;
	const struct family *family;

	TRY(suite_load(file->path, file->folders->roots, &suite, err));
	if (catalogue_load(file->folders->templates, suite.operation, &catalogue, err) !=
			STATUS_OK ||
		catalogue_operation(&catalogue, suite.operation, &operation, err) != STATUS_OK)
		return error_context(err, "%s: $.operation", file->path);
	for (size_t i = 0; suite.problems[i]; i++)
		if (problem_parse(operation, suite.problems[i], &problems, err) != STATUS_OK)
			return error_context(err, "%s: $.problems[%zu]", file->path, i);
	for (size_t i = 0; suite.families[i]; i++)
		if (catalogue_family(&catalogue, operation, suite.families[i], &family, err) !=
			STATUS_OK)
			return error_context(err, "%s: $.families[%zu]", file->path, i);
	return STATUS_OK;
}

static enum status read_device(const struct checked *file, struct error *err)
{
	CLEANUP(device_spec_release) struct device_spec *spec = NULL;

	return device_spec_parse(
		text_string(&file->content), file->content.length, file->path, &spec, err);
}

static enum status read_learned(const struct checked *file, struct error *err)
{
	CLEANUP(learned_file_release) struct learned_file learned = {0};

	return learned_file_load(file->path, &learned, err);
}

static enum status read_record(
	const struct checked *file, const struct record *record, struct error *err)
{
	CLEANUP(memory_free) void *value = memory_zeroed(1, record->size);
	CLEANUP(json_release) struct json *root = NULL;
	struct json_at at;

	TRY(json_parse(text_string(&file->content), file->content.length, file->path, &root, err));
	at = json_root(root, file->path);
	TRY(record_from_json(record, &at, value, NULL, err));
	record_release(record, value);
	return STATUS_OK;
}

/* An operation or family: its folder is loaded as the catalogue loads it, other families too. */
static enum status read_template(const struct checked *file, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(file->path);
	CLEANUP(memory_free) char *resolved = realpath(folder, NULL);
	CLEANUP(memory_free) char *stem = string_copy(path_name(file->path));
	CLEANUP(memory_free)
	char *templates = strcmp(folder, ".") == 0 ? string_copy("..") : path_parent(folder);
	CLEANUP(string_list_release) struct string_list folders = {0};
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};

	string_list_add(&folders, templates);
	for (const char *const *other = file->folders->templates; *other; other++)
		string_list_add(&folders, *other);
	TRY(catalogue_load(
		folders.items, path_name(resolved ? resolved : folder), &catalogue, err));
	stem[strcspn(stem, ".")] = 0;
	return file->schema_only ? STATUS_OK : families_check(&catalogue, stem, err);
}

/* A file that is operation and family. */
static enum status read_own_kernel(const struct checked *file, struct error *err)
{
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};

	TRY(catalogue_load(file->folders->templates, file->path, &catalogue, err));
	return file->schema_only ? STATUS_OK : families_check(&catalogue, NULL, err);
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
	{"tiletune.learned/1", .form = read_learned},
	{"tiletune.operation/1", .form = read_template},
	{"tiletune.family/1", .form = read_template},
	{"tiletune.own_kernel/1", .form = read_own_kernel},
	{"T1", .form = read_own_kernel},
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
	CLEANUP(json_release) struct json *line = NULL, *root = NULL;
	struct json_at at, event;
	const char *format;

	/* a journal is not one JSON text unless it has one line */
	if (json_parse(content, strcspn(content, "\n"), file->path, &line, NULL) == STATUS_OK) {
		at = json_root(line, file->path);
		if (json_find(&at, "event", &event)) {
			string_put(file->format, sizeof(file->format), "tiletune.journal/1");
			return STATUS_OK;
		}
	}
	TRY(json_parse(content, file->content.length, file->path, &root, err));
	at = json_root(root, file->path);
	TRY(json_expect(&at, JSON_OBJECT, err));
	if (t1_is(&at)) {
		string_put(file->format, sizeof(file->format), "T1");
		return STATUS_OK;
	}
	TRY(json_member_string(&at, "format", &format, err));
	string_put(file->format, sizeof(file->format), format);
	return STATUS_OK;
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
	for (const char *const *root = file->folders->roots; *root; root++) {
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
	CLEANUP(text_release) struct text list = {0};
	CLEANUP(memory_free) char *schema = schema_find(file);
	const char *nearest;

	for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
		names[i] = formats[i].format;
		text_appendf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	error_set(err, STATUS_BAD_INPUT, "%s: $.format: expected one of %s, found \"%s\"",
		file->path, text_string(&list), file->format);
	nearest = name_nearest(file->format, names);
	if (schema)
		return error_hint(
			err, "tiletune does not read this format; its JSON Schema is %s", schema);
	return nearest ? error_hint(err, "did you mean \"%s\"?", nearest) : STATUS_BAD_INPUT;
}

static enum status check_file(struct checked *file, struct error *err)
{
	TRY(file_read(file->path, &file->content, err));
	TRY(find_format(file, err));
	for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
		if (strcmp(formats[i].format, file->format) != 0)
			continue;
		if (formats[i].record)
			TRY(read_record(file, formats[i].record, err));
		else if (formats[i].form)
			TRY(formats[i].form(file, err));
		return formats[i].read && !file->schema_only ? formats[i].read(file, err)
							     : STATUS_OK;
	}
	return unknown_format(file, err);
}

/* Another of the files that this message is about, or NULL: templates are read by folder. */
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
	if (status != STATUS_OK)
		json_put_string(json, "error", err->message);
	if (status != STATUS_OK && err->hint[0])
		json_put_string(json, "hint", err->hint);
	return json;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct validate_options *options = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(json_release) struct json *verdicts = json_new_array();
	size_t bad = 0, skipped = 0;
	bool failed = false;

	for (size_t i = 0; i < positional->count; i++) {
		struct checked file = {.path = positional->items[i],
			.folders = &folders,
			.schema_only = options->schema_only};
		struct error reason = {0};
		enum status found = check_file(&file, &reason);

		const char *other =
			found == STATUS_OK ? NULL : is_about(reason.message, file.path, positional);

		if (other) { /* said of that file; this one may be right */
			error_set(&reason, found,
				"%s: not looked at, as %s is not what it should be", file.path,
				other);
			skipped++;
		}
		bad += found != STATUS_OK && !other;
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
		TRY(common_write_json("-", verdicts, err));
	return bad + skipped ? error_set(err, failed ? STATUS_FAILED : STATUS_BAD_INPUT,
				       "validate: %zu of %zu files are not what they should be",
				       bad, positional->count)
			     : STATUS_OK;
}

const struct command command_validate = {
	.name = "validate",
	.summary = "Check files of any of our formats with the readers that use them",
	.arguments = "FILE...",
	.description = "Tuned files, journals (plain or gzip), suites, device sheets, operations,\n"
		       "families, own kernels, explanations. The format is the one that the file "
		       "names. Exit code 2\n"
		       "if any is bad.",
	.examples = "  tiletune validate tuned.json tuned.journal.jsonl\n"
		    "  tiletune validate templates/gemm/mma.json --json",
	.options = validate_option_table,
	.options_size = sizeof(struct validate_options),
	.positional_min = 1,
	.positional_max = 100000,
	.run = run,
};
