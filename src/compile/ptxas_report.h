/* SPDX-License-Identifier: MIT
 *
 * Reads the report that `--ptxas-options=-v` adds to NVRTC's log: registers, spills, stack,
 * barriers and static shared memory of each kernel, and remarks that become flags. Any text may
 * be given.
 */
#ifndef COMPILE_PTXAS_REPORT_H
#define COMPILE_PTXAS_REPORT_H

#include "compile/compiler.h"

/* Fills in the resources of the named entries. Values that the log lacks are -1 (spills: 0).
 * Spills of functions that an entry calls count for the entry. A remark that names an entry
 * flags only this entry; other remarks flag all entries. Lines outside the report (errors,
 * warnings, remarks) are appended to `rest`. */
void ptxas_report_read(
	const char *log, struct compiler_entry *entries, size_t entry_count, struct text *rest);

/* Environment variable that names a file for the complete log of failed compilations. */
#define COMPILER_LOG "TILETUNE_COMPILER_LOG"

/* Extracts the useful part of a failed compilation's log: at most 12 lines from the first error
 * on. */
void ptxas_report_shorten(const char *log, struct text *useful);

#endif
