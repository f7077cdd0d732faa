/* SPDX-License-Identifier: MIT
 *
 * Payload of a frame between the tuner and its measuring worker: a JSON header and any number of
 * binary blobs (cubins). Layout: 32-bit size of the header, header, blobs one after the other; the
 * header's member "blobs" lists their sizes.
 */
#ifndef MEASURE_PACKET_H
#define MEASURE_PACKET_H

#include "base/json.h"
#include "base/text.h"

struct packet {
	struct json *header;
	struct json_at root; /* cursor at the header */
	struct text *blobs;
	size_t blob_count;
};

/* header is consumed. Appends to payload. */
void packet_pack(
	struct json *header, const struct text *blobs, size_t blob_count, struct text *payload);
/* STATUS_FAILED if the payload is not such a packet. `what` names the sender in messages. */
enum status packet_unpack(
	const struct text *payload, const char *what, struct packet *packet, struct error *err);
void packet_release(struct packet *packet);

#endif
