/* SPDX-License-Identifier: MIT */
#include "learn/learned.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/record_read.h"
#include "learn/features.h"

#define SHARE(field, help) RECORD_VALUE(struct left_out, field, #field, help, .low = 0, .high = 1)
static const struct record_member left_out_members[] = {
	RECORD_VALUE(struct left_out, problems, "problems", "with ten timings or more"),
	SHARE(physics_mean, "without what was learned"),
	SHARE(physics_lowest, "of the worst problem"),
	SHARE(learned_mean, "with it, from the other problems"),
	SHARE(learned_lowest, "of the worst problem"),
};
#undef SHARE
static RECORD_DEFINE(struct left_out, left_out_record, left_out_members, .name = "left_out");

static const struct record_member family_members[] = {
	RECORD_VALUE(struct learned_family, name, "family", "gemm/wgmma"),
	RECORD_VALUE(struct learned_family, timings, "timings", "learned from"),
	RECORD_VALUE(struct learned_family, problems, "problems", "that they are of"),
	RECORD_NESTED(struct learned_family, left_out, left_out_record, "left_out",
		"speed of the first predicted as a share of the family's best measured, of "
		"problems "
		"that were left out"),
	RECORD_NESTED(struct learned_family, trees, trees_record, "model", "what was learned"),
};
static RECORD_DEFINE(
	struct learned_family, learned_family_record, family_members, .name = "learned_family");

static const struct record_member file_members[] = {
	RECORD_CONSTANT("format", "tiletune.learned/1", "what this file is"),
	RECORD_VALUE(struct learned_file, device, "device", "the sheet's name, as the file's"),
	RECORD_VALUE(struct learned_file, base, "base",
		"hash of what is shipped, where this was learned on top of it",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct learned_file, families, family_count, learned_family_record,
		"families", "of any operation"),
};
RECORD_DEFINE(struct learned_file, learned_file_record, file_members, .name = "learned");

void learned_file_release(struct learned_file *file)
{
	for (size_t i = 0; i < file->family_count; i++)
		trees_forget(&file->families[i].trees);
	record_release(&learned_file_record, file);
	*file = (struct learned_file){0};
}

void learned_release(struct learned *learned)
{
	for (size_t i = 0; i < ARRAY_COUNT(learned->layers); i++)
		learned_file_release(&learned->layers[i]);
	free(learned->own_folder);
	learned->own_folder = NULL;
}

/* Families that are in the catalogue, with all features that were learned from. */
static void bind(struct learned_file *file, const struct catalogue *catalogue)
{
	for (size_t i = 0; i < file->family_count; i++) {
		struct learned_family *learned = &file->families[i];
		const struct family *family;
		CLEANUP(name_set_release) struct name_set names = {0};

		if (catalogue_family(catalogue, NULL, learned->name, &family, NULL) != STATUS_OK)
			continue;
		names = features_names(family);
		learned->feature_count = names.count;
		if (trees_bind(&learned->trees, (const char *const *)names.items))
			learned->family = family;
	}
}

enum status learned_file_load(const char *path, struct learned_file *file, struct error *err)
{
	CLEANUP(json_release) struct json *json = NULL;
	struct json_at root;

	*file = (struct learned_file){0};
	TRY(json_load(path, &json, err));
	root = json_root(json, path);
	return record_from_json(&learned_file_record, &root, file, NULL, err);
}

/* A layer, if its file is there. */
static enum status open_layer(const char *folder, const char *device,
	const struct catalogue *catalogue, struct learned_file *file, struct error *err)
{
	CLEANUP(memory_free) char *path = string_format("%s/learned/%s.json", folder, device);

	if (!file_exists(path))
		return STATUS_OK;
	TRY(learned_file_load(path, file, err));
	if (strcmp(file->device, device) != 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: $.device: expected \"%s\", as the file is named, found \"%s\"", path,
			device, file->device);
	bind(file, catalogue);
	return STATUS_OK;
}

char *learned_identity(const struct learned_file *file)
{
	struct hash *hash = hash_new();
	char identity[HASH_SIZE];

	for (size_t i = 0; i < file->family_count; i++) {
		hash_add_string(hash, file->families[i].name);
		for (char **text = file->families[i].trees.texts; *text; text++)
			hash_add_string(hash, *text);
	}
	hash_finish(hash, identity);
	return file->family_count ? string_copy(identity) : NULL;
}

/* A layer that is broken, or that lies on something else, is as good as none: the next run makes it
 * anew. */
static void open_own(const char *cache_folder, const char *device,
	const struct catalogue *catalogue, struct learned *learned)
{
	struct learned_file *own = &learned->layers[1];
	CLEANUP(memory_free) char *base = learned_identity(&learned->layers[0]);

	if (path_cache_folder(cache_folder, &learned->own_folder, NULL) == STATUS_OK &&
		open_layer(learned->own_folder, device, catalogue, own, NULL) == STATUS_OK &&
		own->device && !base == !own->base && (!base || strcmp(base, own->base) == 0))
		return;
	learned_file_release(own);
}

static enum status open_shipped(const char *const *config_folders, const char *device,
	const struct catalogue *catalogue, struct learned_file *file, struct error *err)
{
	for (; *config_folders && !file->device; config_folders++)
		TRY(open_layer(*config_folders, device, catalogue, file, err));
	return STATUS_OK;
}

/* Of the first other card of this compute capability of which something is shipped. */
static enum status lend(const char *const *config_folders, const char *device,
	const struct catalogue *catalogue, struct learned_file *file, struct error *err)
{
	CLEANUP(device_spec_release) struct device_spec *own = NULL;
	CLEANUP(device_names_release) char **names = device_spec_names(config_folders);

	if (device_spec_load(device, config_folders, &own, NULL) != STATUS_OK)
		return STATUS_OK;
	for (char **name = names; *name && !file->device; name++) {
		CLEANUP(device_spec_release) struct device_spec *other = NULL;

		TRY(device_spec_load(*name, config_folders, &other, err));
		if (other->compute_capability == own->compute_capability)
			TRY(open_shipped(config_folders, *name, catalogue, file, err));
	}
	return STATUS_OK;
}

enum status learned_open(enum learned_wanted wanted, const char *const *config_folders,
	const char *cache_folder, const char *device, const struct catalogue *catalogue,
	struct learned *learned, struct error *err)
{
	static const char *const names[] = {"none", "shipped", NULL};
	const char *named = getenv("TILETUNE_LEARNED");
	const int allowed = named ? name_find(named, names) : -1;
	enum status status;

	*learned = (struct learned){0};
	if (allowed >= 0 && wanted > (enum learned_wanted)allowed)
		wanted = (enum learned_wanted)allowed;
	if (wanted == LEARNED_NONE)
		return STATUS_OK;
	status = open_shipped(config_folders, device, catalogue, &learned->layers[0], err);
	if (status == STATUS_OK && !learned->layers[0].device)
		status = lend(config_folders, device, catalogue, &learned->layers[0], err);
	if (status != STATUS_OK)
		learned_release(learned);
	else if (wanted == LEARNED_ALL)
		open_own(cache_folder, device, catalogue, learned);
	return status;
}

const struct learned_family *learned_find(
	const struct learned_file *file, const struct family *family)
{
	for (size_t i = 0; i < file->family_count; i++)
		if (file->families[i].family == family)
			return &file->families[i];
	return NULL;
}
