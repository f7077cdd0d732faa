/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status error_set(struct error *err, enum status status, const char *format, ...)
{
	va_list args;

	if (!err)
		return status;
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	err->status = status;
	err->hint[0] = '\0';
	return status;
}

enum status error_context(struct error *err, const char *format, ...)
{
	char old[sizeof(err->message)];
	va_list args;
	int length;

	if (!err)
		return STATUS_FAILED;
	memcpy(old, err->message, sizeof(old));
	va_start(args, format);
	length = vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	if (length < 0)
		length = 0;
	if ((size_t)length < sizeof(err->message))
		snprintf(err->message + length, sizeof(err->message) - (size_t)length, ": %s", old);
	return err->status;
}

enum status error_hint(struct error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return STATUS_FAILED;
	va_start(args, format);
	vsnprintf(err->hint, sizeof(err->hint), format, args);
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
