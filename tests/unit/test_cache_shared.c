/* layer: compile */
/* SPDX-License-Identifier: MIT
 *
 * A cache of kernels that several users have: the members of a group that is named share one;
 * another's is read. Users other than ours need root; without it all of them are ourselves.
 */
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/memory.h"
#include "compile/cache.h"
#include "unit/cache_numbers.h"
#include "unit/compile_folder.h"

enum {
	ONE = 40001, /* two members of the group */
	OTHER,
	STRANGER,
};

static const char *folder; /* of the step under way */
static gid_t group;

static bool put(struct cache *cache, int number)
{
	char unit[] = "unit.cu", arch[] = "sm_90a", compiler[] = "NVRTC";
	const struct cache_label label = {unit, arch, compiler};
	char log[] = "refused";
	const struct compile_result result = {.outcome = OUTCOME_COMPILE_FAILED, .log = log};
	char key[HASH_SIZE];

	key_of(number, key);
	return cache_put(cache, key, &label, &result, NULL) == STATUS_OK;
}

/* Runs a step as this user, in a process of its own; members have the group. */
static bool as(int user, bool (*step)(struct cache *cache))
{
	const pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		struct cache *cache;
		struct error err = {0};
		bool right;

		umask(077);
		if (geteuid() == 0 && (setgroups(user != STRANGER, &group) != 0 ||
					      setgid((gid_t)user) != 0 || setuid((uid_t)user) != 0))
			_exit(2);
		if (cache_open(folder, &cache, &err) != STATUS_OK) {
			fprintf(stderr, "%s; %s\n", err.message, err.hint);
			_exit(3);
		}
		right = step(cache);
		cache_close(cache);
		_exit(!right);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool puts_1(struct cache *cache)
{
	return put(cache, 1);
}

static bool has_1_puts_2(struct cache *cache)
{
	return has(cache, 1) && put(cache, 1) && has(cache, 1) && put(cache, 2);
}

static bool has_both(struct cache *cache)
{
	return has(cache, 1) && has(cache, 2);
}

static bool has_1_alone(struct cache *cache)
{
	return has(cache, 1) && !has(cache, 2) && put(cache, 2) && has(cache, 2);
}

static bool misses_1(struct cache *cache)
{
	return !has(cache, 1);
}

static char *entry_path(const char *place, int number)
{
	char key[HASH_SIZE];

	key_of(number, key);
	return string_format("%s/kernels/%.2s/%s", place, key, key);
}

static int set_up(void **state)
{
	char *scratch = folder_new();
	const struct group *found;

	group = getgid();
	setgrent();
	while (geteuid() == 0 && (found = getgrent()))
		if (found->gr_gid > 1)
			group = found->gr_gid;
	endgrent();
	found = getgrgid(group);
	if (!found || chmod(scratch, 0711) != 0)
		return 1;
	setenv("TILETUNE_CACHE_GROUP", found->gr_name, 1);
	*state = scratch;
	return 0;
}

static int tear_down(void **state)
{
	unsetenv("TILETUNE_CACHE_GROUP");
	unsetenv("TILETUNE_CACHE_SEED");
	folder_remove(*state);
	return 0;
}

static void test_group(void **state)
{
	CLEANUP(memory_free) char *shared = path_join(*state, "shared");
	CLEANUP(memory_free) char *path = entry_path(shared, 1);
	CLEANUP(memory_free) char *kernels = path_join(shared, "kernels");

	assert_int_equal(mkdir(shared, 0770), 0);
	assert_int_equal(chown(shared, (uid_t)-1, group), 0);
	assert_int_equal(chmod(shared, 02770), 0);
	folder = shared;
	assert_true(as(ONE, puts_1));
	assert_true(as(OTHER, has_1_puts_2));
	assert_true(as(ONE, has_both));
	/* what everybody could have written is not read */
	assert_int_equal(chmod(path, 0666), 0);
	assert_true(as(OTHER, misses_1));
	assert_false(file_exists(path));
	assert_true(as(ONE, puts_1));
	if (geteuid() == 0) {
		assert_int_equal(chown(path, ONE, STRANGER), 0);
		assert_int_equal(chmod(path, 0644), 0);
		assert_true(as(OTHER, misses_1));
		assert_false(as(STRANGER, misses_1));
	}
	assert_int_equal(chmod(kernels, 02777), 0);
	assert_false(as(ONE, misses_1));
	assert_int_equal(chmod(kernels, 02770), 0);
	assert_true(as(ONE, misses_1));
	/* nobody is trusted who is not named */
	unsetenv("TILETUNE_CACHE_GROUP");
	assert_false(as(OTHER, misses_1));
	setenv("TILETUNE_CACHE_GROUP", "no such group", 1);
	assert_false(as(OTHER, misses_1));
}

static void test_seed(void **state)
{
	CLEANUP(memory_free)
	char *seed = path_join(*state, "seed"), *own = path_join(*state, "own");
	CLEANUP(memory_free) char *ones = path_join(*state, "ones");
	CLEANUP(memory_free) char *kernels = path_join(seed, "kernels");
	CLEANUP(memory_free) char *path = entry_path(seed, 1);
	CLEANUP(memory_free) char *parent = path_parent(path);
	const bool root = geteuid() == 0;

	unsetenv("TILETUNE_CACHE_GROUP");
	assert_int_equal(mkdir(seed, 0755), 0);
	assert_int_equal(mkdir(own, 0755), 0);
	assert_int_equal(mkdir(ones, 0755), 0);
	if (root) {
		assert_int_equal(chown(seed, ONE, ONE), 0);
		assert_int_equal(chown(own, STRANGER, STRANGER), 0);
		assert_int_equal(chown(ones, ONE, ONE), 0);
	}
	folder = seed;
	assert_true(as(ONE, puts_1));
	/* chmod -R go+rX */
	assert_int_equal(chmod(kernels, 0755), 0);
	assert_int_equal(chmod(parent, 0755), 0);
	assert_int_equal(chmod(path, 0644), 0);
	folder = own;
	assert_true(as(STRANGER, misses_1));
	setenv("TILETUNE_CACHE_SEED", seed, 1);
	assert_true(as(STRANGER, has_1_alone));
	/* nothing of it is changed, be it damaged */
	assert_int_equal(chmod(path, 0666), 0);
	assert_true(as(STRANGER, misses_1));
	folder = ones;
	assert_true(as(ONE, misses_1));
	assert_true(file_exists(path));
	folder = own;
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(chmod(kernels, 0775), 0);
	assert_false(as(STRANGER, misses_1));
	setenv("TILETUNE_CACHE_SEED", own, 1);
	assert_true(as(STRANGER, misses_1));
	setenv("TILETUNE_CACHE_SEED", "/none", 1);
	assert_false(as(STRANGER, misses_1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_group, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_seed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
