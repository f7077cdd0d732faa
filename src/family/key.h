/* SPDX-License-Identifier: MIT
 *
 * Problem keys: what an operation's sizes and choices are called and which values they take.
 */
#ifndef FAMILY_KEY_H
#define FAMILY_KEY_H

#include <stdbool.h>

#include "family/expression_json.h"

/* "batch,seq" for "batch*seq": names that may stand for a key in a problem's text. */
struct key_alias {
	char *text; /* of the JSON */
	struct name_table parts;
	char *part_text;               /* the parts' strings */
	struct expression *expression; /* over the parts */
};

struct key {
	const char *name;
	const char *help;                 /* NULL if there is none */
	const char **values;              /* of an enum, NULL-terminated; NULL: an integer */
	int64_t min, max;                 /* of an integer */
	struct expression *default_value; /* over keys; NULL: must be given */
	bool is_constant;                 /* becomes a -D; else a kernel argument */
	struct key_alias *aliases;
	size_t alias_count;
};
RECORD_DECLARE(struct key, key_record);

/* A value from text: the enum's own string, or an integer in the key's range. */
enum status key_value_parse(
	const struct key *key, const char *text, struct value *value, struct error *err);
/* The same from a value of the expression language; an integral float is an integer. */
enum status key_value_check(
	const struct key *key, struct value found, struct value *value, struct error *err);
/* "an integer from 1 to 2147483647" or "one of fp16, bf16". */
void key_describe(const struct key *key, struct text *text);

#endif
