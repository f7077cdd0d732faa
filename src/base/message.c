/* SPDX-License-Identifier: MIT
 *
 * Frames of base/child.h: magic, kind, size, payload; host byte order (both sides are one
 * machine).
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"

enum {
	FRAME_MAGIC = 0x74747331
}; /* "tts1" */

struct frame {
	uint32_t magic;
	uint32_t kind;
	uint64_t size;
};

static const uint64_t frame_size_max = (uint64_t)1 << 30;

enum status message_send(int fd, uint32_t kind, const void *data, size_t size, struct error *err)
{
	struct frame frame = {FRAME_MAGIC, kind, size};
	struct text whole = {0};
	enum status status;

	text_append_bytes(&whole, &frame, sizeof(frame));
	text_append_bytes(&whole, data, size);
	status = file_write_all(fd, whole.data, whole.length, err);
	text_release(&whole);
	return status;
}

/* Takes a whole frame out of pending, if there is one. */
static enum message_result take_frame(struct text *pending, struct message *message)
{
	struct frame frame;
	size_t whole;

	if (pending->length < sizeof(frame))
		return MESSAGE_NONE;
	memcpy(&frame, pending->data, sizeof(frame));
	if (frame.magic != FRAME_MAGIC || frame.size > frame_size_max)
		return MESSAGE_CLOSED;
	whole = sizeof(frame) + (size_t)frame.size;
	if (pending->length < whole)
		return MESSAGE_NONE;
	message->kind = frame.kind;
	message->payload = (struct text){0};
	text_append_bytes(&message->payload, pending->data + sizeof(frame), (size_t)frame.size);
	memmove(pending->data, pending->data + whole, pending->length - whole);
	pending->length -= whole;
	return MESSAGE_READY;
}

enum message_result message_receive(
	int fd, struct text *pending, double timeout_s, struct message *message)
{
	double deadline = clock_seconds() + timeout_s;

	for (;;) {
		enum message_result result = take_frame(pending, message);
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		double left = deadline - clock_seconds();
		char buffer[65536];
		ssize_t got;
		int ready;

		if (result != MESSAGE_NONE)
			return result;
		if (timeout_s >= 0 && left < 0)
			left = 0;
		ready = poll(&wait, 1, timeout_s < 0 ? -1 : (int)(left * 1e3 + 0.999));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready < 0)
			return MESSAGE_CLOSED;
		if (ready == 0)
			return MESSAGE_NONE;
		got = read(fd, buffer, sizeof(buffer));
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return MESSAGE_CLOSED;
		text_append_bytes(pending, buffer, (size_t)got);
	}
}

void message_release(struct message *message)
{
	text_release(&message->payload);
	*message = (struct message){0};
}
