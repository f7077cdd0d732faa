/* SPDX-License-Identifier: MIT */
#include "family/reference.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/operation.h"

static const char *const unit_names[] = {"element", "row", NULL};
static const char *const kernel_members[] = {
	"entry", "unit", "units_per_block", "block", "smem_bytes", "args"};

static enum status reference_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct reference *reference = value;
	const int kinds = (reference->source_file != NULL) + (reference->file != NULL) +
			  (reference->configuration != NULL);
	struct json_at member;

	(void)context;
	if (kinds != 1)
		return json_invalid(at, err,
			"a reference needs exactly one of \"source\", \"configuration\" and "
			"\"file\"");
	if (reference->family && !reference->configuration)
		return json_invalid_of(
			at, "family", err, "\"family\" needs a \"configuration\" of that family");
	for (size_t i = 0; i < ARRAY_COUNT(kernel_members); i++) {
		const bool is_there = json_find(at, kernel_members[i], &member);

		if (is_there && !reference->source_file)
			return json_invalid(&member, err,
				"\"%s\" is only allowed together with \"source\"",
				kernel_members[i]);
		if (!is_there && reference->source_file &&
			strcmp(kernel_members[i], "smem_bytes") != 0)
			return json_invalid(
				at, err, "the member \"%s\" is missing", kernel_members[i]);
	}
	return STATUS_OK;
}

#define TEXT(field, key, ...)                                                                      \
	RECORD_VALUE(struct reference, field, key, .flags = RECORD_OPTIONAL, ##__VA_ARGS__)
#define FIXED(field, ...)                                                                          \
	RECORD_VALUE(struct reference, field, #field, .flags = RECORD_OPTIONAL,                    \
		.computed = 1 + SCOPE_FIXED, ##__VA_ARGS__)
static const struct record_member reference_members[] = {
	TEXT(output, "output"),
	TEXT(source_file, "source"),
	TEXT(entry, "entry", .rule = &name_rule),
	RECORD_ENUM(struct reference, unit_is_row, unit_names, "unit", .flags = RECORD_OPTIONAL),
	FIXED(units_per_block, .low = 1, .high = INT32_MAX),
	FIXED(block, .low = 1, .high = INT32_MAX),
	FIXED(smem_bytes),
	RECORD_CUSTOM(
		struct reference, computed, &computed_list_member, "", .flags = RECORD_NOT_JSON),
	RECORD_CUSTOM(struct reference, arguments, &argument_list_member, "args",
		.flags = RECORD_OPTIONAL),
	TEXT(file, "file"),
	TEXT(configuration, "configuration"),
	TEXT(family, "family"),
	RECORD_VALUE(struct reference, source_name, "", .flags = RECORD_NOT_JSON),
	RECORD_VALUE(struct reference, source, "", .flags = RECORD_NOT_JSON),
	RECORD_COMMENT("help"),
};
#undef TEXT
#undef FIXED
RECORD_DEFINE(struct reference, reference_record, reference_members, .name = "reference",
	.check = reference_check);

static bool serves(const struct reference *reference, const struct tensor *tensor)
{
	return !reference->output || strcmp(reference->output, tensor->buffer.name) == 0;
}

const struct reference *reference_find(const struct operation *operation, size_t tensor)
{
	const struct reference_list *list = &operation->references;
	const struct reference *found = NULL;

	/* A reference that names the output has precedence over one without a name. */
	for (size_t i = 0; i < list->count; i++)
		if (serves(&list->items[i], &operation->tensors[tensor]) &&
			(!found || list->items[i].output))
			found = &list->items[i];
	return found;
}

const struct reference *reference_trusted(const struct operation *operation)
{
	for (size_t i = 0; i < operation->references.count; i++)
		if (operation->references.items[i].configuration)
			return &operation->references.items[i];
	return NULL;
}

static struct json_at reference_at(const struct json_at *root, size_t index)
{
	struct json_at at;

	json_find(root, "reference", &at);
	return json_type(&at) == JSON_ARRAY ? json_item(&at, index) : at;
}

enum status references_check(
	const struct json_at *root, const struct operation *operation, struct error *err)
{
	struct json_at at, member;

	for (size_t i = 0; i < operation->references.count; i++) {
		const struct reference *reference = &operation->references.items[i];
		size_t served = 0;

		at = reference_at(root, i);
		for (size_t k = 0; k < operation->tensor_count; k++)
			served += buffer_is_output(operation->tensors[k].buffer.role) &&
				  reference_find(operation, k) == reference;
		if (reference->configuration && reference != reference_trusted(operation))
			return json_invalid(&at, err,
				"a configuration must be the only reference, because it computes "
				"all outputs");
		if (served == 1 || (served && reference->configuration))
			continue;
		if (json_find(&at, "output", &member))
			return json_error(&member, err,
				"the name of a written tensor that has no other reference");
		return json_invalid(&at, err,
			served ? "\"output\" is missing: it names one of several tensors"
			       : "every output has another reference");
	}
	return STATUS_OK;
}

enum status references_load(struct operation *operation, const struct source_place *place,
	const char *const *template_folders, struct error *err)
{
	const struct json_at root = json_root(operation->tree, operation->file);
	struct json_at item, source;

	for (size_t i = 0; i < operation->references.count; i++) {
		struct reference *reference = &operation->references.items[i];

		item = reference_at(&root, i);
		if (json_find(&item, "source", &source))
			TRY(source_json_load(&source, place, template_folders, NULL,
				&reference->source_name, &reference->source, err));
	}
	return STATUS_OK;
}
