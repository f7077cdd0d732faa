/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format_text.h"
#include "base/memory.h"

/* Strings come from files: each %s becomes one line without control characters. */
static void fill(char *buffer, size_t size, const char *format, va_list args)
{
	CLEANUP(text_release) struct text shown = {0};

	format_put_args(&shown, format_shown, format, args);
	string_put(buffer, size, text_string(&shown));
}

enum status error_set(struct error *err, enum status status, const char *format, ...)
{
	va_list args;

	if (!err)
		return status;
	va_start(args, format);
	fill(err->message, sizeof(err->message), format, args);
	va_end(args);
	err->status = status;
	err->hint[0] = '\0';
	return status;
}

enum status error_context(struct error *err, const char *format, ...)
{
	char old[sizeof(err->message)];
	va_list args;
	size_t length;

	if (!err)
		return STATUS_FAILED;
	memcpy(old, err->message, sizeof(old));
	va_start(args, format);
	fill(err->message, sizeof(err->message), format, args);
	va_end(args);
	length = strlen(err->message);
	snprintf(err->message + length, sizeof(err->message) - length, ": %s", old);
	return err->status;
}

enum status error_lines(struct error *err, const char *lines)
{
	const size_t length = err ? strlen(err->message) : 0;

	if (!err)
		return STATUS_FAILED;
	string_put(err->message + length, sizeof(err->message) - length, lines);
	return err->status;
}

enum status error_hint(struct error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return STATUS_FAILED;
	va_start(args, format);
	fill(err->hint, sizeof(err->hint), format, args);
	va_end(args);
	return err->status;
}

void error_bug(const char *file, int line, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "tiletune: bug at %s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}
