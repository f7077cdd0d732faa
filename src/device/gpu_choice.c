/* SPDX-License-Identifier: MIT */
#include "device/gpu_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/format_text.h"

bool gpu_choice_is_several(const char *device)
{
	return strcmp(device, "cuda:all") == 0 ||
	       (string_starts_with(device, "cuda:") && strchr(device, ','));
}

/* ---- which ---- */
struct machine {
	struct device_listing *list;
	size_t count;
	size_t *chosen; /* indices into list, in the order in which they were named */
	size_t chosen_count;
};

static void machine_release(struct machine *machine)
{
	free(machine->list);
	free(machine->chosen);
}

static enum status choose(struct machine *machine, size_t index, struct error *err)
{
	for (size_t i = 0; i < machine->chosen_count; i++)
		if (machine->chosen[i] == index)
			return error_set(err, STATUS_BAD_INPUT,
				"device: expected each GPU once, found cuda:%zu twice", index);
	machine->chosen[machine->chosen_count++] = index;
	return STATUS_OK;
}

/* name: "cuda:2", "cuda:GPU-...". */
static enum status choose_named(struct machine *machine, const char *name, struct error *err)
{
	const char *rest = name + strlen("cuda:");
	size_t index;

	if (!string_starts_with(name, "cuda:") || !*rest)
		return error_set(err, STATUS_BAD_INPUT,
			"device: expected GPUs as cuda:0,cuda:2, found \"%s\"", name);
	index = device_listing_find(machine->list, machine->count, rest);
	if (index == machine->count)
		return error_set(err, STATUS_NO_DEVICE, "%s: expected one of %zu GPUs", name,
			machine->count);
	return choose(machine, index, err);
}

static enum status choose_all(struct machine *machine, const char *names, struct error *err)
{
	size_t most = machine->count + 1;

	for (const char *at = names; *at; at++)
		most += *at == ',';
	machine->chosen = memory_zeroed(most, sizeof(*machine->chosen));
	if (strcmp(names, "cuda:all") == 0) {
		for (size_t i = 0; i < machine->count; i++)
			TRY(choose(machine, i, err));
		return STATUS_OK;
	}
	for (const char *at = names;; at++) {
		const size_t length = strcspn(at, ",");
		CLEANUP(memory_free) char *name = string_copy_bytes(at, length);

		TRY(choose_named(machine, name, err));
		at += length;
		if (!*at)
			return STATUS_OK;
	}
}

static bool same_model(const struct device_listing *a, const struct device_listing *b)
{
	return strcmp(a->facts.name, b->facts.name) == 0 &&
	       a->facts.compute_capability == b->facts.compute_capability &&
	       a->facts.sm_count == b->facts.sm_count;
}

/* One tuned file is of one GPU model. */
static enum status expect_one_model(const struct machine *machine, struct error *err)
{
	CLEANUP(text_release) struct text models = {0}, lists = {0};
	size_t count = 0;

	for (size_t i = 0; i < machine->chosen_count; i++) {
		const struct device_listing *first = &machine->list[machine->chosen[i]];
		const char *separator = " ";
		size_t before = 0;

		while (before < i && !same_model(first, &machine->list[machine->chosen[before]]))
			before++;
		if (before < i)
			continue;
		text_appendf(&models, "%s%s", count ? ", " : "", first->facts.name);
		text_appendf(&lists, "%s--device", count ? "; " : "");
		for (size_t k = i; k < machine->chosen_count; k++)
			if (same_model(first, &machine->list[machine->chosen[k]])) {
				text_appendf(&lists, "%scuda:%zu", separator, machine->chosen[k]);
				separator = ",";
			}
		text_appendf(&lists, " (%s)", first->facts.name);
		count++;
	}
	if (count < 2)
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "device: expected GPUs of one model, found %zu models: %s",
		count, text_string(&models));
	return error_hint(err, "a run for each: %s", text_string(&lists));
}

static enum status look_around(const struct device_options *options, const char *names,
	struct machine *machine, struct error *err)
{
	CLEANUP(memory_free) char *why = NULL;

	TRY(device_list_cuda(options, &machine->list, &machine->count, &why, err));
	if (!machine->count)
		return error_set(err, STATUS_NO_DEVICE, "device %s: expected GPUs, found none: %s",
			names, why ? why : "");
	TRY(choose_all(machine, names, err));
	return expect_one_model(machine, err);
}

enum status gpu_choice_open(const struct device_options *options, const char *names,
	struct device ***devices, size_t *count, char **notice, struct error *err)
{
	CLEANUP(machine_release) struct machine machine = {0};
	CLEANUP(text_release) struct text text = {0};
	struct device_options own = *options;
	struct error first = {0};

	TRY(look_around(options, names, &machine, err));
	*devices = memory_zeroed(machine.chosen_count + 1, sizeof(struct device *));
	*count = 0;
	for (size_t i = 0; i < machine.chosen_count; i++) {
		CLEANUP(memory_free) char *name = string_format("cuda:%zu", machine.chosen[i]);
		struct error reason = {0};

		own.listed = &machine.list[machine.chosen[i]];
		if (device_open(name, &own, &(*devices)[*count], &reason) == STATUS_OK) {
			++*count;
			continue;
		}
		if (first.status == STATUS_OK)
			first = reason;
		format_put(&text, format_shown, "%s is left out: %s\n", name, reason.message);
	}
	if (text.length)
		*notice = text_detach(&text);
	if (!*count && err)
		*err = first;
	return *count ? STATUS_OK : first.status;
}
