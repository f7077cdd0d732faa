/* SPDX-License-Identifier: MIT
 *
 * Reads the report that `--ptxas-options=-v` puts into NVRTC's log: registers, spills, stack,
 * barriers and static shared memory of each kernel, and the remarks that become flags. Pure; any
 * text may be given.
 */
#ifndef COMPILE_PTXAS_REPORT_H
#define COMPILE_PTXAS_REPORT_H

#include "compile/compiler.h"

/* Fills the resources of the named entries with what the log says; what it does not say is -1
 * (spills: 0). Spills of functions that an entry calls count for the entry. A remark that names
 * one of the entries flags it alone, any other remark all of them.
 * Lines that are not part of the report (errors, warnings, remarks) are appended to `rest`. */
void ptxas_report_read(
	const char *log, struct compiler_entry *entries, size_t entry_count, struct text *rest);

/* Names a file that gets the whole log of what does not compile. */
#define COMPILER_LOG "TILETUNE_COMPILER_LOG"

/* The useful part of a failed compilation's log: from the first error on, at most 12 lines. */
void ptxas_report_shorten(const char *log, struct text *useful);

#endif
