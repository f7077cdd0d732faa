/* SPDX-License-Identifier: MIT
 *
 * Messages between processes: records, as lines of JSON through pipes.
 */
#ifndef PROCESS_MESSAGE_H
#define PROCESS_MESSAGE_H

#include "base/error.h"
#include "base/text.h"
#include "record/record.h"
#include "record/record_write.h"

RECORD_DECLARE(struct error, error_record);

/* The member `error`, present if `failed` is true. */
#define RECORD_ERROR(type)                                                                         \
	RECORD_NESTED(type, error, error_record, "error", .flags = RECORD_OPTIONAL,                \
		.present = RECORD_PRESENT(type, failed))

enum {
	LINE_BYTES_MAX = 1 << 24
};

enum message_result {
	MESSAGE_READY,
	MESSAGE_NONE,
	MESSAGE_CLOSED, /* the other side ended, or its line is too long */
};

/* Waits up to timeout_s (negative: forever) for a line. `pending` keeps the bytes of an incomplete
 * line. */
enum message_result line_receive(int fd, struct text *pending, double timeout_s, struct text *line);
enum status line_send(int fd, const struct record *record, const void *value, struct error *err);
/* `what` names the line in error messages. value may have preset members; a failure releases them.
 */
enum status line_read(const struct record *record, const struct text *line, const char *what,
	void *value, struct error *err);

#endif
