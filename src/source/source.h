/* SPDX-License-Identifier: MIT
 *
 * Kernel sources with their includes expanded, so that the compiler needs no path and a hash of
 * the text says everything.
 *
 * `#include "x"` is looked for in the folder of the including file, then in each include path of
 * the family, then in each template folder, and stands in once per source; later includes of the
 * same file (cycles too) are empty. `#include <x>` is looked for in the include paths; else it
 * stays, as a header of the toolkit, which the compiler looks up (compile/toolkit.h). Conditions
 * are not looked at: an include inside `#if` is expanded there, once. A link is followed to folders
 * that are searched, and to no others. `#line` directives carry names relative to the template
 * folder
 * ("common/mma.cuh"), never a path of this machine.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "base/error.h"
#include "base/json.h"

/* path: the file; root: the template folder that it is in (a prefix of path); name: what it is
 * called in messages, relative to root; include_paths: folders, NULL-terminated (NULL: none). The
 * caller frees *source. Errors: a missing or unreadable file, an include of something else, an
 * include that leaves its template folder. */
enum status source_expand(const char *root, const char *name, const char *const *template_folders,
	const char *const *include_paths, char **source, struct error *err);

/* folder/include without "." and ".."; NULL if it would leave the folder that all is relative to.
 * The caller frees it. */
char *include_normalized(const char *folder, const char *include);

/* What stands for a program's source in hashes: its command (NULL-terminated), a word a line, with
 * a hash of each that names a file of the JSON file's folder. The caller frees *source. */
enum status source_of_command(
	const char *json_file, const char *const *command, char **source, struct error *err);

/* Where files are that a JSON file names. */
struct source_place {
	const char *root; /* the template folder, or that of an own kernel's file */
	/* below it: the operation's; names begin with it ("gemm/mma.cu"). NULL: an own kernel's,
	 * whose files may lie elsewhere; they keep their names, in any folder */
	const char *folder;
};

/* at: a member that names a file, e.g. "mma.cu". The caller frees *name ("gemm/mma.cu") and
 * *source. */
enum status source_json_load(const struct json_at *at, const struct source_place *place,
	const char *const *template_folders, const char *const *include_paths, char **name,
	char **source, struct error *err);

#endif
