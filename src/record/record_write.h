/* SPDX-License-Identifier: MIT
 *
 * Writes a record as a JSON object with the members of the table in order.
 */
#ifndef RECORD_RECORD_WRITE_H
#define RECORD_RECORD_WRITE_H

#include "record/record.h"

struct json *record_to_json(const struct record *record, const void *value);
void record_put_json(const struct record *record, const void *value, struct json *object);
/* Appends the record as a line of JSON. */
void record_append(const struct record *record, const void *value, struct text *text);
/* Returns whether both have the same JSON. */
bool record_equal(const struct record *record, const void *a, const void *b);

#endif
