/* SPDX-License-Identifier: MIT
 *
 * Inside base/json*.c only: what a struct json really is.
 */
#ifndef BASE_JSON_NODE_H
#define BASE_JSON_NODE_H

#include <cjson/cJSON.h>

struct json;

static inline const cJSON *json_node(const struct json *json)
{
	return (const cJSON *)json;
}

#endif
