/* SPDX-License-Identifier: MIT
 *
 * Replies: GPUs, and what became of a handle.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "measure/protocol.h"

/* Numbers of a struct as JSON members, by table: one row per member. */
struct field {
	const char *name;
	size_t offset;
	enum {
		FIELD_INT32,
		FIELD_INT64,
		FIELD_UINT32,
		FIELD_UINT64,
		FIELD_DOUBLE,
	} type;
};

static void fields_put(
	struct json *object, const struct field *fields, size_t count, const void *from)
{
	for (size_t i = 0; i < count; i++) {
		const void *at = (const char *)from + fields[i].offset;

		switch (fields[i].type) {
		case FIELD_INT32:
			json_put_int(object, fields[i].name, *(const int32_t *)at);
			break;
		case FIELD_INT64:
			json_put_int(object, fields[i].name, *(const int64_t *)at);
			break;
		case FIELD_UINT32:
			json_put_int(object, fields[i].name, *(const uint32_t *)at);
			break;
		case FIELD_UINT64:
			json_put_int(object, fields[i].name, (int64_t) * (const uint64_t *)at);
			break;
		case FIELD_DOUBLE:
			json_put_double(object, fields[i].name, *(const double *)at);
			break;
		}
	}
}

static enum status fields_get(const struct json_at *object, const struct field *fields,
	size_t count, void *to, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		void *at = (char *)to + fields[i].offset;
		struct json_at member;
		int64_t integer = 0;
		enum status status = json_member(object, fields[i].name, &member, err);

		if (status != STATUS_OK)
			return status;
		if (fields[i].type == FIELD_DOUBLE) {
			/* what is not finite travels as null */
			if (json_type(&member) == JSON_NULL)
				*(double *)at = NAN;
			else
				status = json_get_double(&member, at, err);
		} else {
			status = json_get_int(&member, &integer, err);
		}
		if (status != STATUS_OK)
			return status;
		switch (fields[i].type) {
		case FIELD_INT32:
			*(int32_t *)at = (int32_t)integer;
			break;
		case FIELD_INT64:
			*(int64_t *)at = integer;
			break;
		case FIELD_UINT32:
			*(uint32_t *)at = (uint32_t)integer;
			break;
		case FIELD_UINT64:
			*(uint64_t *)at = (uint64_t)integer;
			break;
		case FIELD_DOUBLE:
			break;
		}
	}
	return STATUS_OK;
}

/* ---- GPUs ---- */
#define GPU(type, member)                                                                          \
	{                                                                                          \
#member, offsetof(struct measure_gpu, member), type                                \
	}
#define FACT(type, member)                                                                         \
	{                                                                                          \
#member, offsetof(struct measure_gpu, facts.member), type                          \
	}
static const struct field gpu_fields[] = {
	GPU(FIELD_INT32, driver_cuda_version),
	GPU(FIELD_DOUBLE, clock_sm_hz),
	GPU(FIELD_DOUBLE, clock_memory_hz),
	GPU(FIELD_DOUBLE, clock_sm_max_hz),
	GPU(FIELD_DOUBLE, power_limit_w),
	FACT(FIELD_INT32, compute_capability),
	FACT(FIELD_INT64, sm_count),
	FACT(FIELD_INT64, warp_size),
	FACT(FIELD_INT64, max_threads_per_block),
	FACT(FIELD_INT64, max_threads_per_sm),
	FACT(FIELD_INT64, max_blocks_per_sm),
	FACT(FIELD_INT64, regs_per_block),
	FACT(FIELD_INT64, regs_per_sm),
	FACT(FIELD_INT64, smem_per_block_bytes),
	FACT(FIELD_INT64, smem_per_sm_bytes),
	FACT(FIELD_INT64, smem_reserved_bytes),
	FACT(FIELD_INT64, l2_bytes),
	FACT(FIELD_INT64, dram_bytes),
	FACT(FIELD_DOUBLE, clock_hz),
	FACT(FIELD_DOUBLE, memory_clock_hz),
	FACT(FIELD_INT64, memory_bus_bits),
};

struct json *measure_gpu_to_json(const struct measure_gpu *gpu)
{
	struct json *object = json_new_object();

	json_put_string(object, "name", gpu->facts.name);
	json_put_string(object, "uuid", gpu->uuid);
	json_put_string(object, "driver", gpu->driver);
	json_put_string(object, "mig", gpu->mig);
	fields_put(object, gpu_fields, ARRAY_COUNT(gpu_fields), gpu);
	return object;
}

enum status measure_gpu_from_json(
	const struct json_at *at, struct measure_gpu *gpu, struct error *err)
{
	const char *name = "", *uuid = "", *driver = "", *mig = "";
	enum status status = json_member_string(at, "name", &name, err);

	*gpu = (struct measure_gpu){0};
	if (status == STATUS_OK)
		status = json_member_string(at, "uuid", &uuid, err);
	if (status == STATUS_OK)
		status = json_member_string(at, "driver", &driver, err);
	if (status == STATUS_OK)
		status = json_member_string(at, "mig", &mig, err);
	if (status == STATUS_OK)
		status = fields_get(at, gpu_fields, ARRAY_COUNT(gpu_fields), gpu, err);
	string_put(gpu->facts.name, sizeof(gpu->facts.name), name);
	string_put(gpu->uuid, sizeof(gpu->uuid), uuid);
	string_put(gpu->driver, sizeof(gpu->driver), driver);
	string_put(gpu->mig, sizeof(gpu->mig), mig);
	return status;
}

