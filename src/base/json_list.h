/* SPDX-License-Identifier: MIT
 *
 * A JSON text whose root is an object with one long list in it: the list's elements are parsed one
 * at a time, because a tree takes about ten times the memory of its text.
 *
 *	CLEANUP(json_list_release) struct json_list list = {0};
 *
 *	TRY(json_list_open(text, size, path, "entries", &list, err));
 *	... list.root has the other members, and an empty list in the place of this one ...
 *	while (json_list_next(&list, &element, &status, err))
 *		... element is a cursor that the next call invalidates ...
 */
#ifndef BASE_JSON_LIST_H
#define BASE_JSON_LIST_H

#include "base/json.h"

struct json_list {
	struct json_at root; /* without the elements */
	/* ---- for json_list.c ---- */
	const char *text, *file; /* borrowed */
	size_t size;
	const char *at, *end; /* the next element, NULL: there are no more; the closing bracket */
	struct json *tree, *element;
	struct json_at list;
	size_t index;
};

/* Borrows all strings. Where the member `name` is no list, or not there, there are no elements, and
 * root is the whole. Errors: what json_parse() says of the whole text. */
enum status json_list_open(const char *text, size_t size, const char *file, const char *name,
	struct json_list *list, struct error *err);
/* False: there are no more, or the element is no JSON, which *status says. */
bool json_list_next(
	struct json_list *list, struct json_at *element, enum status *status, struct error *err);
void json_list_release(struct json_list *list);

#endif
