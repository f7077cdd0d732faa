/* SPDX-License-Identifier: MIT */
#include "cli/run_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/record_write.h"
#include "cli/common.h"
#include "format/tuned.h"

void run_signature(const struct run_description *run, char signature[HASH_SIZE])
{
	const struct device_identity *device = device_identity(run->context->device);
	struct hash *hash = hash_new();
	double numbers[2] = {run->budget_s, (double)run->seed};

	hash_add_string(hash, run->operation);
	for (size_t i = 0; i < run->problems->count; i++)
		hash_add_string(hash, run->problems->items[i]->text);
	hash_add_string(hash, run->effort);
	for (size_t i = 0; run->families && run->families[i]; i++)
		hash_add_string(hash, run->families[i]);
	hash_add_string(hash, run->where ? run->where : "");
	hash_add_string(hash, run->strategy ? run->strategy : "");
	hash_add_string(hash, run->objective);
	hash_add(hash, numbers, sizeof(numbers));
	hash_add_string(hash, device->kind);
	hash_add_string(hash, device->name);
	hash_add_string(hash, device->uuid);
	hash_add_string(hash, device->driver);
	if (run->context->compiler)
		hash_add_string(hash, compiler_identity(run->context->compiler));
	catalogue_hash(&run->context->catalogue, hash);
	hash_finish(hash, signature);
}

void run_new_id(char id[RUN_ID_SIZE])
{
	time_t now = time(NULL);
	struct tm utc;
	char date[24];
	struct {
		double clock;
		pid_t pid;
	} salt;

	memset(&salt, 0, sizeof(salt));
	salt.clock = clock_seconds();
	salt.pid = getpid();
	gmtime_r(&now, &utc);
	strftime(date, sizeof(date), "%Y%m%dT%H%M%S", &utc);
	snprintf(id, RUN_ID_SIZE, "%s-%06x", date,
		(unsigned)(hash_bytes(&salt, sizeof(salt), 0) & 0xffffff));
}

/* The command as it was given, without folders of this machine. */
static char *command_line(void)
{
	struct text raw = {0}, line = {0};

	if (file_read("/proc/self/cmdline", &raw, NULL) == STATUS_OK) {
		for (size_t at = 0; at < raw.length; at += strlen(raw.data + at) + 1)
			text_appendf(&line, "%s%s", at ? " " : "",
				at ? raw.data + at : path_name(raw.data));
	}
	text_release(&raw);
	return text_detach(&line);
}

struct run run_of(const struct context *context, const char *id)
{
	const struct device_identity *device = device_identity(context->device);
	struct run run = {.id = string_copy(id),
		.command = command_line(),
		.program = {string_copy(tiletune_version), string_copy(tiletune_commit)},
		.driver = string_copy(device->driver),
		.nvrtc = string_copy(
			context->compiler ? compiler_identity(context->compiler) : NULL),
		.uuid = string_copy(device->uuid),
		.mig = string_copy(device->mig),
		.clocks = memory_zeroed(1, sizeof(*run.clocks)),
		.power_limit_w = device->power_limit_w,
		.anchor_us = device->anchor_us,
		.device_kind = string_copy(device->kind)};
	char date[CLOCK_DATE_SIZE];

	clock_date(date);
	run.date = string_copy(date);
	*run.clocks = (struct run_clocks){.sm_mhz = device->clock_sm_hz * 1e-6,
		.sm_max_mhz = device->clock_sm_max_hz * 1e-6,
		.memory_mhz = device->clock_memory_hz * 1e-6};
	return run;
}

struct json *run_journal_line(
	const struct run_description *run, const char *id, const char *signature)
{
	const struct device_identity *identity = device_identity(run->context->device);
	struct json *json = json_new_object(), *options = json_new_object();
	struct run head = run_of(run->context, id);

	json_put_string(json, "format", "tiletune.journal/1");
	record_put_json(&run_line_record, &head, json);
	run_release(&head);
	json_put_string(json, "signature", signature);
	json_put_string(json, "device_kind", identity->kind);
	json_put(json, "device", gpu_model_json(device_spec(run->context->device), identity->name));
	json_put_string(options, "effort", run->effort);
	json_put_string(options, "where", run->where);
	json_put_string(options, "strategy", run->strategy);
	json_put_double(options, "budget_s", run->budget_s);
	json_put_int(options, "seed", (int64_t)run->seed);
	json_put(json, "options", options);
	return json;
}

struct run run_now(const struct context *context)
{
	char id[RUN_ID_SIZE];

	run_new_id(id);
	return run_of(context, id);
}

struct json *run_json(const struct context *context)
{
	struct run run = run_now(context);
	struct json *json = record_to_json(&run_record, &run);

	run_release(&run);
	return json;
}
