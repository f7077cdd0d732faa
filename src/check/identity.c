/* SPDX-License-Identifier: MIT */
#include "check/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *const trait_names[TRAIT_COUNT + 1] = {
	[TRAIT_GPU] = "gpu",
	[TRAIT_SM_COUNT] = "sm_count",
	[TRAIT_MIG] = "mig",
	[TRAIT_UUID] = "uuid",
	[TRAIT_DRIVER] = "driver",
	[TRAIT_NVRTC] = "nvrtc",
	[TRAIT_KERNEL] = "kernel",
};

const char *check_trait_name(enum check_trait trait)
{
	return trait_names[trait];
}

static enum status parse_trait(const char *name, uint32_t *allowed, struct error *err)
{
	const char *nearest;

	if (strcmp(name, "none") == 0)
		return STATUS_OK;
	if (strcmp(name, "all") == 0) {
		*allowed = (1u << TRAIT_COUNT) - 1;
		return STATUS_OK;
	}
	for (int i = 0; i < TRAIT_COUNT; i++)
		if (strcmp(name, trait_names[i]) == 0) {
			*allowed |= 1u << i;
			return STATUS_OK;
		}
	error_set(err, STATUS_BAD_INPUT,
		"--allow: expected names out of gpu, sm_count, mig, uuid, driver, nvrtc, kernel, "
		"all, none, found \"%s\"",
		name);
	nearest = name_nearest(name, trait_names);
	return nearest ? error_hint(err, "did you mean %s?", nearest) : STATUS_BAD_INPUT;
}

enum status check_allowed_parse(const char *text, uint32_t *allowed, struct error *err)
{
	char *copy = string_copy(text), *rest = copy, *name;
	enum status status = STATUS_OK;

	*allowed = 0;
	while (status == STATUS_OK && (name = strsep(&rest, ",")) != NULL)
		status = parse_trait(name, allowed, err);
	free(copy);
	return status;
}

void check_identity_add(struct check_identity *identity, enum check_trait trait,
	const char *baseline, const char *now)
{
	for (size_t i = 0; i < identity->count; i++)
		if (identity->items[i].trait == trait &&
			strcmp(identity->items[i].baseline, baseline) == 0 &&
			strcmp(identity->items[i].now, now) == 0)
			return;
	ARRAY_GROW(identity->items, identity->count, identity->capacity);
	identity->items[identity->count++] = (struct check_trait_difference){
		.trait = trait, .baseline = string_copy(baseline), .now = string_copy(now)};
}

void check_identity_release(struct check_identity *identity)
{
	for (size_t i = 0; i < identity->count; i++) {
		free(identity->items[i].baseline);
		free(identity->items[i].now);
	}
	free(identity->items);
	*identity = (struct check_identity){0};
}

static const char *text_of(const struct json_at *object, const char *key)
{
	const char *text = "";

	json_member_string(object, key, &text, NULL);
	return text;
}

uint32_t check_identity_device(const struct tuned *baseline, const struct context *context,
	struct check_identity *identity)
{
	const struct device_spec *spec = device_spec(context->device);
	const char *name = device_identity(context->device)->name;
	struct json_at root = json_root(baseline->root, baseline->path), device;
	struct json *ours = tuned_device_json(spec, name);
	int64_t capability = 0, sm_count = 0;
	uint32_t traits = 0;

	if (tuned_same_device(baseline, ours, NULL) != STATUS_OK &&
		json_find(&root, "device", &device)) {
		json_member_int(&device, "sm_count", &sm_count, NULL);
		json_member_int(&device, "compute_capability", &capability, NULL);
		if (sm_count != spec->sm_count) {
			char then[24], now[24];

			snprintf(then, sizeof(then), "%lld", (long long)sm_count);
			snprintf(now, sizeof(now), "%lld", (long long)spec->sm_count);
			check_identity_add(identity, TRAIT_SM_COUNT, then, now);
			traits |= CHECK_DIFFERS(SM_COUNT);
		}
		if (capability != spec->compute_capability ||
			(strcmp(text_of(&device, "name"), name) != 0 &&
				strcmp(text_of(&device, "sheet"),
					spec->from_sheet ? spec->name : "") != 0)) {
			check_identity_add(identity, TRAIT_GPU, text_of(&device, "name"), name);
			traits |= CHECK_DIFFERS(GPU);
		}
	}
	json_free(ours);
	return traits;
}

bool check_run_of(const struct tuned *baseline, const struct json_at *entry, struct json_at *run)
{
	struct json_at root = json_root(baseline->root, baseline->path), runs, winner;
	const char *id = text_of(entry, "run");

	/* a row of a family that a later run did not tune names its own */
	if (json_find(entry, "winner", &winner) && text_of(&winner, "run")[0])
		id = text_of(&winner, "run");
	if (!json_find(&root, "runs", &runs))
		return false;
	for (size_t i = 0; i < json_count(&runs); i++) {
		struct json_at at = json_item(&runs, i);

		if (strcmp(text_of(&at, "id"), id) == 0) {
			*run = json_root(at.node, baseline->path);
			return true;
		}
	}
	return false;
}

uint32_t check_identity_run(const struct tuned *baseline, const struct json_at *entry,
	const struct context *context, struct check_identity *identity)
{
	const struct device_identity *device = device_identity(context->device);
	const struct {
		enum check_trait trait;
		const char *key, *now;
	} traits[] = {
		{TRAIT_MIG, "mig", device->mig},
		{TRAIT_UUID, "uuid", device->uuid},
		{TRAIT_DRIVER, "driver", device->driver},
		{TRAIT_NVRTC, "nvrtc",
			context->compiler ? compiler_identity(context->compiler) : ""},
	};
	struct json_at run;
	uint32_t found = 0;

	if (!check_run_of(baseline, entry, &run))
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(traits); i++) {
		const char *then = text_of(&run, traits[i].key);

		/* what one side does not know is no difference */
		if (!then[0] || !traits[i].now[0] || strcmp(then, traits[i].now) == 0)
			continue;
		check_identity_add(identity, traits[i].trait, then, traits[i].now);
		found |= 1u << traits[i].trait;
	}
	return found;
}
