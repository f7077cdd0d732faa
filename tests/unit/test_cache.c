/* SPDX-License-Identifier: MIT
 *
 * The cache of compiled kernels: storing, reading, damaged entries, concurrent writers, size, and a
 * second, read-only cache.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "unit/unit.h"
#include "base/memory.h"
#include "compile/cache.h"
#include "faults/fake_cubin.h"
#include "unit/compile_folder.h"

static char unit_name[] = "unit.cu", arch_name[] = "compute_90a",
	    compiler_name[] = "NVRTC 13.0 (V13.0.88)";

static void key_of(int number, char key[HASH_SIZE])
{
	struct hash *hash = hash_new();

	hash_add(hash, &number, sizeof(number));
	hash_finish(hash, key);
}

static bool has(struct cache *cache, int number)
{
	struct compile_result result;
	char key[HASH_SIZE];

	key_of(number, key);
	if (!cache_get(cache, key, &result))
		return false;
	compile_result_release(&result);
	return true;
}

struct fixture {
	char *folder;
	struct cache *cache;
};

static int set_up(void **state)
{
	struct fixture *fixture = memory_zeroed(1, sizeof(*fixture));
	struct error err;

	fixture->folder = folder_new();
	if (cache_open(fixture->folder, NULL, &fixture->cache, &err) != STATUS_OK)
		return 1;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	cache_close(fixture->cache);
	folder_remove(fixture->folder);
	free(fixture);
	return 0;
}

static struct cache_entry entry_of(struct compile_result result)
{
	return (struct cache_entry){unit_name, arch_name, compiler_name, result};
}

/* Returns a result whose cubin has `size` bytes, some of them zero. */
static struct compile_result result_of(enum outcome outcome, size_t size)
{
	struct compile_result result = {.outcome = outcome, .seconds = 0.25};

	result.log = string_copy("a warning\n");
	for (size_t i = 0; i < size; i++)
		text_append_char(&result.cubin, (char)(i * 7));
	result.entry_count = outcome == OUTCOME_OK;
	result.entries = memory_zeroed(1, sizeof(*result.entries));
	result.entries[0].resources = (struct kernel_resources){.regs_per_thread = 168,
		.smem_static_bytes = 1024,
		.spill_store_bytes = 4,
		.spill_load_bytes = 8,
		.stack_bytes = 16,
		.barriers = 2,
		.blocks_per_sm = -1,
		.max_clusters = -1,
		.flags = FLAG_MASK(SPILLS) | FLAG_MASK(WGMMA_SERIALIZED)};
	if (outcome == OUTCOME_OK) {
		result.entries[0].name = string_copy("kernel");
		result.entries[0].symbol = string_copy("kernel");
	}
	return result;
}

static void put(struct cache *cache, int number, enum outcome outcome, size_t size)
{
	struct cache_entry entry = entry_of(result_of(outcome, size));
	char key[HASH_SIZE];
	struct error err;

	key_of(number, key);
	assert_int_equal(cache_put(cache, key, &entry, &entry.result.path, &err), STATUS_OK);
	compile_result_release(&entry.result);
}

static char *path_of(const char *folder, int number)
{
	char key[HASH_SIZE];

	key_of(number, key);
	return string_format("%s/kernels/%.2s/%s", folder, key, key);
}

TEST_WITH(a_stored_result_is_read_again, set_up, tear_down)
{
	struct fixture *fixture = *state;
	struct compile_result result;
	char key[HASH_SIZE];

	assert_false(has(fixture->cache, 1));
	put(fixture->cache, 1, OUTCOME_OK, 5000);
	key_of(1, key);
	assert_true(cache_get(fixture->cache, key, &result));
	assert_int_equal(result.outcome, OUTCOME_OK);
	assert_int_equal(result.cubin.length, 5000);
	assert_int_equal(result.cubin.data[4999], (char)(4999 * 7));
	assert_string_equal(result.log, "a warning\n");
	assert_true(result.seconds == 0.25);
	assert_int_equal(result.entry_count, 1);
	assert_string_equal(result.entries[0].name, "kernel");
	assert_int_equal(result.entries[0].resources.regs_per_thread, 168);
	assert_int_equal(result.entries[0].resources.barriers, 2);
	assert_int_equal(
		result.entries[0].resources.flags, FLAG_MASK(SPILLS) | FLAG_MASK(WGMMA_SERIALIZED));
	assert_int_equal(result.entries[0].resources.blocks_per_sm, -1);
	compile_result_release(&result);
}

