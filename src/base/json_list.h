/* SPDX-License-Identifier: MIT
 *
 * Parses a JSON object with one long list. The elements of the list are parsed one at a time,
 * because a tree takes about ten times the memory of its text.
 *
 *	CLEANUP(json_list_release) struct json_list list = {0};
 *
 *	TRY(json_list_open(text, size, path, "entries", &list, err));
 *	... list.root has the other members, and an empty list in place of "entries" ...
 *	while (json_list_next(&list, &element, &status, err))
 *		... element is a cursor that the next call invalidates ...
 */
#ifndef BASE_JSON_LIST_H
#define BASE_JSON_LIST_H

#include "base/json.h"

struct json_list {
	struct json_at root; /* the object with an empty list */
	/* ---- for json_list.c ---- */
	const char *text, *file;
	size_t size;
	const char *at, *end; /* the next element, or NULL at the end; the closing bracket */
	struct json *tree, *element;
	struct json_at list;
	size_t index;
};

/* Borrows all strings. If the text has no list of this name, written without escapes, then root is
 * the tree of the whole text and there are no elements. Errors are those of json_parse(). */
enum status json_list_open(const char *text, size_t size, const char *file, const char *name,
	struct json_list *list, struct error *err);
/* Returns false at the end, or if the element is invalid JSON, which sets *status. */
bool json_list_next(
	struct json_list *list, struct json_at *element, enum status *status, struct error *err);
void json_list_release(struct json_list *list);

#endif
