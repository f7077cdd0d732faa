/* SPDX-License-Identifier: MIT
 *
 * Finds places where NVRTC may be: lists candidates, best first, and all places that were
 * searched. Nothing is loaded here, because a damaged library must not harm this process; a
 * worker process loads it. README.md of this folder lists the places and their order. Only
 * versioned names (libnvrtc.so.13) count, and folders called `stubs` are ignored.
 */
#ifndef COMPILE_NVRTC_FIND_H
#define COMPILE_NVRTC_FIND_H

#include <glob.h>
#include <stdbool.h>

#include "base/text.h"

/* Folders of NVIDIA's wheels, as a pattern below a folder with Python packages. */
#define CUDA_WHEELS "/lib/python3*/{site,dist}-packages/nvidia/cu*"

/* Finds the paths that match the pattern `below` (GLOB_BRACE), which begins with "/" or is empty,
 * in a folder. The folder's name is taken literally. Returns false if there are none. The caller
 * calls globfree(). */
bool glob_below(const char *folder, const char *below, glob_t *found);

/* The inputs of the search. Strings are borrowed, and NULL if not set. */
struct nvrtc_search {
	const char *given; /* a file, a folder, or a name for the dynamic loader */
	const char *cuda_home, *cuda_path;
	const char *virtual_env, *conda_prefix;
	const char *executable_folder;
	const char *system_root; /* "": the real root; tests put their own folder in front */
	bool loader;             /* whether to ask the dynamic loader */
	int driver_cuda_version; /* 13000 for 13.0; 0: no driver, hence no limit */
};

struct nvrtc_candidate {
	char *path;       /* a file, or a bare name for the dynamic loader */
	int group;        /* 1 to 4: row of the table in README.md */
	int major, minor; /* -1: not known */
};

struct nvrtc_candidates {
	struct nvrtc_candidate *items;
	size_t count, capacity;
	struct text places; /* one line for each place that was searched */
};

/* Returns the search for this process's environment; see struct nvrtc_search for the arguments. */
struct nvrtc_search nvrtc_search(
	const char *given, int driver_cuda_version, const char *executable_folder);
void nvrtc_find(const struct nvrtc_search *search, struct nvrtc_candidates *candidates);
void nvrtc_candidates_release(struct nvrtc_candidates *candidates);

#endif
