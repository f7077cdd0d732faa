/* SPDX-License-Identifier: MIT
 *
 * Headers of the CUDA toolkit, in memory: NVRTC gets those that a source includes and opens no file
 * itself. A set is all headers that a source reaches, whatever conditions say; every include in
 * them is rewritten to the name under which NVRTC knows the file. One of a file that is not there
 * becomes an #error, which counts where the compiler gets to it. Host headers that kernels include
 * for nothing (stdio.h, cuda_runtime.h) are answered from here: with the types and limits that they
 * would bring.
 */
#ifndef COMPILE_HEADERS_H
#define COMPILE_HEADERS_H

#include "base/hash.h"
#include "base/text.h"

struct headers;

/* folders: where headers are, the first wins (copied; NULL-terminated). Files are read when they
 * are asked for, once. */
struct headers *headers_new(char *const *folders);
void headers_free(struct headers *headers); /* NULL is fine */

struct header_set {
	const char **names, **texts; /* borrowed from the headers */
	size_t count;
	char *source;         /* rewritten; NULL: it includes nothing */
	char hash[HASH_SIZE]; /* of names and texts; "" where there are none */
};

/* All that the source reaches. Computed once for a text: borrowed. */
const struct header_set *headers_of(struct headers *headers, const char *source);

/* Folders with the headers that belong to an NVRTC, found from where it lies, else by CUDA_HOME,
 * CUDA_PATH and in the usual places; NULL-terminated, maybe empty. The caller frees all. */
char **headers_find(const char *library_path);

#endif
