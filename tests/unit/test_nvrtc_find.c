/* SPDX-License-Identifier: MIT
 *
 * Where NVRTC is searched for and in which order, and how many workers a machine can run. Uses
 * folders of the test.
 */

#include "unit/unit.h"
#include "process/host_limits.h"
#include "compile/nvrtc_find.h"
#include "unit/compile_folder.h"

static void put(const char *root, const char *name)
{
	free(folder_put(
		root, name, name)); /* contents differ, because files are identified by inode */
}

/* Returns the paths found, in order and relative to root, separated by blanks. */
static char *found(const struct nvrtc_search *search, const char *root, char **places)
{
	struct nvrtc_candidates candidates;
	struct text text = {0};

	nvrtc_find(search, &candidates);
	for (size_t i = 0; i < candidates.count; i++) {
		const char *path = candidates.items[i].path;

		if (string_starts_with(path, root))
			path += strlen(root);
		text_appendf(&text, "%s%s", i ? " " : "", path);
	}
	if (places)
		*places = text_detach(&candidates.places);
	nvrtc_candidates_release(&candidates);
	return text_detach(&text);
}

static void expect_found(const struct nvrtc_search *search, const char *root, const char *expected)
{
	char *paths = found(search, root, NULL);

	assert_string_equal(paths, expected);
	free(paths);
}

TEST(newer_versions_come_first)
{
	char *root = folder_new();
	struct nvrtc_search search = {.system_root = root};

	put(root, "usr/local/cuda-12.4/lib64/libnvrtc.so.12");
	put(root, "usr/local/cuda-13.1/targets/x86_64-linux/lib/libnvrtc.so.13");
	put(root, "usr/local/cuda-13.0/lib64/libnvrtc.so.13.0.88");
	put(root, "usr/local/cuda-13.0/lib64/stubs/libnvrtc.so.14");
	put(root, "usr/local/cuda-13.0/lib64/libnvrtc.so");
	put(root, "usr/local/cuda-13.0/lib64/libnvrtc-builtins.so.13.0");
	put(root, "usr/local/cuda-13.0/lib64/libnvrtc.alt.so.13");
	expect_found(&search, root,
		"/usr/local/cuda-13.1/targets/x86_64-linux/lib/libnvrtc.so.13 "
		"/usr/local/cuda-13.0/lib64/libnvrtc.so.13.0.88 "
		"/usr/local/cuda-12.4/lib64/libnvrtc.so.12");
	search.driver_cuda_version = 12080;
	expect_found(&search, root, "/usr/local/cuda-12.4/lib64/libnvrtc.so.12");
	search.driver_cuda_version = 13000; /* a minor version may be newer than the driver's */
	expect_found(&search, root,
		"/usr/local/cuda-13.1/targets/x86_64-linux/lib/libnvrtc.so.13 "
		"/usr/local/cuda-13.0/lib64/libnvrtc.so.13.0.88 "
		"/usr/local/cuda-12.4/lib64/libnvrtc.so.12");
	folder_remove(root);
}

/* Of several equal versions, the first one found is used. */
TEST(equal_versions_keep_their_order)
{
	char *root = folder_new();
	struct nvrtc_search search = {.system_root = root};

	put(root, "usr/local/cuda-13.1/targets/x86_64-linux/lib/libnvrtc.so.13.1");
	put(root, "usr/local/cuda-13.1/lib64/libnvrtc.so.13.1");
	put(root, "usr/local/cuda-13.1/lib/libnvrtc.so.13.1");
	expect_found(&search, root,
		"/usr/local/cuda-13.1/lib64/libnvrtc.so.13.1 "
		"/usr/local/cuda-13.1/lib/libnvrtc.so.13.1 "
		"/usr/local/cuda-13.1/targets/x86_64-linux/lib/libnvrtc.so.13.1");
	folder_remove(root);
}

