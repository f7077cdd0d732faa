/* SPDX-License-Identifier: MIT */
#include "score/learned.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "record/record_read.h"
#include "score/features.h"

#define SHARE(field) RECORD_VALUE(struct left_out, field, #field, .low = 0, .high = 1)
static const struct record_member left_out_members[] = {
	RECORD_VALUE(struct left_out, problems, "problems"),
	SHARE(physics_mean),
	SHARE(physics_lowest),
	SHARE(learned_mean),
	SHARE(learned_lowest),
};
#undef SHARE
static RECORD_DEFINE(struct left_out, left_out_record, left_out_members, .name = "left_out");

static const struct record_member family_members[] = {
	RECORD_VALUE(struct learned_family, name, "family"),
	RECORD_VALUE(struct learned_family, timings, "timings"),
	RECORD_VALUE(struct learned_family, problems, "problems"),
	RECORD_NESTED(struct learned_family, left_out, left_out_record, "left_out"),
	RECORD_NESTED(struct learned_family, trees, trees_record, "model"),
};
static RECORD_DEFINE(
	struct learned_family, learned_family_record, family_members, .name = "learned_family");

/* Reads a family unless `context`, a catalogue or NULL, lacks it. */
static enum status family_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct learned_family *one = field;
	const char *name = json_string_of(at, "family");

	if (context && name &&
		catalogue_family(context, NULL, name, &one->family, NULL) != STATUS_OK)
		return STATUS_OK;
	return record_from_json(&learned_family_record, at, one, NULL, err);
}

static void family_release(void *field)
{
	record_release(&learned_family_record, field);
}

static const struct record_custom family_custom = {family_read, NULL, family_release};

static const struct record_member file_members[] = {
	RECORD_CONSTANT("format", "tiletune.learned/1"),
	RECORD_VALUE(struct learned, device, "device"),
	RECORD_CUSTOMS(struct learned, families, family_count, &family_custom, "families"),
};
static RECORD_DEFINE(struct learned, learned_record, file_members, .name = "learned", .open = true);

void learned_release(struct learned *learned)
{
	record_release(&learned_record, learned);
	*learned = (struct learned){0};
}

enum status learned_parse(const struct text *content, const char *path,
	const struct catalogue *catalogue, struct learned *learned, struct error *err)
{
	CLEANUP(json_release) struct json *json = NULL;
	struct json_at root;

	*learned = (struct learned){0};
	TRY(json_parse(text_string(content), content->length, path, &json, err));
	root = json_root(json, path);
	return record_from_json(&learned_record, &root, learned, (void *)(uintptr_t)catalogue, err);
}

/* Sets *count to the number of families that have all features used in learning. */
static enum status learned_load(const char *path, const char *device,
	const struct catalogue *catalogue, struct learned *learned, size_t *count,
	struct error *err)
{
	CLEANUP(text_release) struct text content = {0};

	TRY(file_read(path, &content, err));
	TRY(learned_parse(&content, path, catalogue, learned, err));
	if (strcmp(learned->device, device) != 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: $.device: expected \"%s\", found \"%s\"", path, device,
			learned->device);
	*count = 0;
	for (size_t i = 0; i < learned->family_count; i++) {
		struct learned_family *one = &learned->families[i];
		CLEANUP(name_set_release) struct name_set names = {0};

		if (!one->family)
			continue;
		names = features_names(one->family);
		one->feature_count = names.count;
		if (!trees_bind(&one->trees, (const char *const *)names.items))
			one->family = NULL;
		*count += one->family != NULL;
	}
	return STATUS_OK;
}

static enum status open_named(const char *path, const char *device,
	const struct catalogue *catalogue, struct learned *learned, struct error *err)
{
	size_t count;

	TRY(learned_load(path, device, catalogue, learned, &count, err));
	learned->is_named = true;
	if (count)
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT,
		"%s: the file fits none of the families here and their parameters", path);
	return error_hint(err, "make it again from journals: python3 -m tiletune.learn");
}

static enum status open_shipped(const char *const *config_folders, const char *device,
	const struct catalogue *catalogue, struct learned *learned, struct error *err)
{
	for (; *config_folders && !learned->device; config_folders++) {
		CLEANUP(memory_free)
		char *path = string_format("%s/learned/%s.json", *config_folders, device);
		size_t count;

		if (file_is_regular(path))
			TRY(learned_load(path, device, catalogue, learned, &count, err));
	}
	return STATUS_OK;
}

static enum status open_fallback(const char *const *config_folders, const char *device,
	const struct catalogue *catalogue, struct learned *learned, struct error *err)
{
	CLEANUP(device_spec_release) struct device_spec *own = NULL;
	CLEANUP(name_set_release) struct name_set names = device_spec_names(config_folders);

	if (device_spec_load(device, config_folders, &own, NULL) != STATUS_OK)
		return STATUS_OK;
	for (size_t i = 0; i < names.count && !learned->device; i++) {
		CLEANUP(device_spec_release) struct device_spec *other = NULL;

		if (device_spec_load(names.items[i], config_folders, &other, NULL) != STATUS_OK)
			continue;
		if (other->compute_capability == own->compute_capability)
			TRY(open_shipped(config_folders, names.items[i], catalogue, learned, err));
	}
	return STATUS_OK;
}

enum status learned_open(const struct learned_choice *choice, const char *const *config_folders,
	const char *device, const struct catalogue *catalogue, struct learned *learned,
	struct error *err)
{
	const char *shipped = getenv("TILETUNE_LEARNED");
	enum status status;

	*learned = (struct learned){0};
	if (choice->none || (!choice->file && shipped && strcmp(shipped, "none") == 0))
		return STATUS_OK;
	status = choice->file ? open_named(choice->file, device, catalogue, learned, err)
			      : open_shipped(config_folders, device, catalogue, learned, err);
	if (status == STATUS_OK && !learned->device)
		status = open_fallback(config_folders, device, catalogue, learned, err);
	if (status != STATUS_OK)
		learned_release(learned);
	return status;
}

const struct learned_family *learned_find(
	const struct learned *learned, const struct family *family)
{
	for (size_t i = 0; learned && i < learned->family_count; i++)
		if (learned->families[i].family == family)
			return &learned->families[i];
	return NULL;
}
