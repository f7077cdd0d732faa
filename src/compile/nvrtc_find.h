/* SPDX-License-Identifier: MIT
 *
 * Where NVRTC may be. Lists candidates, best first, and the places that were looked at; loads
 * nothing (a worker process does, so that a damaged library cannot harm us). README.md of this
 * folder has the places and their order. Only versioned names (libnvrtc.so.13), never a folder
 * called `stubs`.
 */
#ifndef COMPILE_NVRTC_FIND_H
#define COMPILE_NVRTC_FIND_H

#include <stdbool.h>

#include "base/text.h"

/* What the search depends on; strings are borrowed, NULL where not set. */
struct nvrtc_search {
	const char *given; /* file, folder, or a name for the loader */
	const char *cuda_home, *cuda_path;
	const char *virtual_env, *conda_prefix;
	const char *executable_folder;
	const char *system_root; /* "": the real one; tests put a folder of their own in front */
	bool loader;             /* also the loader's path */
	int driver_cuda_version; /* 13000 for 13.0; 0: no driver, no limit */
};

struct nvrtc_candidate {
	char *path;       /* a file, or a bare name for the loader */
	int group;        /* 1 to 4, a row of README.md's table */
	int major, minor; /* -1: not known */
};

struct nvrtc_candidates {
	struct nvrtc_candidate *items;
	size_t count, capacity;
	struct text places; /* one line for each place that was looked at */
};

/* The search that this process's environment asks for; executable_folder: as above. */
struct nvrtc_search nvrtc_search(
	const char *given, int driver_cuda_version, const char *executable_folder);
void nvrtc_find(const struct nvrtc_search *search, struct nvrtc_candidates *candidates);
void nvrtc_candidates_release(struct nvrtc_candidates *candidates);

#endif
