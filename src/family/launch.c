/* SPDX-License-Identifier: MIT
 *
 * Reading "launches" of a family.
 */
#include "family/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

static const char *const keys[] = {"entry", "source", "when", "grid", "block", "cluster",
	"smem_bytes", "args", "repeat", "regs_estimate", "model", "help", NULL};

/* The index of the launch's source among the family's; added if it is new. */
static enum status read_source(const struct json_at *root, const struct json_at *at,
	struct family *family, struct launch *launch, struct error *err)
{
	struct json_at member;
	const char *name;

	if (!json_find(at, "source", &member) &&
		json_member(root, "source", &member, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_get_string(&member, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < family->source_count; i++) {
		if (strcmp(family->sources[i].name, name) == 0) {
			launch->source = i;
			return STATUS_OK;
		}
	}
	launch->source = family->source_count;
	family->sources[family->source_count++].name = string_copy(name);
	return STATUS_OK;
}

/* Whether a slot is neither a -D nor the device's: one cubin sees many values of it. */
static bool slot_varies(const struct family *family, size_t slot)
{
	const struct scope *scope = &family->scope;

	if (slot < scope->device_at)
		return !family->operation->keys[slot].is_constant;
	return slot >= scope->parameter_at && slot < scope->constant_at &&
	       family->parameters[slot - scope->parameter_at].is_argument;
}

static bool when_varies(const struct family *family, const struct expression *when)
{
	size_t count;
	const int *slots = expression_slots(when, &count);

	for (size_t i = 0; i < count; i++)
		if (slot_varies(family, (size_t)slots[i]))
			return true;
	return false;
}

static enum status read_arguments(const struct json_at *at, const struct family *family,
	struct launch *launch, struct error *err)
{
	const char **maps = memory_zeroed(family->tensor_map_count + 1, sizeof(*maps));
	struct argument_names known = {.tensor_maps = maps};
	const char **buffers = family_buffer_names(family);
	enum status status;

	for (size_t i = 0; i < family->tensor_map_count; i++)
		maps[i] = family->tensor_maps[i].name;
	known.buffers = buffers;
	status = argument_json_list(at, &known, &family->names, &launch->arguments, err);
	free(maps);
	free(buffers);
	return status;
}

static enum status read_launch(const struct json_at *root, const struct json_at *at,
	struct family *family, struct launch *launch, struct error *err)
{
	const struct name_table *names = &family->names;
	struct json_at member;

	if (json_expect_keys(at, keys, err) != STATUS_OK ||
		json_member(at, "entry", &member, err) != STATUS_OK ||
		json_get_string(&member, &launch->entry, err) != STATUS_OK ||
		name_json_check(&member, launch->entry, err) != STATUS_OK ||
		read_source(root, at, family, launch, err) != STATUS_OK ||
		expression_json_member_if(at, "when", names, &launch->when, err) != STATUS_OK ||
		expression_json_list(at, "grid", 3, 3, names, &launch->grid, err) != STATUS_OK ||
		expression_json_list(at, "block", 3, 3, names, &launch->block, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	launch->always_built = launch->when && when_varies(family, launch->when);
	if (json_find(at, "cluster", &member) && expression_json_list(at, "cluster", 3, 3, names,
							 &launch->cluster, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (expression_json_member_if(at, "smem_bytes", names, &launch->smem_bytes, err) !=
			STATUS_OK ||
		expression_json_member_if(at, "repeat", names, &launch->repeat, err) != STATUS_OK ||
		expression_json_member(at, "regs_estimate", names, &launch->regs_estimate, err) !=
			STATUS_OK ||
		read_arguments(at, family, launch, err) != STATUS_OK ||
		json_member(at, "model", &member, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return model_read(&member, family, &launch->model, err);
}

enum status family_launches_read(
	const struct json_at *root, struct family *family, struct error *err)
{
	struct json_at list;

	if (json_member(root, "launches", &list, err) != STATUS_OK ||
		json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_count(&list) == 0)
		return json_error(&list, err, "at least one launch");
	family->launches = memory_zeroed(json_count(&list), sizeof(*family->launches));
	family->sources = memory_zeroed(json_count(&list), sizeof(*family->sources));
	for (size_t i = 0; i < json_count(&list); i++) {
		struct json_at at = json_item(&list, i);

		family->launch_count++;
		if (read_launch(root, &at, family, &family->launches[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

void launch_release(struct launch *launch)
{
	expression_free(launch->when);
	expression_list_release(&launch->grid);
	expression_list_release(&launch->block);
	expression_list_release(&launch->cluster);
	expression_free(launch->smem_bytes);
	expression_free(launch->repeat);
	expression_free(launch->regs_estimate);
	argument_list_release(&launch->arguments);
	model_release(&launch->model);
	*launch = (struct launch){0};
}
