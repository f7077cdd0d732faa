/* SPDX-License-Identifier: MIT
 *
 * Serializes records for pipes and caches: members in the order of the table, numbers in host byte
 * order, strings and lists with a count. Writer and reader are the same program, or the name of
 * the cached bytes includes record_layout().
 *
 * Unpacking does not trust its input. It never reads past the end, allocates memory in proportion
 * to the input, and refuses invalid values and trailing bytes.
 */
#ifndef RECORD_RECORD_WIRE_H
#define RECORD_RECORD_WIRE_H

#include "record/record.h"

void record_pack(const struct record *record, const void *value, struct text *bytes);
/* value is zeroed by the caller; released on failure. Borrowed strings point into the bytes.
 * `what` names the sender in messages: "measuring worker: expected ..." (STATUS_FAILED). */
enum status record_unpack(const struct record *record, const void *bytes, size_t size,
	const char *what, void *value, void *context, struct error *err);
/* Appends everything that determines the meaning of packed bytes. The names of cached bytes include
 * this text. */
void record_layout(const struct record *record, struct text *text);

#endif
