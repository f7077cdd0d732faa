/* SPDX-License-Identifier: MIT
 *
 * A JSON file whose root is an object with a long list in it: the elements of the list are read one
 * after another, so that a file of any size takes the memory of its largest element.
 *
 * Each element, and what is around the list, is what json_parse() takes; its limits are those of
 * one element.
 */
#ifndef BASE_JSON_ELEMENTS_H
#define BASE_JSON_ELEMENTS_H

#include "base/json.h"

/* ---- text that is not parsed ---- */
struct json_text {
	const char *at, *end; /* there is a NUL at the end, or after it */
};
/* The members or elements of a container's text in turn; key is empty in a list. False: there are
 * no more, or the text is no container. Keys and strings have their quotes and escapes. */
bool json_text_next(struct json_text *rest, struct json_text *key, struct json_text *value);
bool json_text_is(const struct json_text *text, const char *string); /* without escapes */

/* ---- elements ---- */
struct json_elements {
	const char *list; /* a member of the root */
	/* Elements that it does not want are not parsed, only skipped; NULL: all. */
	bool (*wants)(const struct json_text *element, void *context);
	/* The cursor and its tree are gone thereafter. */
	void (*visit)(const struct json_at *element, void *context);
	void *context;
};
/* root: the file with an empty list. Where the list is no array it is as in the file. On failure
 * some elements may have been visited. */
enum status json_load_elements(const char *path, const struct json_elements *elements,
	struct json **root, struct error *err);

#endif
