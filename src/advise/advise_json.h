/* SPDX-License-Identifier: MIT
 *
 * The answer of `advise` as a document: configs/schemas/advise.schema.json.
 */
#ifndef ADVISE_ADVISE_JSON_H
#define ADVISE_ADVISE_JSON_H

#include "advise/advise.h"
#include "base/record.h"
#include "format/run.h"

/* {"format": "tiletune.advise/1", ...}. run: that made it. */
struct json *advise_to_json(const struct advise *advise, const struct run *run);
extern const struct record advise_record; /* of that document */

#endif