/* ---- results ---- */
#define RESOURCE(type, member)                                                                     \
	{                                                                                          \
#member, offsetof(struct kernel_resources, member), type                           \
	}
static const struct field resource_fields[] = {
	RESOURCE(FIELD_INT32, regs_per_thread),
	RESOURCE(FIELD_INT32, smem_static_bytes),
	RESOURCE(FIELD_INT32, blocks_per_sm),
	RESOURCE(FIELD_INT32, max_clusters),
};

#define VERIFICATION(type, member)                                                                 \
	{                                                                                          \
#member, offsetof(struct verification, member), type                               \
	}
static const struct field verification_fields[] = {
	VERIFICATION(FIELD_UINT64, points),
	VERIFICATION(FIELD_UINT64, violations),
	VERIFICATION(FIELD_UINT64, first_bad),
	VERIFICATION(FIELD_DOUBLE, first_out),
	VERIFICATION(FIELD_DOUBLE, first_expected),
	VERIFICATION(FIELD_DOUBLE, max_abs_error),
	VERIFICATION(FIELD_DOUBLE, max_rel_error),
};

void measure_result_pack(const struct measure_result *result, struct text *payload)
{
	struct json *header = json_new_object();
	struct json *list;

	json_put_int(header, "handle", result->handle);
	json_put_string(header, "outcome", outcome_name(result->outcome));
	if (result->detail)
		json_put_string(header, "detail", result->detail);
	if (result->fatal)
		json_put_bool(header, "fatal", true);
	if (result->gave_up)
		json_put_bool(header, "gave_up", true);
	json_put_int(header, "flags", result->flags);
	list = json_new_array();
	for (size_t i = 0; i < result->launch_count; i++) {
		struct json *launch = json_new_object();

		fields_put(launch, resource_fields, ARRAY_COUNT(resource_fields),
			&result->resources[i]);
		json_push(list, launch);
	}
	json_put(header, "launches", list);
	if (result->verification.done) {
		struct json *object = json_new_object();

		fields_put(object, verification_fields, ARRAY_COUNT(verification_fields),
			&result->verification);
		json_put(header, "verification", object);
	}
	list = json_new_array();
	for (size_t i = 0; i < result->sample_count; i++)
		json_push(list, json_new_double(result->samples_us[i]));
	json_put(header, "samples_us", list);
	packet_pack(header, NULL, 0, payload);
}

static enum status lists_unpack(
	const struct json_at *root, struct measure_result *result, struct error *err)
{
	struct json_at launches, samples, at;
	enum status status = json_member(root, "launches", &launches, err);

	if (status == STATUS_OK)
		status = json_member(root, "samples_us", &samples, err);
	if (status != STATUS_OK)
		return status;
	result->resources = memory_zeroed(json_count(&launches) + 1, sizeof(*result->resources));
	result->samples_us = memory_zeroed(json_count(&samples) + 1, sizeof(*result->samples_us));
	for (size_t i = 0; status == STATUS_OK && i < json_count(&launches); i++) {
		at = json_item(&launches, i);
		status = fields_get(&at, resource_fields, ARRAY_COUNT(resource_fields),
			&result->resources[result->launch_count++], err);
	}
	for (size_t i = 0; status == STATUS_OK && i < json_count(&samples); i++) {
		at = json_item(&samples, i);
		status = json_get_double(&at, &result->samples_us[result->sample_count++], err);
	}
	return status;
}

enum status measure_result_unpack(
	const struct packet *packet, struct measure_result *result, struct error *err)
{
	const struct json_at *root = &packet->root;
	struct json_at at;
	const char *text = "";
	int64_t handle = 0, flags = 0;
	enum status status;

	*result = (struct measure_result){0};
	status = json_member_int(root, "handle", &handle, err);
	if (status == STATUS_OK)
		status = json_member_string(root, "outcome", &text, err);
	if (status == STATUS_OK && outcome_find(text) < 0)
		status =
			error_set(err, STATUS_FAILED, "measuring worker: unknown outcome %s", text);
	if (status == STATUS_OK)
		status = json_member_int(root, "flags", &flags, err);
	if (status == STATUS_OK)
		result->outcome = (enum outcome)outcome_find(text);
	result->handle = (uint32_t)handle;
	result->flags = (uint32_t)flags;
	if (status == STATUS_OK && json_find(root, "detail", &at)) {
		status = json_get_string(&at, &text, err);
		result->detail = status == STATUS_OK ? string_copy(text) : NULL;
	}
	result->fatal = json_find(root, "fatal", &at);
	result->gave_up = json_find(root, "gave_up", &at);
	if (status == STATUS_OK && json_find(root, "verification", &at)) {
		status = fields_get(&at, verification_fields, ARRAY_COUNT(verification_fields),
			&result->verification, err);
		result->verification.done = true;
	}
	if (status == STATUS_OK)
		status = lists_unpack(root, result, err);
	if (status != STATUS_OK)
		measure_result_release(result);
	return status;
}

void measure_result_release(struct measure_result *result)
{
	free(result->detail);
	free(result->resources);
	free(result->samples_us);
	*result = (struct measure_result){0};
}
