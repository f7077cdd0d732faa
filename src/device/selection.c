/* SPDX-License-Identifier: MIT */
#include "device/selection.h"

#include <stdlib.h>
#include <string.h>

bool device_is_several(const char *device)
{
	return strcmp(device, "cuda:all") == 0 ||
	       (string_starts_with(device, "cuda:") && strchr(device, ','));
}

void gpu_selection_release(struct gpu_selection *selection)
{
	free(selection->list);
	free(selection->chosen);
	*selection = (struct gpu_selection){0};
}

/* name: "cuda:2", "cuda:GPU-...". */
static enum status choose(struct gpu_selection *selection, const char *name, struct error *err)
{
	const char *rest = name + strlen("cuda:");
	size_t index;

	if (!string_starts_with(name, "cuda:") || !*rest)
		return error_set(err, STATUS_BAD_INPUT,
			"device: expected GPUs such as cuda:0,cuda:2, found \"%s\"", name);
	index = device_listing_find(selection->list, selection->count, rest);
	if (index == selection->count)
		return error_set(err, STATUS_NO_DEVICE,
			"%s: there is no such GPU; this machine has %zu", name, selection->count);
	for (size_t i = 0; i < selection->chosen_count; i++)
		if (selection->chosen[i] == index)
			return error_set(
				err, STATUS_BAD_INPUT, "device: cuda:%zu is given twice", index);
	selection->chosen[selection->chosen_count++] = index;
	return STATUS_OK;
}

static enum status choose_all(struct gpu_selection *selection, const char *names, struct error *err)
{
	const bool all = strcmp(names, "cuda:all") == 0;

	selection->chosen =
		memory_zeroed(selection->count + strlen(names) + 1, sizeof(*selection->chosen));
	while (all && selection->chosen_count < selection->count) {
		selection->chosen[selection->chosen_count] = selection->chosen_count;
		selection->chosen_count++;
	}
	for (const char *at = names; !all; at++) {
		const size_t length = strcspn(at, ",");
		CLEANUP(memory_free) char *name = string_copy_bytes(at, length);

		TRY(choose(selection, name, err));
		at += length;
		if (!*at)
			break;
	}
	return STATUS_OK;
}

static bool same_model(const struct device_listing *a, const struct device_listing *b)
{
	return strcmp(a->facts.name, b->facts.name) == 0 &&
	       a->facts.compute_capability == b->facts.compute_capability &&
	       a->facts.sm_count == b->facts.sm_count;
}

/* A tuned file is for one GPU model. */
static enum status expect_one_model(const struct gpu_selection *selection, struct error *err)
{
	CLEANUP(text_release) struct text models = {0}, lists = {0};
	size_t count = 0;

	for (size_t i = 0; i < selection->chosen_count; i++) {
		const struct device_listing *first = &selection->list[selection->chosen[i]];
		const char *separator = " ";
		size_t before = 0;

		while (before < i &&
			!same_model(first, &selection->list[selection->chosen[before]]))
			before++;
		if (before < i)
			continue;
		text_appendf(&models, "%s%s", count ? ", " : "", first->facts.name);
		text_appendf(&lists, "%s--device", count ? "; " : "");
		for (size_t k = i; k < selection->chosen_count; k++)
			if (same_model(first, &selection->list[selection->chosen[k]])) {
				text_appendf(&lists, "%scuda:%zu", separator, selection->chosen[k]);
				separator = ",";
			}
		text_appendf(&lists, " (%s)", first->facts.name);
		count++;
	}
	if (count < 2)
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "device: the GPUs are of %zu different models: %s", count,
		text_string(&models));
	return error_hint(err, "start one run for each model: %s", text_string(&lists));
}

enum status gpu_selection_open(const struct device_options *options, const char *names,
	struct gpu_selection *selection, struct error *err)
{
	CLEANUP(memory_free) char *why = NULL;

	*selection = (struct gpu_selection){0};
	TRY(device_list_cuda(options, &selection->list, &selection->count, &why, err));
	if (!selection->count)
		return error_set(err, STATUS_NO_DEVICE, "device %s: there is no GPU: %s", names,
			why ? why : "");
	TRY(choose_all(selection, names, err));
	return expect_one_model(selection, err);
}
