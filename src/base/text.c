/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void text_reserve(struct text *text, size_t more)
{
	size_t needed = text->length + more + 1;

	if (needed <= text->capacity)
		return;
	text->capacity = text->capacity ? text->capacity : 64;
	while (text->capacity < needed)
		text->capacity *= 2;
	text->data = memory_resize(text->data, text->capacity, 1);
}

void text_append_bytes(struct text *text, const void *data, size_t size)
{
	text_reserve(text, size);
	if (size)
		memcpy(text->data + text->length, data, size);
	text->length += size;
	text->data[text->length] = '\0';
}

void text_append(struct text *text, const char *string)
{
	text_append_bytes(text, string, strlen(string));
}

void text_append_char(struct text *text, char c)
{
	text_append_bytes(text, &c, 1);
}

void text_append_args(struct text *text, const char *format, va_list args)
{
	va_list again;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		BUG("a format that vsnprintf refuses: %s", format);
	text_reserve(text, (size_t)length);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
	text->length += (size_t)length;
}

void text_appendf(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_append_args(text, format, args);
	va_end(args);
}

void text_clear(struct text *text)
{
	text->length = 0;
	if (text->data)
		text->data[0] = '\0';
}

const char *text_string(const struct text *text)
{
	return text->data ? text->data : "";
}

char *text_detach(struct text *text)
{
	char *data;

	text_reserve(text, 0);
	data = text->data;
	data[text->length] = '\0';
	*text = (struct text){0};
	return data;
}

void text_release(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}
