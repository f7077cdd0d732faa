/* SPDX-License-Identifier: MIT */
#include "compile/nvrtc_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

enum {
	GROUP_GIVEN = 1,
	GROUP_HOME,
	GROUP_NEAR,
	GROUP_USUAL,
	RANKS_OF_GROUP = 100000,
	MAJOR_OLDEST = 11, /* the first version that produces cubins */
	/* newest name tried with the dynamic loader; files in folders may be newer */
	MAJOR_NEWEST = 19,
};

/* Patterns below a toolkit, a folder with Python packages, and the program's folder. */
#define TOOLKIT "/{lib64/,lib/,targets/*/lib/,}libnvrtc.so.[0-9]*"
#define WHEELS  CUDA_WHEELS "/lib/libnvrtc.so.[0-9]*"
#define BUILD   "/{../,../../}cuda/{lib,nvidia/cu*/lib}/libnvrtc.so.[0-9]*"

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

struct nvrtc_search nvrtc_search(
	const char *given, int driver_cuda_version, const char *executable_folder)
{
	return (struct nvrtc_search){
		.given = given ? given : variable("TILETUNE_NVRTC"),
		.cuda_home = variable("CUDA_HOME"),
		.cuda_path = variable("CUDA_PATH"),
		.virtual_env = variable("VIRTUAL_ENV"),
		.conda_prefix = variable("CONDA_PREFIX"),
		.executable_folder = executable_folder,
		.system_root = "",
		.loader = true,
		.driver_cuda_version = driver_cuda_version,
	};
}

/* Reads the version from "libnvrtc.so.13.0.88", or the minor version from a folder "cuda-13.0". */
static void version_of(const char *path, int *major, int *minor)
{
	CLEANUP(memory_free) char *real = realpath(path, NULL);
	const char *digits = strstr(path_name(real ? real : path), ".so.");
	const char *folder = real ? strstr(real, "/cuda-") : NULL;

	*major = *minor = -1;
	if (digits && sscanf(digits, ".so.%4d.%4d", major, minor) == 1 && folder)
		sscanf(folder, "/cuda-%*d.%4d", minor);
}

static void candidate_add(const struct nvrtc_search *search, struct nvrtc_candidates *candidates,
	const char *path, int group)
{
	size_t at;
	int major, minor, rank;

	for (size_t i = 0; i < candidates->count; i++)
		if (file_is_same(candidates->items[i].path, path))
			return;
	if (strstr(path, "/stubs/"))
		return;
	version_of(path, &major, &minor);
	if (search->driver_cuda_version && major > search->driver_cuda_version / 1000) {
		text_appendf(&candidates->places, "%s: newer than the driver's CUDA %d.%d\n", path,
			search->driver_cuda_version / 1000,
			search->driver_cuda_version % 1000 / 10);
		return;
	}
	ARRAY_GROW(candidates->items, candidates->count, candidates->capacity);
	rank = RANKS_OF_GROUP * group - 100 * major - minor;
	for (at = candidates->count++; at > 0 && rank < candidates->items[at - 1].rank; at--)
		candidates->items[at] = candidates->items[at - 1];
	candidates->items[at] = (struct nvrtc_candidate){string_copy(path), rank};
}

bool glob_below(const char *folder, const char *below, glob_t *found)
{
	CLEANUP(text_release) struct text pattern = {0};

	for (const char *c = folder; *c; c++) {
		if (strchr("*?[]\\{},", *c))
			text_append_char(&pattern, '\\');
		text_append_char(&pattern, *c);
	}
	text_append(&pattern, below);
	return glob(text_string(&pattern), GLOB_BRACE, NULL, found) == 0;
}

static void add_below(const struct nvrtc_search *search, struct nvrtc_candidates *candidates,
	const char *folder, const char *below, int group)
{
	glob_t files = {0};

	if (!folder)
		return;
	text_appendf(&candidates->places, "%s%s\n", folder, below);
	if (glob_below(folder, below, &files))
		for (size_t i = 0; i < files.gl_pathc; i++)
			candidate_add(search, candidates, files.gl_pathv[i], group);
	globfree(&files);
}

static void add_loader(const struct nvrtc_search *search, struct nvrtc_candidates *candidates)
{
	const int newest =
		search->driver_cuda_version ? search->driver_cuda_version / 1000 : MAJOR_NEWEST;

	for (int major = newest; major >= MAJOR_OLDEST; major--) {
		CLEANUP(memory_free)
		char *name = string_format(
			major == MAJOR_OLDEST ? "libnvrtc.so.%d.2" : "libnvrtc.so.%d", major);

		candidate_add(search, candidates, name, GROUP_USUAL);
	}
	text_appendf(&candidates->places, "the loader's path: libnvrtc.so.%d to libnvrtc.so.%d\n",
		newest, MAJOR_OLDEST);
}

static void add_given(const struct nvrtc_search *search, struct nvrtc_candidates *candidates)
{
	if (directory_exists(search->given))
		add_below(search, candidates, search->given, TOOLKIT, GROUP_GIVEN);
	else if (file_exists(search->given) || !strchr(search->given, '/'))
		candidate_add(search, candidates, search->given, GROUP_GIVEN);
	else
		text_appendf(&candidates->places,
			"%s (from --nvrtc or TILETUNE_NVRTC): there is no such file\n",
			search->given);
}

void nvrtc_find(const struct nvrtc_search *search, struct nvrtc_candidates *candidates)
{
	const struct {
		const char *folder, *below;
		int group;
	} places[] = {
		{search->cuda_home, TOOLKIT, GROUP_HOME},
		{search->cuda_path, TOOLKIT, GROUP_HOME},
		/* wheels next to a bin/tiletune that pip installed */
		{search->executable_folder, "/.." WHEELS, GROUP_NEAR},
		{search->system_root, "/usr/local/{cuda,cuda-*}" TOOLKIT, GROUP_USUAL},
		{search->virtual_env, WHEELS, GROUP_USUAL},
		{search->conda_prefix, TOOLKIT, GROUP_USUAL},
		{search->conda_prefix, WHEELS, GROUP_USUAL},
		/* build/cuda of a checkout */
		{search->executable_folder, BUILD, GROUP_USUAL},
	};

	*candidates = (struct nvrtc_candidates){0};
	if (search->given) {
		add_given(search, candidates);
	} else {
		for (size_t i = 0; i < ARRAY_COUNT(places); i++)
			add_below(search, candidates, places[i].folder, places[i].below,
				places[i].group);
		if (search->loader)
			add_loader(search, candidates);
	}
}

void nvrtc_candidates_release(struct nvrtc_candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		free(candidates->items[i].path);
	free(candidates->items);
	text_release(&candidates->places);
	*candidates = (struct nvrtc_candidates){0};
}
