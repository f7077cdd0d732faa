/* SPDX-License-Identifier: MIT
 *
 * Headers of the CUDA toolkit, which the compiler reads itself, and stand-ins for missing headers.
 * Includes of the source's own files are expanded beforehand (source/source.h).
 */
#ifndef COMPILE_TOOLKIT_H
#define COMPILE_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"

enum {
	TOOLKIT_FOLDERS_MAX = 4
};

struct toolkit {
	char *folders[TOOLKIT_FOLDERS_MAX]; /* CCCL and cuRAND may have separate folders */
	size_t folder_count;                /* 0 if no toolkit was found */
	char hash[HASH_SIZE];               /* "" if not computed yet */
};

/* Finds the toolkit that contains the library, else that of CUDA_HOME or CUDA_PATH, else one in a
 * usual place. */
void toolkit_find(const char *library_path, struct toolkit *toolkit);
void toolkit_release(struct toolkit *toolkit);
/* Returns the header number `index` that a source uses without an include, as with nvcc, or NULL. A
 * header may occur twice. */
const char *toolkit_implied(const char *source, size_t index);
/* Returns whether an expanded source includes or implies any header. */
bool toolkit_is_included(const char *source);
/* Returns a hash that differs between releases, and between installations with different files. */
const char *toolkit_hash(struct toolkit *toolkit);

/* ---- src/compile/headers ---- */
extern const char *const toolkit_stand_in_texts[]; /* NULL-terminated contents of the files */

struct stand_ins {
	char **names, **texts;
	size_t count;
};
/* Returns the stand-ins for headers that the toolkit, which may be NULL, lacks. */
struct stand_ins toolkit_stand_ins(const struct toolkit *toolkit);
void stand_ins_add(struct stand_ins *all, const char *name, const char *text);
void stand_ins_release(struct stand_ins *all);

/* The header that every source includes first, as with nvcc, and the text of its stand-in. */
#define TOOLKIT_PRELUDE "cuda_runtime.h"
const char *toolkit_prelude(void);

#endif
