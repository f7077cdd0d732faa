/* SPDX-License-Identifier: MIT
 *
 * Expands the includes of kernel sources, so that the compiler needs no include path and a hash of
 * the text identifies the source.
 *
 * `#include "x"` is looked for in the folder of the including file, then in each include path of
 * the family, then in each template folder, and is expanded once per source. Later includes of the
 * same file, also in cycles, are empty. `#include <x>` is looked for in the include paths; else it
 * stays, as a header of the toolkit, which the compiler looks up (compile/toolkit.h). Conditions
 * are ignored: an include inside `#if` is expanded at that place, once. Symbolic links may lead
 * only into folders that are searched. `#line` directives carry names relative to the template
 * folder ("common/mma.cuh"), never a path of this machine.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "base/error.h"
#include "base/json.h"

/* Expands the file `path`. root is its template folder, a prefix of path; name is the file's name
 * in messages, relative to root; include_paths is NULL-terminated or NULL. The caller frees
 * *source. Errors: a missing or unreadable file, an unsupported #include, an include that leaves
 * its template folder. */
enum status source_expand(const char *root, const char *name, const char *const *template_folders,
	const char *const *include_paths, char **source, struct error *err);

/* Returns folder/include without "." and "..", or NULL if the path would leave the root folder. The
 * caller frees it. */
char *include_normalized(const char *folder, const char *include);

/* Returns the text that represents a program in hashes: the words of its command (NULL-terminated)
 * on separate lines, with a content hash for each word that names a file in the folder of the JSON
 * file. The caller frees *source. */
enum status source_of_command(
	const char *json_file, const char *const *command, char **source, struct error *err);

/* Folders of the files that a JSON file names. */
struct source_place {
	const char *root; /* the template folder, or the folder of an own kernel's file */
	/* The operation's folder below root, with which names begin ("gemm/mma.cu"). NULL for an
	 * own kernel, whose files keep their names and may be in any folder. */
	const char *folder;
};

/* `at` is a member that names a file, e.g. "mma.cu". The caller frees *name ("gemm/mma.cu") and
 * *source. */
enum status source_json_load(const struct json_at *at, const struct source_place *place,
	const char *const *template_folders, const char *const *include_paths, char **name,
	char **source, struct error *err);

#endif
