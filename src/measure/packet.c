/* SPDX-License-Identifier: MIT */
#include "measure/packet.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void packet_pack(
	struct json *header, const struct text *blobs, size_t blob_count, struct text *payload)
{
	struct json *sizes = json_new_array();
	uint32_t size;
	char *printed;

	for (size_t i = 0; i < blob_count; i++)
		json_push(sizes, json_new_int((int64_t)blobs[i].length));
	json_put(header, "blobs", sizes);
	printed = json_print(header, false);
	size = (uint32_t)strlen(printed);
	text_append_bytes(payload, &size, sizeof(size));
	text_append_bytes(payload, printed, size);
	for (size_t i = 0; i < blob_count; i++)
		text_append_bytes(payload, blobs[i].data, blobs[i].length);
	free(printed);
	json_free(header);
}

static enum status blobs_take(
	struct packet *packet, const char *data, size_t left, struct error *err)
{
	struct json_at sizes;
	enum status status = json_member(&packet->root, "blobs", &sizes, err);

	if (status == STATUS_OK)
		status = json_expect(&sizes, JSON_ARRAY, err);
	if (status != STATUS_OK)
		return status;
	packet->blobs = memory_zeroed(json_count(&sizes) + 1, sizeof(*packet->blobs));
	for (size_t i = 0; i < json_count(&sizes); i++) {
		struct json_at at = json_item(&sizes, i);
		int64_t size = 0;

		status = json_get_int(&at, &size, err);
		if (status != STATUS_OK)
			return status;
		if (size < 0 || (uint64_t)size > left)
			return json_error(&at, err, "a size within the frame");
		if (size > 0)
			text_append_bytes(&packet->blobs[i], data, (size_t)size);
		packet->blob_count++;
		data += size;
		left -= (size_t)size;
	}
	return STATUS_OK;
}

enum status packet_unpack(
	const struct text *payload, const char *what, struct packet *packet, struct error *err)
{
	uint32_t size = 0;
	enum status status;

	*packet = (struct packet){0};
	if (payload->length >= sizeof(size))
		memcpy(&size, payload->data, sizeof(size));
	if (payload->length < sizeof(size) || size > payload->length - sizeof(size))
		return error_set(err, STATUS_FAILED, "%s: expected a packet, found %zu bytes", what,
			payload->length);
	status = json_parse(payload->data + sizeof(size), size, what, &packet->header, err);
	if (status == STATUS_OK) {
		packet->root = json_root(packet->header, what);
		status = blobs_take(packet, payload->data + sizeof(size) + size,
			payload->length - sizeof(size) - size, err);
	}
	if (status != STATUS_OK)
		packet_release(packet);
	return status;
}

void packet_release(struct packet *packet)
{
	for (size_t i = 0; i < packet->blob_count; i++)
		text_release(&packet->blobs[i]);
	free(packet->blobs);
	json_free(packet->header);
	*packet = (struct packet){0};
}
