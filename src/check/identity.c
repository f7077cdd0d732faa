/* SPDX-License-Identifier: MIT */
#include "check/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *const check_trait_names[TRAIT_COUNT + 1] = {
	[TRAIT_GPU] = "gpu",
	[TRAIT_SM_COUNT] = "sm_count",
	[TRAIT_MIG] = "mig",
	[TRAIT_UUID] = "uuid",
	[TRAIT_DRIVER] = "driver",
	[TRAIT_NVRTC] = "nvrtc",
	[TRAIT_KERNEL] = "kernel",
};

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
		if (strcmp(name, check_trait_names[i]) == 0) {
			*allowed |= 1u << i;
			return STATUS_OK;
		}
	error_set(err, STATUS_BAD_INPUT,
		"--allow: expected names out of gpu, sm_count, mig, uuid, driver, nvrtc, kernel, "
		"all, none, found \"%s\"",
		name);
	nearest = name_nearest(name, check_trait_names);
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

uint32_t check_identity_device(const struct tuned *baseline, const struct context *context,
	struct check_identity *identity)
{
	const struct device_spec *spec = device_spec(context->device);
	const char *name = device_identity(context->device)->name;
	const struct gpu_model *then = &baseline->device;
	struct gpu_model now = gpu_model_of(spec, name);
	uint32_t traits = 0;

	if (then->sm_count != now.sm_count) {
		char count_then[24], count_now[24];

		snprintf(count_then, sizeof(count_then), "%lld", (long long)then->sm_count);
		snprintf(count_now, sizeof(count_now), "%lld", (long long)now.sm_count);
		check_identity_add(identity, TRAIT_SM_COUNT, count_then, count_now);
		traits |= CHECK_DIFFERS(SM_COUNT);
	}
	now.sm_count = then->sm_count;
	if (!gpu_model_same(then, &now)) {
		check_identity_add(identity, TRAIT_GPU, then->name, name);
		traits |= CHECK_DIFFERS(GPU);
	}
	gpu_model_release(&now);
	return traits;
}

uint32_t check_identity_run(const struct tuned *baseline, const struct tuned_entry *entry,
	const struct context *context, struct check_identity *identity)
{
	const struct device_identity *device = device_identity(context->device);
	const struct run *run = tuned_row_run(baseline, entry, &entry->winner);
	const struct run none = {0};
	const struct {
		enum check_trait trait;
		const char *then, *now;
	} traits[] = {
		{TRAIT_MIG, (run ? run : &none)->mig, device->mig},
		{TRAIT_UUID, (run ? run : &none)->uuid, device->uuid},
		{TRAIT_DRIVER, (run ? run : &none)->driver, device->driver},
		{TRAIT_NVRTC, (run ? run : &none)->nvrtc,
			context->compiler ? compiler_identity(context->compiler) : ""},
	};
	uint32_t found = 0;

	for (size_t i = 0; i < ARRAY_COUNT(traits); i++) {
		const char *then = traits[i].then;

		/* what one side does not know is no difference */
		if (!then || !then[0] || !traits[i].now[0] || strcmp(then, traits[i].now) == 0)
			continue;
		check_identity_add(identity, traits[i].trait, then, traits[i].now);
		found |= 1u << traits[i].trait;
	}
	return found;
}