TEST_WITH(failed_builds_are_cached, set_up, tear_down)
{
	struct fixture *fixture = *state;
	struct compile_result result;
	char key[HASH_SIZE];

	put(fixture->cache, 2, OUTCOME_COMPILE_FAILED, 0);
	key_of(2, key);
	assert_true(cache_get(fixture->cache, key, &result));
	assert_int_equal(result.outcome, OUTCOME_COMPILE_FAILED);
	compile_result_release(&result);
}

/* A shortened, lengthened, changed, empty or foreign file is always a miss and is deleted. */
TEST_WITH(damaged_entries_are_misses_and_deleted, set_up, tear_down)
{
	struct fixture *fixture = *state;
	char *path = path_of(fixture->folder, 3), *other = path_of(fixture->folder, 4);
	struct text good = {0};

	put(fixture->cache, 3, OUTCOME_OK, 300);
	assert_int_equal(file_read(path, &good, NULL), STATUS_OK);
	for (size_t i = 0; i < good.length + 3; i++) {
		struct text bad = {0};
		FILE *file = fopen(path, "wb");

		text_append_bytes(&bad, good.data, good.length);
		if (i < good.length)
			bad.data[i] = (char)(bad.data[i] ^ 0x20);
		else if (i == good.length)
			text_append_char(&bad, 'x');
		else
			bad.length = i == good.length + 1 ? 0 : good.length - 1;
		assert_int_equal(fwrite(bad.data, 1, bad.length, file), bad.length);
		fclose(file);
		assert_false(has(fixture->cache, 3));
		assert_false(file_exists(path));
		text_release(&bad);
	}
	put(fixture->cache, 3, OUTCOME_OK, 300);
	put(fixture->cache, 4, OUTCOME_OK, 10);
	assert_int_equal(rename(path, other), 0);
	assert_false(has(fixture->cache, 4));
	text_release(&good);
	free(other);
	free(path);
}

/* A valid header before bytes that are not a result. */
TEST(bytes_that_are_not_a_result_are_misses)
{
	struct cache_entry entry = entry_of(result_of(OUTCOME_OK, 10)), got;
	struct text bytes = {0};
	char key[HASH_SIZE];

	key_of(5, key);
	cache_entry_pack(key, &entry, &bytes);
	assert_true(cache_entry_unpack(&bytes, key, &got));
	assert_string_equal(got.arch, "compute_90a");
	cache_entry_release(&got);
	text_clear(&bytes);
	entry.result.outcome = OUTCOME_WRONG_RESULT; /* not a possible outcome of a compilation */
	cache_entry_pack(key, &entry, &bytes);
	assert_false(cache_entry_unpack(&bytes, key, &got));
	text_release(&bytes);
	compile_result_release(&entry.result);
}

/* An entry contains machine code for the architecture that it names. */
TEST(an_entry_of_another_architecture_is_a_miss)
{
	static const struct fake_kernel kernel = {.name = "kernel", .regs = 32};
	static char arch_90[] = "sm_90a", arch_80[] = "sm_80";
	unsigned char cubin[FAKE_CUBIN_SIZE];
	const size_t size = fake_cubin_build(cubin, &kernel, 1);
	char *const arches[] = {arch_90, arch_80};
	char key[HASH_SIZE];

	key_of(7, key);
	for (int i = 0; i < 4; i++) {
		struct cache_entry entry = entry_of(result_of(OUTCOME_OK, 0)), got;
		struct text bytes = {0};

		entry.arch = arches[i % 2];
		text_append_bytes(&entry.result.cubin, i < 2 ? (const void *)cubin : "text",
			i < 2 ? size : 4);
		cache_entry_pack(key, &entry, &bytes);
		assert_int_equal(cache_entry_unpack(&bytes, key, &got), i == 0);
		if (i == 0)
			cache_entry_release(&got);
		text_release(&bytes);
		compile_result_release(&entry.result);
	}
}

