/* SPDX-License-Identifier: MIT */
#include "compile/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void wire_put_u64(struct text *text, uint64_t value)
{
	text_append_bytes(text, &value, sizeof(value));
}

void wire_put_bytes(struct text *text, const void *data, size_t size)
{
	wire_put_u64(text, size);
	if (size)
		text_append_bytes(text, data, size);
}

void wire_put_string(struct text *text, const char *string)
{
	wire_put_bytes(text, string, strlen(string));
}

void wire_put_strings(struct text *text, char *const *strings, size_t count)
{
	wire_put_u64(text, count);
	for (size_t i = 0; i < count; i++)
		wire_put_string(text, strings[i]);
}

static void give_up(struct wire_reader *reader)
{
	reader->bad = true;
	reader->left = 0;
}

uint64_t wire_get_u64(struct wire_reader *reader)
{
	uint64_t value = 0;

	if (reader->left < sizeof(value)) {
		give_up(reader);
		return 0;
	}
	memcpy(&value, reader->at, sizeof(value));
	reader->at += sizeof(value);
	reader->left -= sizeof(value);
	return value;
}

const char *wire_get_bytes(struct wire_reader *reader, size_t *size)
{
	uint64_t length = wire_get_u64(reader);
	const char *bytes = reader->at;

	if (length > reader->left) {
		give_up(reader);
		length = 0;
	}
	*size = (size_t)length;
	if (!length)
		return "";
	reader->at += length;
	reader->left -= (size_t)length;
	return bytes;
}

char *wire_get_string(struct wire_reader *reader)
{
	size_t size;
	const char *bytes = wire_get_bytes(reader, &size);

	if (memchr(bytes, '\0', size)) {
		give_up(reader);
		size = 0;
	}
	return string_copy_bytes(bytes, size);
}

size_t wire_get_count(struct wire_reader *reader, size_t smallest)
{
	uint64_t count = wire_get_u64(reader);

	if (count > reader->left / smallest) {
		give_up(reader);
		count = 0;
	}
	return (size_t)count;
}

char **wire_get_strings(struct wire_reader *reader, size_t *count)
{
	char **strings;

	*count = wire_get_count(reader, sizeof(uint64_t));
	strings = memory_zeroed(*count + 1, sizeof(*strings));
	for (size_t i = 0; i < *count; i++)
		strings[i] = wire_get_string(reader);
	return strings;
}

void wire_strings_free(char **strings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(strings[i]);
	free(strings);
}
