/* SPDX-License-Identifier: MIT
 *
 * Messages between processes through pipes: lines of JSON, each of which is a record.
 */
#ifndef PROCESS_MESSAGE_H
#define PROCESS_MESSAGE_H

#include "base/error.h"
#include "base/text.h"
#include "record/record.h"
#include "record/record_write.h"

/* An error of another process; its status is STATUS_OK if nothing failed. */
RECORD_DECLARE(struct error, error_record);

/* A member of a message that holds an error, and is present while the bool `failed` is true. */
#define RECORD_ERROR(type)                                                                         \
	RECORD_NESTED(type, error, error_record, "error", .flags = RECORD_OPTIONAL,                \
		.present = RECORD_PRESENT(type, failed))

enum {
	LINE_BYTES_MAX = 1 << 24 /* 12 MiB of code in base64, more than any kernel has */
};

enum message_result {
	MESSAGE_READY,
	MESSAGE_NONE,   /* the time is over; bytes received so far stay in pending */
	MESSAGE_CLOSED, /* the other side has ended, or sent invalid bytes */
};

/* Waits up to timeout_s (negative: forever, 0: not at all) for a line, and removes its newline.
 * `pending` keeps the bytes of an incomplete line between calls. A line of more than LINE_BYTES_MAX
 * bytes is invalid. */
enum message_result line_receive(int fd, struct text *pending, double timeout_s, struct text *line);
/* Writes a record as a line. */
enum status line_send(int fd, const struct record *record, const void *value, struct error *err);
/* Reads a record without borrowed strings from a line; `what` names the line in messages. value may
 * be preset; a failure releases it. */
enum status line_read(const struct record *record, const struct text *line, const char *what,
	void *value, struct error *err);

#endif