/* The cache does not read files that others could have written, and does not block on a pipe. */
TEST_WITH(files_that_others_could_write_are_not_read, set_up, tear_down)
{
	struct fixture *fixture = *state;
	char *path = path_of(fixture->folder, 8), *planted = path_join(fixture->folder, "planted");
	char *kernels = path_join(planted, "kernels");
	CLEANUP(memory_free) char *folder = path_join(fixture->folder, "kernels");
	struct cache *cache;
	struct error err;

	put(fixture->cache, 8, OUTCOME_OK, 100);
	assert_true(has(fixture->cache, 8));
	assert_int_equal(chmod(path, 0666), 0);
	assert_false(has(fixture->cache, 8));
	assert_false(file_exists(path));
	put(fixture->cache, 8, OUTCOME_OK, 100);
	if (geteuid() == 0) { /* only root can change a file's owner */
		assert_int_equal(chown(path, 1, 1), 0);
		assert_false(has(fixture->cache, 8));
	}
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(has(fixture->cache, 8));
	put(fixture->cache, 8, OUTCOME_OK, 100);
	assert_true(has(fixture->cache, 8));
	/* the folder is writable by others, is a link, or belongs to another user */
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(cache_open(fixture->folder, NULL, &cache, &err), STATUS_BAD_INPUT);
	assert_non_null(strstr(err.message, "other users can write to this folder"));
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(mkdir(planted, 0700), 0);
	assert_int_equal(symlink(folder, kernels), 0);
	assert_int_equal(cache_open(planted, NULL, &cache, &err), STATUS_BAD_INPUT);
	assert_int_equal(unlink(kernels), 0);
	assert_int_equal(chmod(planted, 0777), 0);
	assert_int_equal(cache_open(planted, NULL, &cache, &err), STATUS_BAD_INPUT);
	free(kernels);
	free(planted);
	free(path);
}

