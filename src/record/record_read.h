/* SPDX-License-Identifier: MIT
 *
 * Reads records from JSON. Messages have the form "file: $.path: expected ..., found ...".
 */
#ifndef RECORD_RECORD_READ_H
#define RECORD_RECORD_READ_H

#include "record/record.h"

/* The caller zeroes value, but may preset members that the table does not name. A failure releases
 * the members of the table. Borrowed strings point into the tree. context is passed to custom
 * members and checks. */
enum status record_from_json(const struct record *record, const struct json_at *at, void *value,
	void *context, struct error *err);

/* Takes a string in place of a number, bool or enum as an expression that is evaluated later. item
 * is the address of the member in the struct, whose value stays unchanged. */
typedef enum status record_computed(const struct json_at *at, const struct record_member *member,
	void *item, void *context, struct error *err);
/* Works like record_from_json() for tables with computed members. */
enum status record_from_json_computed(const struct record *record, const struct json_at *at,
	void *value, record_computed *computed, void *context, struct error *err);
/* Checks that JSON could be read as this record, without a context. */
enum status record_check(const struct record *record, const struct json_at *at, struct error *err);

/* For custom readers: sets *index to the position of a string among names (NULL-terminated). The
 * error lists the names and suggests the nearest. */
enum status record_name_from_json(
	const struct json_at *at, const char *const *names, int *index, struct error *err);

#endif
