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

static const struct record_member error_members[] = {
	RECORD_VALUE(struct error, status, "status", .low = 0, .high = 255),
	RECORD_TEXT(struct error, message, "message"),
	RECORD_TEXT(struct error, hint, "hint"),
};
RECORD_DEFINE(struct error, error_record, error_members, .name = "error");

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

enum message_result line_receive(int fd, struct text *pending, double timeout_s, struct text *line)
{
	const double deadline = timeout_s < 0 ? INFINITY : clock_seconds() + timeout_s;
	const char *end;
	size_t searched = 0;
	enum message_result more;

	while (!(end = pending->length > searched
			       ? memchr(pending->data + searched, '\n', pending->length - searched)
			       : NULL)) {
		searched = pending->length;
		if (searched > LINE_BYTES_MAX)
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

enum status line_send(int fd, const struct record *record, const void *value, struct error *err)
{
	CLEANUP(text_release) struct text line = {0};

	record_append(record, value, &line);
	return file_write_all(fd, line.data, line.length, err);
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
