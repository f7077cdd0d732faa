/* SPDX-License-Identifier: MIT */
#include "process/message.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "record/record_read.h"
#include "record/record_wire.h"
#include "record/record_write.h"

enum {
	FRAME_MAGIC = 0x74747331 /* "tts1" */
};

static const struct record_member error_members[] = {
	RECORD_VALUE(struct error, status, "status", .low = 0, .high = 255),
	RECORD_TEXT(struct error, message, "message"),
	RECORD_TEXT(struct error, hint, "hint"),
};
RECORD_DEFINE(struct error, error_record, error_members, .name = "error");

struct frame {
	uint32_t magic;
	uint32_t kind;
	uint64_t size;
};

/* A request of a hundred jobs contains the code of each. */
static const uint64_t frame_size_max = (uint64_t)1 << 32;

void message_pack(uint32_t kind, const struct record *record, const void *value, struct text *frame)
{
	struct frame header = {FRAME_MAGIC, kind, 0};
	const size_t start = frame->length;

	text_append_bytes(frame, &header, sizeof(header));
	if (record)
		record_pack(record, value, frame);
	header.size = frame->length - start - sizeof(header);
	memcpy(frame->data + start, &header, sizeof(header));
}

enum status message_send(
	int fd, uint32_t kind, const struct record *record, const void *value, struct error *err)
{
	struct text frame = {0};
	enum status status;

	message_pack(kind, record, value, &frame);
	status = file_write_all(fd, frame.data, frame.length, err);
	text_release(&frame);
	return status;
}

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

/* Waits for bytes until the deadline (may be infinite) and appends them to pending. */
static enum message_result receive_bytes(int fd, struct text *pending, double deadline)
{
	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		const double left = fmax(deadline - clock_seconds(), 0);
		char buffer[65536];
		ssize_t got;
		const int ready = poll(&wait, 1, isfinite(left) ? (int)(left * 1e3 + 0.999) : -1);

		if (ready == 0)
			return MESSAGE_NONE;
		if (ready < 0 && errno != EINTR)
			return MESSAGE_CLOSED;
		if (ready < 0)
			continue;
		got = read(fd, buffer, sizeof(buffer));
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return MESSAGE_CLOSED;
		text_append_bytes(pending, buffer, (size_t)got);
		return MESSAGE_READY;
	}
}

enum message_result message_receive(
	int fd, struct text *pending, double timeout_s, struct message *message)
{
	const double deadline = timeout_s < 0 ? INFINITY : clock_seconds() + timeout_s;
	enum message_result result, more;

	while ((result = take_frame(pending, message)) == MESSAGE_NONE)
		if ((more = receive_bytes(fd, pending, deadline)) != MESSAGE_READY)
			return more;
	return result;
}

enum message_result line_receive(int fd, struct text *pending, double timeout_s, struct text *line)
{
	const double deadline = timeout_s < 0 ? INFINITY : clock_seconds() + timeout_s;
	const char *end;
	enum message_result more;

	while (!(end = pending->length ? memchr(pending->data, '\n', pending->length) : NULL)) {
		if (pending->length > LINE_BYTES_MAX)
			return MESSAGE_CLOSED;
		if ((more = receive_bytes(fd, pending, deadline)) != MESSAGE_READY)
			return more;
	}
	*line = (struct text){0};
	text_append_bytes(line, pending->data, (size_t)(end - pending->data));
	pending->length -= line->length + 1;
	memmove(pending->data, end + 1, pending->length);
	return MESSAGE_READY;
}

void line_append(const struct record *record, const void *value, struct text *line)
{
	CLEANUP(json_release) struct json *json = record_to_json(record, value);

	json_append(json, false, line);
}

enum status line_read(const struct record *record, const struct text *line, const char *what,
	void *value, struct error *err)
{
	CLEANUP(json_release) struct json *root = NULL;
	struct json_at at;

	TRY(json_parse(text_string(line), line->length, what, &root, err));
	at = json_root(root, what);
	return record_from_json(record, &at, value, NULL, err);
}

enum status message_unpack(const struct message *message, const struct record *record,
	const char *what, void *value, struct error *err)
{
	memset(value, 0, record->size);
	return record_unpack(record, text_string(&message->payload), message->payload.length, what,
		value, NULL, err);
}

void message_release(struct message *message)
{
	text_release(&message->payload);
	*message = (struct message){0};
}
