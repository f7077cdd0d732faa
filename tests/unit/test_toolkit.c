/* SPDX-License-Identifier: MIT
 *
 * Which toolkit's headers the compiler gets, what tells one toolkit from another, and what a
 * process can read once it closed itself in.
 */
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "compile/sandbox.h"
#include "compile/toolkit.h"
#include "unit/compile_folder.h"

TEST(test_find)
{
	char *folder = folder_new(), *library = folder_put(folder, "lib64/libnvrtc.so.13", "x");
	struct toolkit toolkit;

	free(folder_put(folder, "include/cuda_fp16.h", ""));
	free(folder_put(folder, "include/cccl/cub/cub.cuh", ""));
	toolkit_find(library, &toolkit);
	assert_int_equal(toolkit.folder_count, 2);
	assert_true(string_starts_with(toolkit.folders[0], folder));
	assert_true(string_ends_with(toolkit.folders[0], "/include"));
	assert_true(string_ends_with(toolkit.folders[1], "/include/cccl"));
	toolkit_release(&toolkit);
	free(library);
	folder_remove(folder);
}

static char *hash_of(const char *library)
{
	struct toolkit toolkit;
	char *hash;

	toolkit_find(library, &toolkit);
	hash = string_copy(toolkit_hash(&toolkit));
	assert_string_equal(toolkit_hash(&toolkit), hash);
	toolkit_release(&toolkit);
	return hash;
}

/* Each change is seen, and the same files elsewhere are the same toolkit. */
TEST(test_hash)
{
	static const char *const changes[][2] = {
		{"version.json", "{\"cuda\": \"13.0.1\"}"},
		{"include/cuda_fp16.h", "#define A 2\n"},
		{"include/cub/version.cuh", "#define CUB_VERSION 300002\n"},
		{"include/crt/deep/mma.hpp", "int longer;\n"},
		{"include/new.h", ""},
	};
	char *folders[2], *libraries[2], *hash, *before;

	for (int i = 0; i < 2; i++) {
		folders[i] = folder_new();
		libraries[i] = folder_put(folders[i], "lib64/libnvrtc.so.13", "x");
		free(folder_put(folders[i], "version.json", "{\"cuda\": \"13.0.0\"}"));
		free(folder_put(folders[i], "include/cuda_fp16.h", "#define A 1\n"));
		free(folder_put(
			folders[i], "include/cub/version.cuh", "#define CUB_VERSION 300001\n"));
		free(folder_put(folders[i], "include/crt/deep/mma.hpp", "int x;\n"));
	}
	before = hash_of(libraries[0]);
	hash = hash_of(libraries[1]);
	assert_string_equal(hash, before);
	for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
		free(hash);
		free(folder_put(folders[0], changes[i][0], changes[i][1]));
		hash = hash_of(libraries[0]);
		if (strcmp(hash, before) == 0)
			fail_msg("%s changed and the hash did not", changes[i][0]);
		free(before);
		before = string_copy(hash);
	}
	free(hash);
	free(before);
	for (int i = 0; i < 2; i++) {
		free(libraries[i]);
		folder_remove(folders[i]);
	}
}

static const char *stand_in(const struct stand_ins *all, const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->names[i], name) == 0) {
			assert_null(found); /* one answers each */
			found = all->texts[i];
		}
	return found;
}

TEST(test_includes)
{
	static const char *const names[] = {"time.h", "sys/time.h", "unistd.h", "getopt.h", "omp.h",
		"iostream", "vector", "string", "algorithm", "cuda_profiler_api.h", "cublas_v2.h",
		"math.h"};
	CLEANUP(stand_ins_release) struct stand_ins all = toolkit_stand_ins();

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		assert_non_null(stand_in(&all, names[i]));
	assert_non_null(strstr(stand_in(&all, "stdint.h"), "uint64_t"));
	assert_non_null(strstr(stand_in(&all, "type_traits"), "#include <cuda/std/type_traits>\n"));
	assert_string_equal(stand_in(&all, TOOLKIT_PRELUDE), strstr(toolkit_prelude(), "*/") + 2);
	assert_null(stand_in(&all, "cuda_fp16.h"));
	assert_true(toolkit_is_included("int a;\n#include <cuda_fp16.h>\n"));
	assert_false(toolkit_is_included("int a;\n"));
}

/* In a child, which cannot go back: a bit for each of the files that it could use. */
static int closed_in(char *const *readable, const char *writable, const char *const *files)
{
	int status = 0;
	const pid_t child = fork();

	if (child == 0) {
		int bits = 0;

		if (!sandbox_enter(readable, 1, writable))
			_exit(77);
		for (int i = 0; files[i]; i++) {
			const int fd = open(files[i], O_RDONLY | O_NONBLOCK);

			bits |= (fd >= 0) << i;
			if (fd < 0 && errno != EACCES)
				_exit(78);
		}
		if (open(files[0], O_WRONLY | O_CREAT, 0600) >= 0)
			bits |= 64;
		_exit(bits);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

/* Whatever leads there: the file itself, a link, a way up, a pipe. */
TEST(test_sandbox)
{
	char *folder = folder_new();
	char *inside = folder_put(folder, "in/a.h", "int a;\n");
	char *outside = folder_put(folder, "out/b.h", "int b;\n");
	char *link = string_format("%s/in/link.h", folder),
	     *fifo = string_format("%s/out/f", folder);
	char *up = string_format("%s/in/../out/b.h", folder), *in = path_parent(inside);
	char *const readable[] = {in};
	const char *const files[] = {inside, outside, link, fifo, up, NULL};
	int found;

	assert_int_equal(symlink(outside, link), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	found = closed_in(readable, NULL, files);
	if (found == 77) {
		print_message("no Landlock here\n");
		skip();
	}
	assert_int_equal(found, 1);
	/* a folder in which all may be done */
	assert_int_equal(closed_in(readable, folder, files), 31 + 64);
	free(inside);
	free(outside);
	free(link);
	free(fifo);
	free(up);
	free(in);
	folder_remove(folder);
}