TEST(cuda_home_precedes_usual_places)
{
	char *root = folder_new();
	char *home = path_join(root, "my toolkit [1]"), *path = path_join(root, "other");
	struct nvrtc_search search = {.system_root = root, .cuda_home = home, .cuda_path = path};

	put(root, "my toolkit [1]/lib/libnvrtc.so.12.8.93");
	put(root, "other/lib64/libnvrtc.so.12.9");
	put(root, "usr/local/cuda/lib64/libnvrtc.so.13");
	expect_found(&search, root,
		"/other/lib64/libnvrtc.so.12.9 /my toolkit [1]/lib/libnvrtc.so.12.8.93 "
		"/usr/local/cuda/lib64/libnvrtc.so.13");
	free(home);
	free(path);
	folder_remove(root);
}

TEST(wheels_of_pip_are_found)
{
	char *root = folder_new();
	char *venv = path_join(root, "venv");
	char *binary = path_join(root, "build/release");
	struct nvrtc_search search = {
		.system_root = root, .virtual_env = venv, .executable_folder = binary};

	put(root, "venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
	put(root, "venv/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
	put(root, "build/release/here");
	put(root, "build/cuda/nvidia/cu13/lib/libnvrtc.so.13");
	expect_found(&search, root,
		"/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13 "
		"/build/release/../cuda/nvidia/cu13/lib/libnvrtc.so.13 "
		"/venv/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
	free(binary);
	free(venv);
	folder_remove(root);
}

/* The library that pip installed with the program precedes newer ones of the machine, but not
 * those that the user names. */
TEST(the_library_of_the_program_precedes_those_of_the_machine)
{
	char *root = folder_new();
	char *home = path_join(root, "toolkit"), *binary = path_join(root, "env/bin");
	struct nvrtc_search search = {.system_root = root, .executable_folder = binary};

	put(root, "env/bin/here");
	put(root, "env/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
	put(root, "env/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
	put(root, "usr/local/cuda/lib64/libnvrtc.so.13.2");
	put(root, "toolkit/lib64/libnvrtc.so.12.8");
	expect_found(&search, root,
		"/env/bin/../lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13 "
		"/env/bin/../lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12 "
		"/usr/local/cuda/lib64/libnvrtc.so.13.2");
	search.cuda_home = home;
	search.driver_cuda_version = 12080;
	expect_found(&search, root,
		"/toolkit/lib64/libnvrtc.so.12.8 "
		"/env/bin/../lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
	free(binary);
	free(home);
	folder_remove(root);
}

/* tests/cuda.sh installs into build/cuda, for build/release/tiletune and for the test programs.
 * A toolkit of the same version precedes it. */
TEST(the_library_in_the_build_folder_is_found)
{
	char *root = folder_new();
	char *binary = path_join(root, "build/release");
	char *tests = path_join(root, "build/release/tests");
	struct nvrtc_search search = {.system_root = root, .executable_folder = binary};

	put(root, "build/release/tests/here");
	put(root, "build/cuda/lib/libnvrtc.so.13");
	put(root, "build/cuda/lib/libnvrtc-builtins.so.13.0");
	expect_found(&search, root, "/build/release/../cuda/lib/libnvrtc.so.13");
	search.executable_folder = tests;
	expect_found(&search, root, "/build/release/tests/../../cuda/lib/libnvrtc.so.13");
	put(root, "usr/local/cuda/lib64/libnvrtc.so.13");
	expect_found(&search, root,
		"/usr/local/cuda/lib64/libnvrtc.so.13 "
		"/build/release/tests/../../cuda/lib/libnvrtc.so.13");
	free(tests);
	free(binary);
	folder_remove(root);
}

TEST(a_given_path_is_the_only_candidate)
{
	char *root = folder_new();
	char *file = folder_put(root, "a/any name.so", "");
	char *folder = path_join(root, "usr/local/cuda"), *absent = path_join(root, "absent");
	struct nvrtc_search search = {.system_root = root, .given = file, .loader = true};
	char *places;

	put(root, "usr/local/cuda/lib64/libnvrtc.so.13");
	expect_found(&search, root, "/a/any name.so");
	search.given = folder;
	expect_found(&search, root, "/usr/local/cuda/lib64/libnvrtc.so.13");
	search.given = "libnvrtc.so.12";
	expect_found(&search, root, "libnvrtc.so.12");
	search.given = absent;
	free(found(&search, root, &places));
	assert_true(string_ends_with(
		places, "/absent (from --nvrtc or TILETUNE_NVRTC): there is no such file\n"));
	free(places);
	expect_found(&search, root, "");
	free(absent);
	free(folder);
	free(file);
	folder_remove(root);
}

TEST(searched_places_are_listed)
{
	char *root = folder_new();
	char *home = path_join(root, "home");
	struct nvrtc_search search = {.system_root = root,
		.cuda_home = home,
		.loader = true,
		.driver_cuda_version = 12020};
	char *places, *paths;

	put(root, "usr/local/cuda/lib64/libnvrtc.so.13");
	paths = found(&search, root, &places);
	assert_string_equal(paths, "libnvrtc.so.12 libnvrtc.so.11.2");
	assert_non_null(strstr(places, "/home/{lib64/,lib/,targets/*/lib/,}libnvrtc.so.[0-9]*\n"));
	assert_non_null(strstr(places,
		"/usr/local/cuda/lib64/libnvrtc.so.13: newer than the driver's CUDA 12.2\n"));
	assert_non_null(strstr(places, "the loader's path: libnvrtc.so.12 to libnvrtc.so.11\n"));
	free(paths);
	free(places);
	free(home);
	folder_remove(root);
}

/* One library under several names is one candidate. */
TEST(one_library_under_several_names_is_one_candidate)
{
	char *root = folder_new();
	char *real = folder_put(root, "usr/local/cuda-13.0/lib/libnvrtc.so.13.0.88", "");
	char *link = path_join(root, "usr/local/cuda-13.0/lib/libnvrtc.so.13");
	char *second = path_join(root, "usr/local/cuda");
	struct nvrtc_search search = {.system_root = root};

	assert_int_equal(symlink("libnvrtc.so.13.0.88", link), 0);
	assert_int_equal(symlink("cuda-13.0", second), 0);
	expect_found(&search, root, "/usr/local/cuda/lib/libnvrtc.so.13");
	free(second);
	free(link);
	free(real);
	folder_remove(root);
}

static void put_text(const char *root, const char *name, const char *content)
{
	free(folder_put(root, name, content));
}

TEST(a_worker_takes_a_core_and_memory)
{
	char *root = folder_new();
	const unsigned cores = host_workers(root);

	assert_true(cores >= 1);
	put_text(root, "proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable:   999999999 kB\n");
	assert_int_equal(host_workers(root), cores);
	put_text(root, "proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable:   100 kB\n");
	assert_int_equal(host_workers(root), 1);
	put_text(root, "proc/meminfo", "MemAvailable:   999999999 kB\n");
	/* the memory limit of a container: cached files do not count as used memory */
	put_text(root, "sys/fs/cgroup/cpu.max", "max 100000\n");
	put_text(root, "sys/fs/cgroup/memory.max", "1073741824\n");
	put_text(root, "sys/fs/cgroup/memory.current", "1073741824\n");
	put_text(root, "sys/fs/cgroup/memory.stat", "anon 5\ninactive_file 1000\n");
	assert_int_equal(host_workers(root), 1);
	put_text(root, "sys/fs/cgroup/memory.max", "max\n");
	assert_int_equal(host_workers(root), cores);
	put_text(root, "sys/fs/cgroup/cpu.max", "100000 100000\n");
	assert_int_equal(host_workers(root), 1);
	folder_remove(root);
}
