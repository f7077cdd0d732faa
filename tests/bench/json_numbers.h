/* SPDX-License-Identifier: MIT
 *
 * Numbers of a JSON object: json_member() and json_get_*() in one.
 */
#ifndef BENCH_JSON_NUMBERS_H
#define BENCH_JSON_NUMBERS_H

#include "base/json.h"

static inline enum status json_member_int(
	const struct json_at *object, const char *key, int64_t *value, struct error *err)
{
	struct json_at at;
	const enum status status = json_member(object, key, &at, err);

	return status == STATUS_OK ? json_get_int(&at, value, err) : status;
}

static inline enum status json_member_double(
	const struct json_at *object, const char *key, double *value, struct error *err)
{
	struct json_at at;
	const enum status status = json_member(object, key, &at, err);

	return status == STATUS_OK ? json_get_double(&at, value, err) : status;
}

#endif
