/* SPDX-License-Identifier: MIT
 *
 * Expands the includes of kernel sources, so that a hash of the text identifies the source.
 *
 * `#include "x"` is searched for in the folder of the including file, in each include path of the
 * family, then in each template folder. `#include <x>` is searched for only in the include paths,
 * else left to the compiler (compile/toolkit.h). A file is expanded only once, even inside `#if`.
 * Symbolic links may lead only into folders that are searched. `#line` directives have names below
 * the template folder ("common/mma.cuh"), never a path of this machine.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "base/error.h"
#include "base/json.h"

/* Expands the file `name` of the folder `root`. include_paths is NULL-terminated or NULL. The
 * caller frees *source. Errors: a file that cannot be read, an unsupported #include, an include
 * that leaves its folder. */
enum status source_expand(const char *root, const char *name, const char *const *template_folders,
	const char *const *include_paths, char **source, struct error *err);

/* Returns folder/include without "." and "..", or NULL if it leaves the root. The caller frees it.
 */
char *include_normalized(const char *folder, const char *include);

/* Makes a text that represents a program in hashes: the words of its NULL-terminated command, with
 * hashes of the files in the JSON's folder that the words name. The caller frees *source. */
enum status source_of_command(
	const char *json_file, const char *const *command, char **source, struct error *err);

/* Folders of the files that a JSON file names. */
struct source_place {
	const char *root; /* the template folder, or the folder of an own kernel's file */
	/* folder below root with which names begin ("gemm/mma.cu"); NULL for an own kernel, whose
	 * files may be in any folder */
	const char *folder;
};

/* `at` is a member that names a file, e.g. "mma.cu". The caller frees *name ("gemm/mma.cu") and
 * *source. */
enum status source_json_load(const struct json_at *at, const struct source_place *place,
	const char *const *template_folders, const char *const *include_paths, char **name,
	char **source, struct error *err);

#endif
