/* SPDX-License-Identifier: MIT
 *
 * Parses the elements of an object's long list one at a time, because a tree takes about ten times
 * the memory of its text.
 *
 * 	TRY(json_list_open(text, size, path, "entries", &list, err));
 * 	... list.root has the other members, and an empty list in place of "entries" ...
 * 	while (json_list_next(&list, &element, &status, err))
 * 		... the next call invalidates element ...
 */
#ifndef BASE_JSON_LIST_H
#define BASE_JSON_LIST_H

#include "base/json.h"

struct json_list {
	struct json_at root; /* the other members and an empty list */
	/* ---- for json_list.c ---- */
	const char *text, *file;
	size_t size;
	const char *at, *end; /* next element, or NULL; closing bracket of the list */
	struct json *tree, *element;
	struct json_at list;
	size_t index;
};

/* Borrows all strings. Without a list of this name, root is the whole tree. Errors are those of
 * json_parse(). */
enum status json_list_open(const char *text, size_t size, const char *file, const char *name,
	struct json_list *list, struct error *err);
/* Returns false at the end, or if an element is invalid, which sets *status. */
bool json_list_next(
	struct json_list *list, struct json_at *element, enum status *status, struct error *err);
void json_list_release(struct json_list *list);

#endif
