/* SPDX-License-Identifier: MIT */
#include "base/json_list.h"

#include "base/memory.h"

/* Returns the comma or bracket that ends the element or member at `at`, or the end of the text. */
static const char *item_end(const char *at, const char *end)
{
	bool in_string = false;
	size_t depth = 0;

	for (; at < end; at++) {
		if (in_string) {
			if (*at == '\\')
				at++;
			else if (*at == '"')
				in_string = false;
		} else if (*at == '"') {
			in_string = true;
		} else if (*at == '[' || *at == '{') {
			depth++;
		} else if (*at == ']' || *at == '}') {
			if (!depth--)
				return at;
		} else if (*at == ',' && !depth) {
			return at;
		}
	}
	return end;
}

/* Sets list->at to the text behind the opening bracket, or NULL. Returns the closing bracket, or
 * the end. */
static const char *find_list(struct json_list *list, const char *name)
{
	const char *end = list->text + list->size, *at = json_skip_space(list->text, end);
	const size_t length = strlen(name);

	while (at < end && (*at == '{' || *at == ',')) {
		const char *member = json_skip_space(at + 1, end);

		at = item_end(member, end);
		if ((size_t)(at - member) < length + 2 || *member != '"' ||
			member[length + 1] != '"' || memcmp(member + 1, name, length) != 0)
			continue;
		member = json_skip_space(member + length + 2, at);
		if (member < at && *member == ':')
			member = json_skip_space(member + 1, at);
		if (member >= at || *member != '[')
			continue;
		list->at = member + 1;
		while (at > list->at && at[-1] != ']')
			at--;
		return at > list->at ? at - 1 : end;
	}
	return end;
}

/* Reports where the text is not valid JSON. */
static enum status json_list_refuse(const struct json_list *list, struct error *err)
{
	CLEANUP(json_release) struct json *whole = NULL;

	if (json_parse(list->text, list->size, list->file, &whole, err) == STATUS_OK)
		error_set(err, STATUS_BAD_INPUT, "%s: the JSON is invalid", list->file);
	return STATUS_BAD_INPUT;
}

enum status json_list_open(const char *text, size_t size, const char *file, const char *name,
	struct json_list *list, struct error *err)
{
	CLEANUP(text_release) struct text around = {0};
	const char *end;

	*list = (struct json_list){.text = text, .size = size, .file = file};
	list->end = end = find_list(list, name);
	text_append_bytes(&around, text, (size_t)((list->at ? list->at : end) - text));
	text_append_bytes(&around, end, (size_t)(text + size - end));
	if (json_parse(text_string(&around), around.length, file, &list->tree, NULL) != STATUS_OK)
		return json_list_refuse(list, err);
	list->root = json_root(list->tree, file);
	if (!list->at || json_skip_space(list->at, end) == end)
		list->at = NULL;
	else if (!json_find(&list->root, name, &list->list))
		return json_list_refuse(list, err);
	return STATUS_OK;
}

bool json_list_next(
	struct json_list *list, struct json_at *element, enum status *status, struct error *err)
{
	const char *from = list->at, *end;

	json_release(&list->element);
	*status = STATUS_OK;
	if (!from)
		return false;
	end = item_end(from, list->text + list->size);
	list->at = end < list->end ? end + 1 : NULL;
	if (end > list->end || json_parse(from, (size_t)(end - from), list->file, &list->element,
				       NULL) != STATUS_OK) {
		*status = json_list_refuse(list, err);
		return false;
	}
	*element = (struct json_at){.node = list->element,
		.file = list->file,
		.parent = &list->list,
		.index = list->index++};
	return true;
}

void json_list_release(struct json_list *list)
{
	json_free(list->tree);
	json_free(list->element);
	*list = (struct json_list){0};
}
