/* SPDX-License-Identifier: MIT */
#include "advise/setting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static void push(struct setting_list *list, const char *name, size_t length, const char *value)
{
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = (struct setting){
		.name = string_copy_bytes(name, length), .value = string_copy(value)};
}

/* "A=B=value" */
static void push_piece(struct setting_list *list, char *piece)
{
	char *value = strrchr(piece, '=');

	if (!value) {
		struct setting *last = list->count ? &list->items[list->count - 1] : NULL;
		char *joined;

		if (!last)
			return;
		joined = string_format("%s,%s", last->value, piece);
		free(last->value);
		last->value = joined;
		return;
	}
	*value++ = '\0';
	for (char *name = piece; *name;) {
		size_t length;

		name += strspn(name, " \t=");
		length = strcspn(name, " \t=");
		if (length)
			push(list, name, length, value);
		name += length;
	}
}

void setting_list_parse(const char *text, struct setting_list *list)
{
	char *copy = string_copy(text), *rest = copy, *piece;

	*list = (struct setting_list){0};
	while ((piece = strsep(&rest, ",")) != NULL)
		push_piece(list, piece);
	free(copy);
}

void setting_list_copy(const struct setting_list *from, struct setting_list *to)
{
	*to = (struct setting_list){0};
	for (size_t i = 0; i < from->count; i++)
		push(to, from->items[i].name, strlen(from->items[i].name), from->items[i].value);
}

void setting_list_release(struct setting_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].name);
		free(list->items[i].value);
	}
	free(list->items);
	*list = (struct setting_list){0};
}

static struct setting *find(const struct setting_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	return NULL;
}

void setting_list_set(struct setting_list *list, const char *name, int64_t value)
{
	struct setting *found = find(list, name);
	char *text = string_format("%" PRId64, value);

	if (found) {
		free(found->value);
		found->value = text;
		return;
	}
	push(list, name, strlen(name), text);
	free(text);
}

void setting_list_add(struct setting_list *list, const char *name, const char *value)
{
	push(list, name, strlen(name), value);
}

bool setting_list_has(const struct setting_list *list, const char *name)
{
	return find(list, name) != NULL;
}

void setting_list_remove(struct setting_list *list, const char *name)
{
	struct setting *found = find(list, name);

	if (!found)
		return;
	free(found->name);
	free(found->value);
	*found = list->items[--list->count];
}

bool setting_list_integer(const struct setting_list *list, const char *name, int64_t *value)
{
	const struct setting *found = find(list, name);
	char *end;

	if (!found)
		return false;
	errno = 0;
	*value = strtoll(found->value, &end, 10);
	return end != found->value && !*end && errno == 0;
}

char *setting_list_text(const struct setting_list *list)
{
	struct text text = {0};

	for (size_t i = 0; i < list->count; i++)
		text_appendf(
			&text, "%s%s=%s", i ? "," : "", list->items[i].name, list->items[i].value);
	return text_detach(&text);
}
