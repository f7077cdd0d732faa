/* SPDX-License-Identifier: MIT
 *
 * A check as tiletune.check/1.
 */
#ifndef CHECK_CHECK_JSON_H
#define CHECK_CHECK_JSON_H

#include "check/check.h"

struct check_document;
RECORD_DECLARE(struct check_document, check_document_record);

/* {"format": "tiletune.check/1", ...} */
struct json *check_to_json(const struct check *check);

#endif
