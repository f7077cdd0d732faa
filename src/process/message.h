/* SPDX-License-Identifier: MIT
 *
 * Messages between processes through pipes: lines of JSON, or frames (magic, kind, size, payload;
 * host byte order) whose payload is a packed record (record/record_wire.h).
 */
#ifndef PROCESS_MESSAGE_H
#define PROCESS_MESSAGE_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "record/record.h"

/* An error of another process; its status is STATUS_OK if nothing failed. */
RECORD_DECLARE(struct error, error_record);

struct message {
	uint32_t kind;
	struct text payload;
};

enum {
	LINE_BYTES_MAX = 1 << 24
};

enum message_result {
	MESSAGE_READY,
	MESSAGE_NONE,   /* the time is over; bytes received so far stay in pending */
	MESSAGE_CLOSED, /* the other side has ended, or sent invalid bytes */
};

/* Appends a frame. A NULL record means no payload. */
void message_pack(
	uint32_t kind, const struct record *record, const void *value, struct text *frame);
enum status message_send(
	int fd, uint32_t kind, const struct record *record, const void *value, struct error *err);
/* Waits up to timeout_s (negative: forever, 0: not at all) for a whole frame. `pending` keeps the
 * bytes of an incomplete one between calls. */
enum message_result message_receive(
	int fd, struct text *pending, double timeout_s, struct message *message);
/* Receives a line and removes its newline. A line of more than LINE_BYTES_MAX bytes is invalid. */
enum message_result line_receive(int fd, struct text *pending, double timeout_s, struct text *line);
/* Appends a record as a line of JSON. */
void line_append(const struct record *record, const void *value, struct text *line);
/* Reads a record without borrowed strings from a line; `what` names the line in messages. value may
 * be preset; a failure releases it. */
enum status line_read(const struct record *record, const struct text *line, const char *what,
	void *value, struct error *err);
/* Zeroes value first. STATUS_FAILED: the payload is not such a record. `what` names the sender. */
enum status message_unpack(const struct message *message, const struct record *record,
	const char *what, void *value, struct error *err);
void message_release(struct message *message);

#endif
