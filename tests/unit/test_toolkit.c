/* SPDX-License-Identifier: MIT
 *
 * Which toolkit's headers the compiler uses, and how toolkits are distinguished.
 */
#include "unit/unit.h"

#include "base/memory.h"
#include "compile/toolkit.h"
#include "unit/compile_folder.h"

TEST(the_folder_of_the_toolkit_is_found)
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

/* Each change gives another hash; the same files in another place give the same hash. */
TEST(a_change_of_headers_changes_the_hash)
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
			assert_null(found); /* each header has only one stand-in */
			found = all->texts[i];
		}
	return found;
}

TEST(host_headers_have_stand_ins)
{
	static const char *const names[] = {"time.h", "sys/time.h", "unistd.h", "getopt.h", "omp.h",
		"iostream", "vector", "string", "algorithm", "cuda_profiler_api.h", "cublas_v2.h",
		"math.h", "torch/extension.h", "ATen/cuda/CUDAContext.h"};
	CLEANUP(stand_ins_release) struct stand_ins all = toolkit_stand_ins(NULL);

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		assert_non_null(stand_in(&all, names[i]));
	assert_non_null(strstr(stand_in(&all, "stdint.h"), "uint64_t"));
	assert_non_null(strstr(stand_in(&all, "type_traits"), "#include <cuda/std/type_traits>\n"));
	assert_string_equal(stand_in(&all, TOOLKIT_PRELUDE), strstr(toolkit_prelude(), "*/") + 2);
	assert_null(stand_in(&all, "cuda_fp16.h"));
	assert_true(toolkit_is_included("int a;\n#include <cuda_fp16.h>\n"));
	assert_true(toolkit_is_included("auto a = std::numeric_limits<float>::max();\n"));
	assert_false(toolkit_is_included("int a;\n"));
}
