/* SPDX-License-Identifier: MIT
 *
 * Errors: what a function that can fail returns, and what it says.
 *
 * A status is the exit code that the program would end with if no caller handled it. A function
 * that can fail returns one and takes `struct error *err` last; it fills err only on failure.
 * Callers add where they were with error_context(). Three things are never mixed: a bug
 * (BUG(), aborts with file and line), an error (this), and an outcome of a candidate (data).
 *
 *	if (file_read(path, &text, err) != STATUS_OK)
 *		return error_context(err, "reading the baseline");
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>

enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,       /* something went wrong while working */
	STATUS_BAD_INPUT = 2,    /* usage, or a file or value that we were given */
	STATUS_REGRESSION = 3,   /* `check` found something slower */
	STATUS_INCONCLUSIVE = 4, /* `check`, or a prediction, could not tell */
	STATUS_NO_DEVICE = 5,    /* no device, no driver, no compiler, device busy or lost */
	STATUS_INTERRUPTED = 130,
};

/* Ends the function that it stands in with the call's status, unless that is STATUS_OK. What the
 * function owns must then be released by CLEANUP() (base/memory.h). */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		enum status try_status = (call);                                                   \
                                                                                                   \
		if (try_status != STATUS_OK)                                                       \
			return try_status;                                                         \
	} while (0)

struct error {
	enum status status;
	char message[2048]; /* "where: what was expected, what was found" */
	char hint[512];     /* the remedy; empty if none is known */
};

#define PRINTF_LIKE(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

/* Sets status and message, clears the hint; returns status. err may be NULL. */
enum status error_set(struct error *err, enum status status, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* Adds "text: " in front of the message; returns err's status (STATUS_FAILED if err is NULL). */
enum status error_context(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Adds text whose lines stay lines, as a compiler's log; returns err's status (STATUS_FAILED if err
 * is NULL). What the others above and below bring by %s becomes one line. */
enum status error_lines(struct error *err, const char *lines);

/* Sets the hint; returns err's status (STATUS_FAILED if err is NULL). */
enum status error_hint(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* A bug of ours: prints file, line and text to stderr, aborts. */
#define BUG(...) error_bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void error_bug(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
