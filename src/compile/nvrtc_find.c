/* SPDX-License-Identifier: MIT */
#include "compile/nvrtc_find.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

enum {
	GROUP_GIVEN,
	GROUP_HOME,
	GROUP_USUAL,
	MAJOR_OLDEST = 11, /* the first that makes cubins */
	MAJOR_NEWEST = 19, /* asked of the loader; files in folders may be newer */
};

/* Folders below a place where a toolkit, a wheel or a distribution puts libraries. */
static const char *const subfolders[] = {
	"",
	"lib64/",
	"lib/",
	"targets/*/lib/",
	"nvidia/cu*/lib/", /* wheels: nvidia/cu13, nvidia/cuda_nvrtc */
	"site-packages/nvidia/cu*/lib/",
	"lib/python3*/site-packages/nvidia/cu*/lib/",
	"lib/python3*/dist-packages/nvidia/cu*/lib/",
};

/* Places of the system, below system_root. */
static const char *const usual_places[] = {
	"/usr/local/cuda",
	"/usr/local/cuda-*",
	"/opt/cuda",
	"/opt/cuda-*",
	"/opt/nvidia/hpc_sdk/*/*/cuda",
	"/usr/local",
	"/usr",
	"/opt/conda",
};

void nvrtc_search_init(struct nvrtc_search *search, const char *given, int driver_cuda_version)
{
	const char *named = getenv("TILETUNE_NVRTC");

	*search = (struct nvrtc_search){
		.given = given               ? given
			 : named && named[0] ? named
					     : NULL,
		.given_by = given ? "the given path" : "TILETUNE_NVRTC",
		.cuda_home = getenv("CUDA_HOME"),
		.cuda_path = getenv("CUDA_PATH"),
		.virtual_env = getenv("VIRTUAL_ENV"),
		.conda_prefix = getenv("CONDA_PREFIX"),
		.home = getenv("HOME"),
		.system_root = "",
		.loader = true,
		.driver_cuda_version = driver_cuda_version,
	};
}

/* "libnvrtc.so.13.0.88" -> 13, 0; a major alone takes the minor of a folder "cuda-13.0" above. */
static void version_guess(const char *path, int *major, int *minor)
{
	const char *digits = strstr(path_name(path), ".so.");
	const char *folder = path;

	*major = -1;
	*minor = -1;
	if (!digits || sscanf(digits, ".so.%4d.%4d", major, minor) != 1)
		return;
	while ((folder = strstr(folder, "/cuda-"))) {
		int folder_major, folder_minor;

		if (sscanf(folder, "/cuda-%4d.%4d", &folder_major, &folder_minor) == 2 &&
			folder_major == *major)
			*minor = folder_minor;
		folder++;
	}
}

enum add_result {
	ADDED,
	ADD_KNOWN,
	ADD_TOO_NEW,
};

static enum add_result candidate_add(const struct nvrtc_search *search,
	struct nvrtc_candidates *candidates, const char *path, int group)
{
	char *real = realpath(path, NULL);
	struct nvrtc_candidate candidate = {.group = group};

	version_guess(real ? real : path, &candidate.major, &candidate.minor);
	if (candidate.major < 0)
		version_guess(path, &candidate.major, &candidate.minor);
	free(real);
	for (size_t i = 0; i < candidates->count; i++)
		if (file_is_same(candidates->items[i].path, path))
			return ADD_KNOWN;
	if (search->driver_cuda_version && candidate.major > search->driver_cuda_version / 1000)
		return ADD_TOO_NEW;
	candidate.path = string_copy(path);
	ARRAY_GROW(candidates->items, candidates->count, candidates->capacity);
	candidates->items[candidates->count++] = candidate;
	return ADDED;
}

static void append_escaped(struct text *pattern, const char *path)
{
	for (; *path; path++) {
		if (strchr("*?[]\\", *path))
			text_append_char(pattern, '\\');
		text_append_char(pattern, *path);
	}
}

/* Counts what was found below a place (a pattern). */
static void add_below(const struct nvrtc_search *search, struct nvrtc_candidates *candidates,
	const char *place_pattern, int group, size_t *found, size_t *too_new)
{
	for (size_t i = 0; i < ARRAY_COUNT(subfolders); i++) {
		char *pattern =
			string_format("%s/%slibnvrtc.so.[0-9]*", place_pattern, subfolders[i]);
		glob_t files = {0};

		if (glob(pattern, 0, NULL, &files) == 0) {
			for (size_t j = 0; j < files.gl_pathc; j++) {
				const char *path = files.gl_pathv[j];

				if (strstr(path, "/stubs/"))
					continue;
				*too_new += candidate_add(search, candidates, path, group) ==
					    ADD_TOO_NEW;
				++*found;
			}
		}
		globfree(&files);
		free(pattern);
	}
}

