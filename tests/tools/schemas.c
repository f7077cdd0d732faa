/* SPDX-License-Identifier: MIT
 *
 * Writes the JSON Schemas that follow from the records of the code.
 *
 *	schemas FOLDER		FOLDER/tuned.schema.json, ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advise_json.h"
#include "advise/sweep.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/record_schema.h"
#include "check/check_json.h"
#include "engine/explanation.h"
#include "engine/kernel_json.h"
#include "format/tuned.h"
#include "lookup/lookup.h"
#include "spec/sheet.h"
#include "tune/suite.h"

static const struct {
	const char *name, *title;
	const struct record *record;
} schemas[] = {
	{"tuned", "the best configurations of one GPU model", &tuned_record},
	{"device", "a device sheet", &device_record},
	{"device_defaults", "what is assumed of a GPU without a sheet", &device_defaults_record},
	{"advise", "sizes near the asked ones that are better", &advise_record},
	{"sweep", "fixed configurations over a range of sizes", &sweep_record},
	{"suite", "a list of problems", &suite_record},
	{"kernel", "a kernel on its own and how it is launched", &kernel_document_record},
	{"lookup", "what a tuned file knows for problems", &lookup_document_record},
	{"explain", "why configurations are what they are", &explain_document_record},
	{"check", "what became of a baseline's winners", &check_document_record},
};

static enum status write_schema(const char *folder, size_t index, struct error *err)
{
	char *title = string_format("tiletune.%s/1: %s", schemas[index].name, schemas[index].title);
	char *path = string_format("%s/%s.schema.json", folder, schemas[index].name);
	struct json *schema = record_schema(schemas[index].record, title);
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
