/* SPDX-License-Identifier: MIT
 *
 * Writes the JSON Schemas that follow from the records of the code.
 *
 *	schemas FOLDER		FOLDER/tuned.schema.json, ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advice.h"
#include "advise/sweep.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/record_schema.h"
#include "check/check_json.h"
#include "engine/explanation.h"
#include "engine/kernel_json.h"
#include "family/family.h"
#include "format/journal_line.h"
#include "format/tuned.h"
#include "learn/learned.h"
#include "lookup/lookup.h"
#include "spec/sheet.h"
#include "tune/suite.h"

static const struct {
	const char *name, *title;
	const struct record *record; /* NULL: made below */
} schemas[] = {
	{"learned", "what timings on a device taught beyond physics", &learned_file_record},
	{"tuned", "the best configurations of one GPU model", &tuned_record},
	{"device", "a device sheet", &device_record},
	{"device_defaults", "what is assumed of a GPU without a sheet", &device_defaults_record},
	{"advise", "sizes near the asked ones that are better", &advise_record},
	{"sweep", "fixed configurations over a range of sizes", &sweep_record},
	{"suite", "a list of problems", &suite_record},
	{"operation", "an operation: what kernels compute", &operation_record},
	{"family", "a family: kernels of an operation and their tiles", &family_record},
	{"own_kernel", "a kernel and what it computes in one file", NULL},
	{"journal", "a line of a journal", NULL},
	{"kernel", "a kernel on its own and how it is launched", &kernel_document_record},
	{"lookup", "what a tuned file knows for problems", &lookup_document_record},
	{"explain", "why configurations are what they are", &explain_document_record},
	{"check", "what became of a baseline's winners", &check_document_record},
};

/* {"if": {"properties": {"event": {"const": EVENT}}}, "then": its record} */
static struct json *line_schema(const struct journal_line *line, struct json *definitions)
{
	char *text = string_format(
		"{\"if\":{\"properties\":{\"event\":{\"const\":\"%s\"}}}}", line->event);
	struct json *schema = NULL;

	if (json_parse(text, strlen(text), "", &schema, NULL) != STATUS_OK)
		BUG("the name of an event");
	json_put(schema, "then", record_schema_reference(line->record, definitions));
	free(text);
	return schema;
}

/* Each line is what its event says; one of another event may be anything. */
static struct json *journal_schema(const char *title)
{
	struct json *schema = json_new_object(), *definitions = json_new_object();
	struct json *properties = json_new_object(), *required = json_new_array();
	struct json *event = json_new_object(), *lines = json_new_array();

	json_put_string(schema, "$schema", "http://json-schema.org/draft-07/schema#");
	json_put_string(schema, "title", title);
	json_put_string(schema, "type", "object");
	json_put_string(event, "type", "string");
	json_put(properties, "event", event);
	json_put(schema, "properties", properties);
	json_push(required, json_new_string("event"));
	json_put(schema, "required", required);
	for (const struct journal_line *line = journal_lines; line->event; line++)
		json_push(lines, line_schema(line, definitions));
	json_put(schema, "allOf", lines);
	json_put(schema, "definitions", definitions);
	return schema;
}

static enum status write_schema(const char *folder, size_t index, struct error *err)
{
	char *title = string_format("tiletune.%s/1: %s", schemas[index].name, schemas[index].title);
	char *path = string_format("%s/%s.schema.json", folder, schemas[index].name);
	struct json *schema = schemas[index].record ? record_schema(schemas[index].record, title)
			      : strcmp(schemas[index].name, "journal") == 0
				      ? journal_schema(title)
				      : own_kernel_schema(title);
	char *printed = json_print(schema, true), *text = string_format("%s\n", printed);
	enum status status = file_write(path, text, strlen(text), err);

	free(title);
	free(path);
	free(printed);
	free(text);
	json_free(schema);
	return status;
}

int main(int count, char **arguments)
{
	struct error err = {0};

	if (count != 2) {
		fprintf(stderr, "usage: schemas FOLDER\n");
		return STATUS_BAD_INPUT;
	}
	for (size_t i = 0; i < ARRAY_COUNT(schemas); i++)
		if (write_schema(arguments[1], i, &err) != STATUS_OK) {
			fprintf(stderr, "%s\n", err.message);
			return (int)err.status;
		}
	return 0;
}
