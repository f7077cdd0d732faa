/* SPDX-License-Identifier: MIT
 *
 * JSON against a JSON Schema (draft-07, the part of it that configs/schemas uses):
 *
 *	type enum const, minimum maximum exclusiveMinimum exclusiveMaximum, minLength maxLength
 *	pattern (POSIX extended), items (one schema for all) minItems maxItems uniqueItems,
 *	properties required additionalProperties patternProperties propertyNames minProperties
 *	maxProperties, anyOf oneOf allOf not if/then/else, $ref to "#" and "#/definitions/NAME"
 *
 * Notes ($schema, title, description, default, examples, ...) are passed over; any other keyword is
 * an error of the schema, so that nothing is silently left unchecked.
 */
#ifndef FORMAT_SCHEMA_H
#define FORMAT_SCHEMA_H

#include "base/json.h"

/* schema: the root of the schema's document. Errors: STATUS_BAD_INPUT "file: $.path: expected,
 * found" of the first thing that does not fit (of the alternatives of anyOf and oneOf, the one that
 * fits best); STATUS_FAILED for a schema that is broken or beyond what is listed above. */
enum status schema_check(
	const struct json_at *schema, const struct json_at *value, struct error *err);

#endif
