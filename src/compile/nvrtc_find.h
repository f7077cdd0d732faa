/* SPDX-License-Identifier: MIT
 *
 * Lists files that may be NVRTC, best first, in the places of README.md. Only versioned names
 * (libnvrtc.so.13) count. No file is loaded, because a damaged library must not harm this process.
 */
#ifndef COMPILE_NVRTC_FIND_H
#define COMPILE_NVRTC_FIND_H

#include <glob.h>
#include <stdbool.h>

#include "base/text.h"

/* Pattern of NVIDIA's wheels below a Python environment. */
#define CUDA_WHEELS "/lib/python3*/{site,dist}-packages/nvidia/cu*"

/* Finds the paths that match a pattern (GLOB_BRACE) below a folder, whose name is literal. Returns
 * false if there are none. The caller calls globfree(). */
bool glob_below(const char *folder, const char *below, glob_t *found);

/* Strings are borrowed, and NULL if not set. */
struct nvrtc_search {
	const char *given; /* a file, a folder, or a name for the dynamic loader */
	const char *cuda_home, *cuda_path;
	const char *virtual_env, *conda_prefix;
	const char *executable_folder;
	const char *system_root; /* "" except in tests */
	bool loader;
	int driver_cuda_version; /* 13000 for 13.0; 0 sets no limit */
};

struct nvrtc_candidate {
	char *path; /* a file, or a bare name for the dynamic loader */
	int rank;   /* row of the table in README.md, then version; lower is better */
};

struct nvrtc_candidates {
	struct nvrtc_candidate *items;
	size_t count, capacity;
	struct text places;
};

struct nvrtc_search nvrtc_search(
	const char *given, int driver_cuda_version, const char *executable_folder);
void nvrtc_find(const struct nvrtc_search *search, struct nvrtc_candidates *candidates);
void nvrtc_candidates_release(struct nvrtc_candidates *candidates);

#endif
