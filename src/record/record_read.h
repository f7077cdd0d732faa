/* SPDX-License-Identifier: MIT
 *
 * A record from JSON. Messages: "file: $.path: expected ..., found ...".
 */
#ifndef RECORD_RECORD_READ_H
#define RECORD_RECORD_READ_H

#include "record/record.h"

/* value holds zeroes, or what the caller set of members that the table does not name; on failure
 * the members of the table are released. Borrowed strings point into the tree. context is what the
 * custom members and checks expect. */
enum status record_from_json(const struct record *record, const struct json_at *at, void *value,
	void *context, struct error *err);

/* Takes a string in the place of a number, a bool or an enum: an expression that computes the
 * member later. item: the member's place in the struct, which keeps its value. */
typedef enum status record_computed(const struct json_at *at, const struct record_member *member,
	void *item, void *context, struct error *err);
/* As record_from_json(), for tables whose members may be computed. */
enum status record_from_json_computed(const struct record *record, const struct json_at *at,
	void *value, record_computed *computed, void *context, struct error *err);
/* Whether it could be read, without a context. */
enum status record_check(const struct record *record, const struct json_at *at, struct error *err);

/* For custom readers: the index of a string among names (NULL-terminated; the message lists them
 * and offers the nearest). */
enum status record_name_from_json(
	const struct json_at *at, const char *const *names, int *index, struct error *err);

#endif
