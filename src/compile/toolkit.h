/* SPDX-License-Identifier: MIT
 *
 * Headers of the CUDA toolkit, which the compiler reads itself, and stand-ins for host headers
 * that kernel sources include. All other includes are expanded beforehand (source/source.h).
 */
#ifndef COMPILE_TOOLKIT_H
#define COMPILE_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"

enum {
	TOOLKIT_FOLDERS_MAX = 3
};

struct toolkit {
	char *folders[TOOLKIT_FOLDERS_MAX]; /* include folders; CUDA 13 has a separate one for CCCL
					     */
	size_t folder_count;                /* 0: no toolkit found */
	char hash[HASH_SIZE];               /* "": not computed yet */
};

/* Finds the toolkit of the library; without one, the toolkit that CUDA_HOME or CUDA_PATH names;
 * else one in a usual place. */
void toolkit_find(const char *library_path, struct toolkit *toolkit);
void toolkit_release(struct toolkit *toolkit);
/* Returns whether an expanded source includes any header of the toolkit. */
bool toolkit_is_included(const char *source);
/* A hash that differs between releases and between installations with other files. The first
 * call reads the folders. */
const char *toolkit_hash(struct toolkit *toolkit);

/* ---- src/compile/headers ---- */
extern const char *const toolkit_stand_in_texts[]; /* contents of the files, NULL-terminated */

struct stand_ins {
	char **names, **texts;
	size_t count;
};
struct stand_ins toolkit_stand_ins(void);
void stand_ins_release(struct stand_ins *all);

/* The header that every source includes first, as nvcc does, and the text of the stand-in for
 * it. */
#define TOOLKIT_PRELUDE "cuda_runtime.h"
const char *toolkit_prelude(void);

#endif
