/* SPDX-License-Identifier: MIT */
#include "engine/gpus.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/format_text.h"

/* The anchor's time is the clock's alone: 1160.6 to 1171.0 us, 0.9%, in 103 runs on 27 H200s. */
static const double anchor_tolerance = 0.015;

bool gpus_named(const char *device)
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

/* ---- opening ---- */
struct opening {
	const struct context_options *options;
	const struct device_options *device_options;
	const struct machine *machine;
	struct team *team;
	struct context *context; /* of the first */
	struct device **devices; /* by member; of the first it is the context's */
	struct error *errors;
	enum status *statuses;
};

static void open_one(void *context, size_t member)
{
	struct opening *opening = context;
	const struct device_identity *identity =
		&opening->machine->list[opening->machine->chosen[member]].identity;
	CLEANUP(memory_free) char *name = string_format("cuda:%s", identity->uuid);
	struct context_options options = *opening->options;

	/* nothing is shared yet */
	team_leave(opening->team);
	if (member) {
		opening->statuses[member] = device_open(name, opening->device_options,
			&opening->devices[member], &opening->errors[member]);
	} else {
		options.device = name;
		opening->statuses[0] =
			context_open(&options, opening->context, &opening->errors[0]);
	}
	team_enter(opening->team);
}

static void take_others(const struct opening *opening, size_t count)
{
	struct context *context = opening->context;
	CLEANUP(text_release) struct text notice = {0};

	context->others = memory_zeroed(count, sizeof(*context->others));
	for (size_t i = 1; i < count; i++) {
		if (opening->statuses[i] != STATUS_OK) {
			format_put(&notice, format_shown, "cuda:%zu is left out: %s\n",
				opening->machine->chosen[i], opening->errors[i].message);
			continue;
		}
		context->others[context->other_count] = *context;
		context->others[context->other_count++].device = opening->devices[i];
		device_learned(opening->devices[i], context->learned);
	}
	if (notice.length)
		context->notice = text_detach(&notice);
	for (size_t i = 0; i < context->other_count; i++)
		context->others[i].other_count = context->other_count;
}

enum status gpus_open(
	const struct context_options *options, struct context *context, struct error *err)
{
	char **folders = context_folders(options->roots, "configs");
	const struct device_options device_options = {
		.config_folders = (const char *const *)folders,
		.worker_path = options->worker_path,
		.wait_s = options->wait_s,
		.seed = options->seed,
		.l2_warm = options->l2_warm};
	CLEANUP(machine_release) struct machine machine = {0};
	enum status status =
		options->several
			? look_around(&device_options, options->device, &machine, err)
			: error_set(err, STATUS_BAD_INPUT, "device: expected one GPU, found \"%s\"",
				  options->device);

	*context = (struct context){0};
	if (status == STATUS_OK) {
		const size_t count = machine.chosen_count;
		CLEANUP(memory_free)
		struct error *errors = memory_zeroed(count, sizeof(*errors));
		CLEANUP(memory_free)
		enum status *statuses = memory_zeroed(count, sizeof(*statuses));
		CLEANUP(memory_free)
		struct device **devices = memory_zeroed(count, sizeof(struct device *));
		struct opening opening = {options, &device_options, &machine, team_new(count),
			context, devices, errors, statuses};

		team_run(opening.team, open_one, &opening);
		context->team = opening.team;
		status = statuses[0];
		take_others(&opening, count);
		if (status != STATUS_OK) {
			*err = errors[0];
			context_release(context);
		}
	}
	context_folders_free(folders);
	return status;
}

void gpus_release(struct context *context)
{
	for (size_t i = 0; i < context->other_count; i++)
		device_close(context->others[i].device);
	free(context->others);
	team_free(context->team);
	context->others = NULL;
	context->team = NULL;
}

enum status gpus_join(
	const struct context *first, struct context *context, char **notice, struct error *err)
{
	const struct device_identity *identity = device_identity(context->device);
	const double expected_us = device_identity(first->device)->anchor_us;
	enum status status;
	double ratio;

	*notice = NULL;
	team_leave(context->team);
	status = device_helpers(context->device, first->helpers, err);
	team_enter(context->team);
	if (status != STATUS_OK)
		return status;
	ratio = identity->anchor_us / expected_us - 1;
	if (fabs(ratio) > anchor_tolerance)
		*notice = string_format("%s is %.0f%% %s than %s, by the time of a fixed "
					"kernel: problems that it tunes have times of its own",
			identity->uuid, 100 * fabs(ratio), ratio > 0 ? "slower" : "faster",
			device_identity(first->device)->uuid);
	return STATUS_OK;
}
