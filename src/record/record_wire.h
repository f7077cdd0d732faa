/* SPDX-License-Identifier: MIT
 *
 * A record as bytes, for the other end of a pipe and for caches: members in the order of the
 * table, numbers in host byte order, counted strings and lists. Both ends are the same program, or
 * the bytes lie under a name that record_layout() is part of.
 *
 * Unpacking trusts nothing: it never reads beyond the bytes, allocates in proportion to
 * them, and refuses values that the member cannot have, and bytes that are left over.
 */
#ifndef RECORD_RECORD_WIRE_H
#define RECORD_RECORD_WIRE_H

#include "record/record.h"

/* Appends to bytes. */
void record_pack(const struct record *record, const void *value, struct text *bytes);
/* value is zeroed by the caller; released on failure. Borrowed strings point into the bytes.
 * `what` names the sender in messages: "measuring worker: expected ..." (STATUS_FAILED). */
enum status record_unpack(const struct record *record, const void *bytes, size_t size,
	const char *what, void *value, void *context, struct error *err);
/* Everything that the meaning of packed bytes depends on: part of the name under which they are
 * kept. */
void record_layout(const struct record *record, struct text *text);

#endif
