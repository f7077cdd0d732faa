/* SPDX-License-Identifier: MIT
 *
 * A check as tiletune.check/1.
 */
#ifndef CHECK_CHECK_JSON_H
#define CHECK_CHECK_JSON_H

#include "check/check.h"

/* {"format": "tiletune.check/1", ...}: configs/schemas/check.schema.json. */
struct json *check_to_json(const struct check *check);

#endif
