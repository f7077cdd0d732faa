/* SPDX-License-Identifier: MIT
 *
 * The headers of the CUDA toolkit, which the compiler reads itself, and stand-ins for headers of
 * the host that kernels' sources include. All other includes are expanded before (source/source.h).
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
	char *folders[TOOLKIT_FOLDERS_MAX]; /* of includes; CUDA 13 keeps CCCL apart */
	size_t folder_count;                /* 0: no toolkit was found */
	char hash[HASH_SIZE];               /* "": not asked for yet */
};

/* That of the library, else the one that CUDA_HOME or CUDA_PATH names, else a usual place's. */
void toolkit_find(const char *library_path, struct toolkit *toolkit);
void toolkit_release(struct toolkit *toolkit);
/* Whether an expanded source includes any of it. */
bool toolkit_is_included(const char *source);
/* Another release or installation of other files has another hash. The first call reads folders. */
const char *toolkit_hash(struct toolkit *toolkit);

/* ---- src/compile/headers ---- */
extern const char *const toolkit_stand_in_texts[]; /* as files, NULL-ended */

struct stand_ins {
	char **names, **texts;
	size_t count;
};
struct stand_ins toolkit_stand_ins(void);
void stand_ins_release(struct stand_ins *all);

/* What every source begins with, as nvcc includes it; and the text of that file. */
#define TOOLKIT_PRELUDE "cuda_runtime.h"
const char *toolkit_prelude(void);

#endif
