/* SPDX-License-Identifier: MIT */
#include "device/program_process.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "family/family.h"
#include "record/record_read.h"

/* ---- what it says ---- */
#define LIMIT(name, attribute, kind, least, summary)                                               \
	RECORD_VALUE(struct program_device, facts.name, #name, .flags = RECORD_OPTIONAL, .low = 0, \
		.high = INFINITY),
static const struct record_member device_members[] = {
	RECORD_TEXT(struct program_device, facts.name, "name"),
	RECORD_TEXT(struct program_device, uuid, "uuid", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct program_device, facts.compute_capability, "compute_capability",
		.flags = RECORD_OPTIONAL, .low = 0, .high = 10000),
	DEVICE_LIMITS(LIMIT)};
static RECORD_DEFINE(struct program_device, device_record, device_members, .name = "device");

static const struct record_member hello_members[] = {
	RECORD_VALUE(struct program_hello, id, "id"),
	RECORD_CONSTANT("protocol", "tiletune.program/1"),
	RECORD_NAMED_VALUES(struct program_hello, versions, "versions", .flags = RECORD_OPTIONAL),
	RECORD_NESTED(struct program_hello, device, device_record, "device"),
	RECORD_STRINGS(struct program_hello, abilities, "abilities", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct program_hello, program_hello_record, hello_members, .name = "hello");

#define ANSWER(field, ...)                                                                         \
	RECORD_VALUE(struct program_answer, field, #field, .flags = RECORD_OPTIONAL, ##__VA_ARGS__)
static const struct record_member answer_members[] = {
	RECORD_VALUE(struct program_answer, id, "id"),
	ANSWER(progress, .absent = -1),
	ANSWER(allow_s, .low = 0, .high = INFINITY),
	ANSWER(job),
	RECORD_ENUM(struct program_answer, outcome, outcome_names, "outcome",
		.flags = RECORD_OPTIONAL, .absent = -1),
	ANSWER(detail),
	RECORD_VALUES(struct program_answer, samples_us, sample_count, "samples_us",
		.flags = RECORD_OPTIONAL, .low = 1e-6, .high = INFINITY,
		.expected = "a time in microseconds, above 0"),
	RECORD_NESTED(struct program_answer, verification, verification_record, "verification",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct program_answer, verification.done)),
};
RECORD_DEFINE(struct program_answer, program_answer_record, answer_members, .name = "answer");

/* ---- asking ---- */
void program_post(struct worker *worker, const char *kind, struct json *request)
{
	CLEANUP(text_release) struct text line = {0};

	json_put_int(request, "id", ++worker->id);
	json_put_string(request, "request", kind);
	json_append(request, false, &line);
	json_free(request);
	worker_post(worker, &line);
}

enum status program_start(struct worker *worker, const char *path, const struct family *family,
	uint64_t seed, bool prepares, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(family->file);
	struct json *hello;

	if (worker_start_program(
		    worker, path, family->program, folder, worker_program_log(), err) != STATUS_OK)
		return error_hint(err, "it is looked for from %s on", folder);
	hello = json_new_object();
	json_put_string(hello, "protocol", "tiletune.program/1");
	json_put_int(hello, "seed", (int64_t)seed);
	json_put_string(hello, "role", prepares ? "prepare" : "measure");
	program_post(worker, "hello", hello);
	return STATUS_OK;
}

static struct json *value_json(const char *text)
{
	char *end;
	const long long integer = strtoll(text, &end, 10);

	if (*text && !*end)
		return json_new_int(integer);
	if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)
		return json_new_bool(*text == 'T');
	const double real = strtod(text, &end);

	return *text && !*end && isfinite(real) ? json_new_double(real) : json_new_string(text);
}

struct json *program_values(const char *text)
{
	struct json *values = json_new_object();

	while (*text) {
		const size_t name_length = strcspn(text, "="), length = strcspn(text, ",");
		const size_t at = name_length + (name_length < length);
		CLEANUP(memory_free) char *name = string_copy_bytes(text, name_length);
		CLEANUP(memory_free) char *value = string_copy_bytes(text + at, length - at);

		json_put(values, name, value_json(value));
		text += length + (text[length] == ',');
	}
	return values;
}

/* ---- hearing ---- */
enum program_heard program_hear(
	struct worker *worker, const struct record *record, void *value, struct text *why)
{
	CLEANUP(text_release) struct text line = {0};
	CLEANUP(json_release) struct json *root = NULL;
	struct error err = {0};
	struct json_at at;

	switch (line_receive(worker->from_fd, &worker->pending, 0, &line)) {
	case MESSAGE_NONE:
		return PROGRAM_SILENT;
	case MESSAGE_CLOSED:
		if (worker->pending.length > LINE_BYTES_MAX)
			text_appendf(why, "the program said a line of more than %d bytes",
				(int)LINE_BYTES_MAX);
		return PROGRAM_FAILED;
	case MESSAGE_READY:
		break;
	}
	if (json_parse(text_string(&line), line.length, "its line", &root, &err) == STATUS_OK) {
		at = json_root(root, "its line");
		if (record_from_json(record, &at, value, NULL, &err) == STATUS_OK)
			return PROGRAM_SAID;
	}
	text_appendf(why, "the program said what is no answer: %s: %.200s", err.message,
		text_string(&line));
	return PROGRAM_FAILED;
}