/* A place by its pattern; `label` says in messages what it is. */
static void place_add(const struct nvrtc_search *search, struct nvrtc_candidates *candidates,
	const char *label, const char *place_pattern, int group)
{
	size_t found = 0, too_new = 0;
	struct text *places = &candidates->places;

	add_below(search, candidates, place_pattern, group, &found, &too_new);
	text_append(places, label);
	if (!found)
		text_append(places, ": no libnvrtc.so.N\n");
	else if (too_new)
		text_appendf(places, ": %snewer than the driver's CUDA %d.%d\n",
			too_new < found ? "some are " : "", search->driver_cuda_version / 1000,
			search->driver_cuda_version % 1000 / 10);
	else
		text_append(places, ": found\n");
}

/* A folder that a variable names, or does not. */
static void variable_add(const struct nvrtc_search *search, struct nvrtc_candidates *candidates,
	const char *name, const char *folder, const char *below, int group)
{
	struct text pattern = {0};
	char *label;

	if (!folder || folder[0] == '\0') {
		text_appendf(&candidates->places, "%s: not set\n", name);
		return;
	}
	append_escaped(&pattern, folder);
	text_append(&pattern, below);
	label = string_format("%s=%s%s", name, folder, below);
	place_add(search, candidates, label, pattern.data, group);
	free(label);
	text_release(&pattern);
}

static void loader_add(const struct nvrtc_search *search, struct nvrtc_candidates *candidates)
{
	int newest =
		search->driver_cuda_version ? search->driver_cuda_version / 1000 : MAJOR_NEWEST;

	for (int major = newest; major >= MAJOR_OLDEST; major--) {
		char *name =
			string_format(major == 11 ? "libnvrtc.so.%d.2" : "libnvrtc.so.%d", major);

		candidate_add(search, candidates, name, GROUP_USUAL);
		free(name);
	}
	text_appendf(&candidates->places, "the loader's path: libnvrtc.so.%d to libnvrtc.so.%d\n",
		newest, MAJOR_OLDEST);
}

static void given_add(const struct nvrtc_search *search, struct nvrtc_candidates *candidates)
{
	enum add_result added = ADDED;

	if (directory_exists(search->given)) {
		variable_add(search, candidates, search->given_by, search->given, "", GROUP_GIVEN);
		return;
	}
	if (file_exists(search->given) || !strchr(search->given, '/'))
		added = candidate_add(search, candidates, search->given, GROUP_GIVEN);
	else
		added = ADD_KNOWN;
	text_appendf(&candidates->places, "%s=%s: %s\n", search->given_by, search->given,
		added == ADD_KNOWN     ? "not there"
		: added == ADD_TOO_NEW ? "newer than the driver"
				       : "found");
}

static bool better(const struct nvrtc_candidate *a, const struct nvrtc_candidate *b)
{
	if (a->group != b->group)
		return a->group < b->group;
	if (a->major != b->major)
		return a->major > b->major;
	return a->minor > b->minor;
}

/* Stable: equals stay in the order in which they were found. */
static void sort(struct nvrtc_candidates *candidates)
{
	for (size_t i = 1; i < candidates->count; i++) {
		struct nvrtc_candidate moved = candidates->items[i];
		size_t at = i;

		for (; at > 0 && better(&moved, &candidates->items[at - 1]); at--)
			candidates->items[at] = candidates->items[at - 1];
		candidates->items[at] = moved;
	}
}

void nvrtc_find(const struct nvrtc_search *search, struct nvrtc_candidates *candidates)
{
	*candidates = (struct nvrtc_candidates){0};
	if (search->given) {
		given_add(search, candidates);
		sort(candidates);
		return;
	}
	variable_add(search, candidates, "CUDA_HOME", search->cuda_home, "", GROUP_HOME);
	variable_add(search, candidates, "CUDA_PATH", search->cuda_path, "", GROUP_HOME);
	for (size_t i = 0; i < ARRAY_COUNT(usual_places); i++) {
		struct text pattern = {0};

		append_escaped(&pattern, search->system_root);
		text_append(&pattern, usual_places[i]);
		place_add(search, candidates, usual_places[i], pattern.data, GROUP_USUAL);
		text_release(&pattern);
	}
	variable_add(search, candidates, "VIRTUAL_ENV", search->virtual_env, "", GROUP_USUAL);
	variable_add(search, candidates, "CONDA_PREFIX", search->conda_prefix, "", GROUP_USUAL);
	variable_add(search, candidates, "HOME", search->home, "/.local", GROUP_USUAL);
	/* build/cuda, where a build without a toolkit puts NVRTC: beside build/release/tiletune's
	 * folder, above build/release/tests */
	variable_add(search, candidates, "beside the program", search->executable_folder, "/cuda",
		GROUP_USUAL);
	variable_add(search, candidates, "beside the program", search->executable_folder,
		"/../cuda", GROUP_USUAL);
	variable_add(search, candidates, "beside the program", search->executable_folder,
		"/../../cuda", GROUP_USUAL);
	if (search->loader)
		loader_add(search, candidates);
	sort(candidates);
}

void nvrtc_candidates_release(struct nvrtc_candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		free(candidates->items[i].path);
	free(candidates->items);
	text_release(&candidates->places);
	*candidates = (struct nvrtc_candidates){0};
}
