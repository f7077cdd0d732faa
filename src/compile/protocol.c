/* SPDX-License-Identifier: MIT */
#include "compile/protocol.h"

#include <math.h>

static const struct record_member load_members[] = {
	RECORD_VALUE(struct compile_load, path, "path", "file, or name for the loader"),
	RECORD_VALUE(struct compile_load, try, "try", "whether to compile something small"),
};
RECORD_DEFINE(struct compile_load, compile_load_record, load_members, .name = "compile_load");

static const struct record_member loaded_members[] = {
	RECORD_VALUE(struct compile_loaded, path, "path", "where the loader found it"),
	RECORD_VALUE(struct compile_loaded, identity, "identity", "name and version"),
	RECORD_VALUE(struct compile_loaded, major, "major", "major version"),
};
RECORD_DEFINE(
	struct compile_loaded, compile_loaded_record, loaded_members, .name = "compile_loaded");

static const struct record_member refusal_members[] = {
	RECORD_VALUE(struct compile_refusal, reason, "reason", "why it cannot be used"),
};
RECORD_DEFINE(
	struct compile_refusal, compile_refusal_record, refusal_members, .name = "compile_refusal");

static const struct record_member request_members[] = {
	RECORD_VALUE(struct compile_request, unit.name, "name", "for messages"),
	RECORD_VALUE(struct compile_request, unit.source, "source", "includes expanded"),
	RECORD_VALUE(struct compile_request, arch, "arch", "sm_90a, or compute_90a for PTX"),
	RECORD_VALUES(struct compile_request, unit.options, unit.option_count, "options",
		"of the compiler"),
	RECORD_VALUES(struct compile_request, unit.entries, unit.entry_count, "entries",
		"kernels that are launched"),
};
RECORD_DEFINE(
	struct compile_request, compile_request_record, request_members, .name = "compile_request");

static const struct record_member entry_members[] = {
	RECORD_VALUE(struct compiler_entry, name, "name", "of the kernel"),
	RECORD_NESTED(struct compiler_entry, resources, kernel_resources_record, "resources",
		"what it takes"),
};
static RECORD_DEFINE(struct compiler_entry, entry_record, entry_members, .name = "compiler_entry");

static enum status result_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct compile_result *result = value;

	(void)context;
	if (result->outcome != OUTCOME_OK && result->outcome != OUTCOME_COMPILE_FAILED &&
		result->outcome != OUTCOME_COMPILE_CRASHED &&
		result->outcome != OUTCOME_COMPILE_TIMEOUT)
		return json_error(at, err, "an outcome of a compilation");
	return result->log ? STATUS_OK : json_error(at, err, "a log");
}

static const struct record_member result_members[] = {
	RECORD_ENUM(struct compile_result, outcome, outcome_names, "outcome", "what became of it"),
	RECORD_VALUE(struct compile_result, seconds, "seconds", "that the compiler took", .low = 0,
		.high = HUGE_VAL),
	RECORD_VALUE(struct compile_result, log, "log", "warnings, or why not"),
	RECORD_VALUE(struct compile_result, cubin, "cubin", "or PTX text"),
	RECORD_RECORDS(struct compile_result, entries, entry_count, entry_record, "entries",
		"of the build unit, in its order"),
};
RECORD_DEFINE(struct compile_result, compile_result_record, result_members,
	.name = "compile_result", .check = result_check);
