/* SPDX-License-Identifier: MIT
 *
 * Statuses and error messages of functions that can fail.
 *
 * A status is the exit code that the program ends with if no caller handles it. A function that can
 * fail returns one, takes `struct error *err` last, and fills it only on failure. Callers add their
 * context with error_context().
 *
 * 	if (file_read(path, &text, err) != STATUS_OK)
 * 		return error_context(err, "reading the baseline");
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>

enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,       /* an operation failed */
	STATUS_BAD_INPUT = 2,    /* wrong usage, file or value */
	STATUS_REGRESSION = 3,   /* `check` found a slower kernel */
	STATUS_INCONCLUSIVE = 4, /* `check` or a prediction could not decide */
	STATUS_NO_DEVICE = 5,    /* no device, driver or compiler; device busy or lost */
	STATUS_INTERRUPTED = 130,
};

/* Returns the call's status from the enclosing function unless it is STATUS_OK. CLEANUP()
 * (base/memory.h) releases what the function owns. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		enum status try_status = (call);                                                   \
                                                                                                   \
		if (try_status != STATUS_OK)                                                       \
			return try_status;                                                         \
	} while (0)

struct error {
	enum status status;
	char message[2048]; /* "where: what is wrong" */
	char hint[512];     /* how to fix the problem, or empty */
};

#define PRINTF_LIKE(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

/* Sets status and message, clears the hint, and returns status. err may be NULL. */
enum status error_set(struct error *err, enum status status, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* Prefixes the message with "text: ". Returns err's status, or STATUS_FAILED if err is NULL. */
enum status error_context(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Appends text and keeps its line breaks, e.g. of a compiler's log. Elsewhere a %s becomes one
 * line. */
enum status error_lines(struct error *err, const char *lines);

enum status error_hint(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Reports a bug and aborts. */
#define BUG(...) error_bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void error_bug(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
