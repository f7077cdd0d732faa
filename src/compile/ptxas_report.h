/* SPDX-License-Identifier: MIT
 *
 * Reads the report that `--ptxas-options=-v` adds to NVRTC's log. Any text may be given.
 */
#ifndef COMPILE_PTXAS_REPORT_H
#define COMPILE_PTXAS_REPORT_H

#include "compile/compiler.h"

/* Sets the resources of the entries. A value that the log lacks is -1, or 0 for spills. Spills of
 * functions that an entry calls count, too. A remark without a name flags all entries. Errors,
 * warnings and remarks are appended to `rest`. */
void ptxas_report_read(
	const char *log, struct compiler_entry *entries, size_t entry_count, struct text *rest);

/* Environment variable with the file for complete logs of failed compilations. */
#define COMPILER_LOG "TILETUNE_COMPILER_LOG"

/* Appends at most 12 lines of the log, from the first error on. */
void ptxas_report_shorten(const char *log, struct text *useful);

#endif