/* Old temporary files of a killed tuner are deleted when the next one starts. */
TEST_WITH(old_temporary_files_are_removed, set_up, tear_down)
{
	struct fixture *fixture = *state;
	const struct timespec old[2] = {
		{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
	const struct timespec older[2] = {
		{.tv_sec = time(NULL) - 90000}, {.tv_sec = time(NULL) - 90000}};
	char *path = path_of(fixture->folder, 9), *left = string_format("%s.new-abcdef", path);
	char *fresh = string_format("%s.new-ghijkl", path);
	char *mark = string_format("%s/kernels/swept", fixture->folder);
	struct error err;

	put(fixture->cache, 9, OUTCOME_OK, 10);
	assert_int_equal(file_write(left, "x", 1, &err), STATUS_OK);
	assert_int_equal(file_write(fresh, "x", 1, &err), STATUS_OK);
	assert_int_equal(utimensat(AT_FDCWD, left, old, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, mark, older, 0), 0);
	cache_close(fixture->cache);
	assert_int_equal(cache_open(fixture->folder, NULL, &fixture->cache, &err), STATUS_OK);
	assert_false(file_exists(left));
	assert_true(file_exists(fresh));
	assert_true(has(fixture->cache, 9));
	free(mark);
	free(fresh);
	free(left);
	free(path);
}

/* Two processes write the same entries while a third reads. */
TEST_WITH(concurrent_writers_and_readers_agree, set_up, tear_down)
{
	struct fixture *fixture = *state;
	pid_t writers[2];
	int misses = 0, status;

	put(fixture->cache, 6, OUTCOME_OK, 20000);
	for (int i = 0; i < 2; i++) {
		writers[i] = fork();
		if (writers[i] == 0) {
			for (int j = 0; j < 200; j++)
				put(fixture->cache, 6, OUTCOME_OK, 20000);
			_exit(0);
		}
	}
	for (int i = 0; i < 400; i++)
		misses += !has(fixture->cache, 6);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(misses, 0);
}

static void make_old(const char *folder, int number, time_t age_s)
{
	const struct timespec then = {.tv_sec = time(NULL) - age_s};
	CLEANUP(memory_free) char *path = path_of(folder, number);

	assert_int_equal(utimensat(AT_FDCWD, path, (const struct timespec[]){then, then}, 0), 0);
}

TEST_WITH(a_large_cache_is_trimmed, set_up, tear_down)
{
	struct fixture *fixture = *state;
	CLEANUP(memory_free) char *path = path_of(fixture->folder, 20);
	CLEANUP(memory_free) char *foreign = string_format("%s.mine", path);
	struct cache_size size;
	struct error err;

	assert_int_equal(cache_measure("/none").bytes, 0);
	for (int i = 20; i < 24; i++) {
		put(fixture->cache, i, OUTCOME_OK, 1000);
		make_old(fixture->folder, i, (i - 19) * 86400);
	}
	assert_int_equal(file_write(foreign, "x", 1, &err), STATUS_OK);
	size = cache_measure(fixture->folder);
	assert_int_equal(size.kernels, 4);
	assert_in_range(size.bytes, 4 * 1000, 4 * 2000);
	cache_trim(fixture->cache, size.bytes);
	assert_int_equal(cache_measure(fixture->folder).kernels, 4);
	/* Reading an entry makes it recent: the oldest one stays, and the one least recently
	 * used goes. */
	assert_true(has(fixture->cache, 23));
	cache_trim(fixture->cache, size.bytes - 1);
	assert_int_equal(cache_measure(fixture->folder).kernels, 3);
	assert_true(has(fixture->cache, 23));
	assert_false(has(fixture->cache, 22));
	cache_trim(fixture->cache, 0);
	size = cache_measure(fixture->folder);
	assert_int_equal(size.kernels, 0);
	assert_int_equal(size.bytes, 0);
	assert_true(file_exists(foreign));
}

/* ---- a second cache ---- */
static bool opens_with(const char *folder, const char *seed, struct error *err)
{
	struct cache *cache;
	const bool opens = cache_open(folder, seed, &cache, err) == STATUS_OK;

	if (opens)
		cache_close(cache);
	return opens;
}

/* A seed cache is named by the option or the variable. Damaged files in it stay, and files that
 * others could have written are not read. */
TEST_WITH(entries_are_read_from_the_seed_cache, set_up, tear_down)
{
	struct fixture *fixture = *state;
	CLEANUP(memory_free) char *own = path_join(fixture->folder, "own");
	CLEANUP(memory_free) char *kernels = path_join(fixture->folder, "kernels");
	CLEANUP(memory_free) char *path = path_of(fixture->folder, 1);
	struct cache *cache;
	struct error err = {0};

	put(fixture->cache, 1, OUTCOME_OK, 100);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(cache_open(own, NULL, &cache, &err), STATUS_OK);
	assert_false(has(cache, 1));
	cache_close(cache);
	for (int by_variable = 0; by_variable < 2; by_variable++) {
		if (by_variable)
			setenv("TILETUNE_CACHE_SEED", fixture->folder, 1);
		assert_int_equal(
			cache_open(own, by_variable ? NULL : fixture->folder, &cache, &err),
			STATUS_OK);
		unsetenv("TILETUNE_CACHE_SEED");
		assert_true(has(cache, 1));
		put(cache, 2, OUTCOME_OK, 100);
		assert_true(has(cache, 2));
		assert_false(has(fixture->cache, 2));
		/* a file that other users can write */
		assert_int_equal(chmod(path, 0666), 0);
		assert_false(has(cache, 1));
		assert_true(file_exists(path));
		assert_int_equal(chmod(path, 0644), 0);
		cache_close(cache);
	}
	if (geteuid() == 0) { /* another user's file is in the owner's folder */
		assert_int_equal(cache_open(own, fixture->folder, &cache, &err), STATUS_OK);
		assert_int_equal(chown(path, 1, 1), 0);
		assert_false(has(cache, 1));
		assert_int_equal(chown(kernels, 1, 1), 0);
		cache_close(cache);
		/* another user owns the folder and made the file */
		assert_int_equal(cache_open(own, fixture->folder, &cache, &err), STATUS_OK);
		assert_true(has(cache, 1));
		cache_close(cache);
		assert_int_equal(chown(kernels, 0, 0), 0);
	}
	assert_false(opens_with(own, "/none", &err));
	assert_non_null(strstr(err.message, "/none holds no kernel cache"));
	assert_int_equal(chmod(kernels, 0775), 0);
	assert_false(opens_with(own, fixture->folder, &err));
	assert_int_equal(chmod(kernels, 0700), 0);
	assert_true(opens_with(own, fixture->folder, &err));
	assert_true(opens_with(own, "", &err));
}

TEST_WITH(an_unwritable_cache_stops_no_run, set_up, tear_down)
{
	struct fixture *fixture = *state;
	char *file = folder_put(fixture->folder, "file", "");
	struct cache *cache;
	struct cache_entry entry = entry_of(result_of(OUTCOME_OK, 10));
	char key[HASH_SIZE], *folder, *path;
	struct error err;

	assert_int_equal(cache_open(file, NULL, &cache, &err), STATUS_BAD_INPUT);
	assert_non_null(strstr(err.message, "kernel cache: "));
	assert_null(cache);
	/* a file occupies the path of a folder: writing fails with a message */
	key_of(30, key);
	path = path_of(fixture->folder, 30);
	folder = path_parent(path);
	assert_int_equal(file_write(folder, "", 0, &err), STATUS_OK);
	assert_int_equal(
		cache_put(fixture->cache, key, &entry, &entry.result.path, &err), STATUS_BAD_INPUT);
	assert_false(has(fixture->cache, 30));
	compile_result_release(&entry.result);
	free(folder);
	free(path);
	free(file);
}
