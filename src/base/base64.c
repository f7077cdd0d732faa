/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_append(struct text *text, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i += 3) {
		const size_t left = size - i;
		const unsigned bits = (unsigned)bytes[i] << 16 |
				      (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
				      (left > 2 ? bytes[i + 2] : 0);
		const char four[] = {digits[bits >> 18], digits[bits >> 12 & 63],
			left > 1 ? digits[bits >> 6 & 63] : '=',
			left > 2 ? digits[bits & 63] : '='};

		text_append_bytes(text, four, sizeof(four));
	}
}

bool base64_decode(const char *string, struct text *bytes)
{
	signed char values[256];
	const size_t length = strlen(string);

	memset(values, -1, sizeof(values));
	for (int i = 0; i < 64; i++)
		values[(unsigned char)digits[i]] = (signed char)i;
	if (length % 4)
		return false;
	for (size_t i = 0; i < length; i += 4) {
		const size_t padding =
			i + 4 < length || string[i + 3] != '=' ? 0 : 1 + (string[i + 2] == '=');
		unsigned bits = 0;
		char three[3];

		for (size_t k = 0; k < 4; k++) {
			const int value =
				k < 4 - padding ? values[(unsigned char)string[i + k]] : 0;

			if (value < 0)
				return false;
			bits = bits << 6 | (unsigned)value;
		}
		if (bits & ((1u << 8 * padding) - 1))
			return false;
		for (int k = 0; k < 3; k++)
			three[k] = (char)(bits >> (16 - 8 * k));
		text_append_bytes(bytes, three, 3 - padding);
	}
	return true;
}
