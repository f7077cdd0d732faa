/* SPDX-License-Identifier: MIT
 *
 * Requests.
 */
#include "measure/protocol.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

static enum status member_uint32(
	const struct json_at *root, const char *key, uint32_t *value, struct error *err)
{
	int64_t wide = 0;
	enum status status = json_member_int(root, key, &wide, err);

	if (status == STATUS_OK && (wide < 0 || wide > UINT32_MAX))
		status = error_set(err, STATUS_FAILED, "measuring protocol: %s out of range", key);
	*value = (uint32_t)wide;
	return status;
}

void measure_open_pack(const struct measure_open *open, struct text *payload)
{
	struct json *header = json_new_object();
	char seed[24];

	/* JSON's numbers are exact up to 2^53 only */
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)open->seed);
	json_put_string(header, "seed", seed);
	json_put_int(header, "memory_limit_bytes", (int64_t)open->memory_limit_bytes);
	json_put_double(header, "kernel_timeout_s", open->kernel_timeout_s);
	packet_pack(header, NULL, 0, payload);
}

enum status measure_open_unpack(
	const struct packet *packet, struct measure_open *open, struct error *err)
{
	const char *seed = "0";
	int64_t limit = 0;
	enum status status = json_member_string(&packet->root, "seed", &seed, err);

	if (status == STATUS_OK)
		status = json_member_int(&packet->root, "memory_limit_bytes", &limit, err);
	if (status == STATUS_OK)
		status = json_member_double(
			&packet->root, "kernel_timeout_s", &open->kernel_timeout_s, err);
	open->seed = strtoull(seed, NULL, 10);
	open->memory_limit_bytes = (uint64_t)limit;
	return status;
}

void measure_problem_pack(uint32_t problem, const char *title,
	const struct reference_plan *reference, const struct text *cubin, struct text *payload)
{
	const struct text none = {0};
	struct json *header = json_new_object();

	json_put_int(header, "problem", problem);
	json_put_string(header, "title", title);
	json_put(header, "reference", reference_plan_to_json(reference));
	packet_pack(header, cubin ? cubin : &none, 1, payload);
}

enum status measure_problem_unpack(const struct packet *packet, uint32_t *problem, char **title,
	struct reference_plan *reference, struct error *err)
{
	struct json_at at;
	const char *name = NULL;
	enum status status = member_uint32(&packet->root, "problem", problem, err);

	if (status == STATUS_OK)
		status = json_member_string(&packet->root, "title", &name, err);
	if (status == STATUS_OK)
		status = json_member(&packet->root, "reference", &at, err);
	if (status == STATUS_OK && packet->blob_count != 1)
		status = error_set(err, STATUS_FAILED, "measuring protocol: expected one blob");
	if (status == STATUS_OK)
		status = reference_plan_from_json(&at, reference, err);
	*title = status == STATUS_OK ? string_copy(name) : NULL;
	return status;
}

void measure_load_pack(uint32_t handle, uint32_t problem, const struct plan *plan,
	const struct text *cubins, size_t cubin_count, struct text *payload)
{
	struct json *header = json_new_object();

	json_put_int(header, "handle", handle);
	json_put_int(header, "problem", problem);
	json_put(header, "plan", plan_to_json(plan));
	packet_pack(header, cubins, cubin_count, payload);
}

enum status measure_load_unpack(const struct packet *packet, uint32_t *handle, uint32_t *problem,
	struct plan *plan, struct error *err)
{
	struct json_at at;
	enum status status = member_uint32(&packet->root, "handle", handle, err);

	if (status == STATUS_OK)
		status = member_uint32(&packet->root, "problem", problem, err);
	if (status == STATUS_OK)
		status = json_member(&packet->root, "plan", &at, err);
	if (status == STATUS_OK)
		status = plan_from_json(&at, plan, err);
	return status;
}

void measure_handle_pack(uint32_t handle, struct text *payload)
{
	struct json *header = json_new_object();

	json_put_int(header, "handle", handle);
	packet_pack(header, NULL, 0, payload);
}

enum status measure_handle_unpack(const struct packet *packet, uint32_t *handle, struct error *err)
{
	return member_uint32(&packet->root, "handle", handle, err);
}

void measure_sample_pack(const struct measure_sample *sample, struct text *payload)
{
	struct json *header = json_new_object();
	struct json *handles = json_new_array();

	for (size_t i = 0; i < sample->handle_count; i++)
		json_push(handles, json_new_int(sample->handles[i]));
	json_put(header, "handles", handles);
	json_put_int(header, "rounds_min", sample->rounds_min);
	json_put_int(header, "rounds_max", sample->rounds_max);
	json_put_double(header, "seconds_max", sample->seconds_max);
	json_put_double(header, "target_ratio", sample->target_ratio);
	json_put_double(header, "give_up_us", sample->give_up_us);
	packet_pack(header, NULL, 0, payload);
}

static enum status handles_unpack(
	const struct json_at *root, struct measure_sample *sample, struct error *err)
{
	struct json_at handles;
	enum status status = json_member(root, "handles", &handles, err);

	if (status != STATUS_OK)
		return status;
	sample->handles = memory_zeroed(json_count(&handles) + 1, sizeof(*sample->handles));
	for (size_t i = 0; status == STATUS_OK && i < json_count(&handles); i++) {
		struct json_at at = json_item(&handles, i);
		int64_t handle = 0;

		status = json_get_int(&at, &handle, err);
		sample->handles[sample->handle_count++] = (uint32_t)handle;
	}
	return status;
}

enum status measure_sample_unpack(
	const struct packet *packet, struct measure_sample *sample, struct error *err)
{
	const struct json_at *root = &packet->root;
	enum status status;

	*sample = (struct measure_sample){0};
	status = handles_unpack(root, sample, err);
	if (status == STATUS_OK)
		status = member_uint32(root, "rounds_min", &sample->rounds_min, err);
	if (status == STATUS_OK)
		status = member_uint32(root, "rounds_max", &sample->rounds_max, err);
	if (status == STATUS_OK)
		status = json_member_double(root, "seconds_max", &sample->seconds_max, err);
	if (status == STATUS_OK)
		status = json_member_double(root, "target_ratio", &sample->target_ratio, err);
	if (status == STATUS_OK)
		status = json_member_double(root, "give_up_us", &sample->give_up_us, err);
	if (status != STATUS_OK)
		measure_sample_release(sample);
	return status;
}

void measure_sample_release(struct measure_sample *sample)
{
	free(sample->handles);
	*sample = (struct measure_sample){0};
}

void measure_error_pack(const struct error *error, struct text *payload)
{
	struct json *header = json_new_object();

	json_put_int(header, "status", error->status);
	json_put_string(header, "message", error->message);
	json_put_string(header, "hint", error->hint);
	packet_pack(header, NULL, 0, payload);
}

void measure_error_unpack(const struct packet *packet, struct error *error)
{
	const char *message = "", *hint = "";
	int64_t status = STATUS_FAILED;

	json_member_int(&packet->root, "status", &status, NULL);
	json_member_string(&packet->root, "message", &message, NULL);
	json_member_string(&packet->root, "hint", &hint, NULL);
	error_set(error, (enum status)status, "%s", message);
	if (hint[0])
		error_hint(error, "%s", hint);
}
