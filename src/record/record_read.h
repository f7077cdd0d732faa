/* SPDX-License-Identifier: MIT
 *
 * Reads records from JSON. Messages have the form "file: $.path: expected ..., found ...".
 */
#ifndef RECORD_RECORD_READ_H
#define RECORD_RECORD_READ_H

#include "record/record.h"

/* The caller zeroes value, but may preset members outside the table. A failure releases the
 * members. Borrowed strings point into the tree. context is for custom members and checks. */
enum status record_from_json(const struct record *record, const struct json_at *at, void *value,
	void *context, struct error *err);

/* Takes a string in place of a number, bool or enum, to be evaluated later. item stays unchanged.
 */
typedef enum status record_computed(const struct json_at *at, const struct record_member *member,
	void *item, void *context, struct error *err);
/* Reads a record whose members may be computed. */
enum status record_from_json_computed(const struct record *record, const struct json_at *at,
	void *value, record_computed *computed, void *context, struct error *err);
/* Reads and drops the record, without a context. */
enum status record_check(const struct record *record, const struct json_at *at, struct error *err);

/* *index is the position among names (NULL-terminated). The error suggests the nearest name. */
enum status record_name_from_json(
	const struct json_at *at, const char *const *names, int *index, struct error *err);

#endif
