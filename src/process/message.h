/* SPDX-License-Identifier: MIT
 *
 * What processes say to each other through pipes: frames (magic, kind, size, payload; host byte
 * order), the payload being a packed record (record/record_wire.h), or lines.
 */
#ifndef PROCESS_MESSAGE_H
#define PROCESS_MESSAGE_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "record/record.h"

/* An error that a process has; status OK: none. */
RECORD_DECLARE(struct error, error_record);

struct message {
	uint32_t kind;
	struct text payload;
};

enum {
	LINE_BYTES_MAX = 1 << 20
};

enum message_result {
	MESSAGE_READY,
	MESSAGE_NONE,   /* time is up; what came in so far is kept */
	MESSAGE_CLOSED, /* the other side is gone, or spoke nonsense */
};

/* Appends a frame. record: NULL for no payload. */
void message_pack(
	uint32_t kind, const struct record *record, const void *value, struct text *frame);
enum status message_send(
	int fd, uint32_t kind, const struct record *record, const void *value, struct error *err);
/* Waits up to timeout_s (negative: forever, 0: only what is there) for a whole frame.
 * `pending` carries bytes over between calls. */
enum message_result message_receive(
	int fd, struct text *pending, double timeout_s, struct message *message);
/* The same for a line, without its end; more than LINE_BYTES_MAX without one is nonsense. */
enum message_result line_receive(int fd, struct text *pending, double timeout_s, struct text *line);
/* value is zeroed first; STATUS_FAILED if the payload is no such record. `what` names the sender.
 */
enum status message_unpack(const struct message *message, const struct record *record,
	const char *what, void *value, struct error *err);
void message_release(struct message *message);

#endif
